"""The compatibility matrix as objects: what is known, with its source and its evidence."""
