"""The only place, with the command line, that knows the terminal."""
