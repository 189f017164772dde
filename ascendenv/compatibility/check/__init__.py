"""What must hold between the rows of a matrix, beyond the schema of each."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility.check import beside, hardware, packages, releases, twice
from ascendenv.compatibility.check.place import where
from ascendenv.compatibility.model import Matrix

__all__ = ["mistakes", "where"]


def mistakes(matrix: Matrix) -> Iterator[str]:
    """Every contradiction inside ``matrix``, as ``matrix/FILE: ROW: KEY: what is wrong``."""
    for subject in (twice, releases, hardware, packages, beside):
        yield from subject.mistakes(matrix)
