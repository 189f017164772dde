"""The verification suite, and what runs it: does this environment really work on the devices of this machine?"""
