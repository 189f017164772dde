"""The simulated CANN: what it stands in for, how it is built, and where its trees are put."""
