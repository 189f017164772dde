"""Whether the world has moved away from the matrix."""
