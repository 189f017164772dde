"""The verification suite and its runner: does an environment really work on this machine's devices."""
