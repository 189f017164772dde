"""Profiles of the simulated CANN, written in the formats of CANN's msprof."""
