"""Checks over a machine and the matrix: what is wrong, why it matters, and the command that fixes it."""
