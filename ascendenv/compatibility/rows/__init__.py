"""The shapes of the rows in ``matrix/*.toml``, one module a subject."""
