"""Rows that must be there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv.compatibility.check.place import placed
from ascendenv.compatibility.model import Matrix, Row
from ascendenv.versions import CannVersion

RowT = TypeVar("RowT", bound=Row)


def mistakes(matrix: Matrix) -> Iterator[str]:
    """Every row that says who it is with the name of another."""
    yield from _twice("torch_npu", matrix.torch_npu, lambda row: (row.version,))
    yield from _twice("unpublished", matrix.unpublished, lambda row: (Version(row.torch_npu),))
    yield from _twice("trains", matrix.trains, lambda row: (row.train,))
    yield from _twice("torch_support", matrix.torch_support, lambda row: (row.torch,))
    yield from _twice("cann", matrix.cann, lambda row: (CannVersion(row.cann),))
    yield from _twice("subpackages", matrix.subpackages, lambda row: ((row.cann, str(row.component)),))
    yield from _twice("drivers", matrix.drivers, lambda row: (CannVersion(row.cann),))
    yield from _twice("torch_pythons", matrix.torch_pythons, lambda row: (row.torch,))
    yield from _twice("indexes", matrix.indexes, lambda row: (row.name,))
    yield from _twice("socs", matrix.socs, lambda row: (row.soc.lower(),))
    yield from _twice("chips", matrix.chips, lambda row: (row.family, *map(str.lower, row.socs)))
    yield from _twice("boards", matrix.boards, lambda row: (row.family,))
    yield from _twice("channels", matrix.channels, lambda row: (row.kind,))
    yield from _twice("package_folders", matrix.package_folders, lambda row: (CannVersion(row.cann),))
    yield from _twice("package_files", matrix.package_files, lambda row: (row.file,))
    yield from _twice("image_repositories", matrix.image_repositories, lambda row: (row.repository,))
    yield from _twice(
        "extension_projects", matrix.extension_projects, lambda row: (canonicalize_name(row.package),)
    )
    yield from _twice("placeholders", matrix.placeholders, lambda row: (canonicalize_name(row.package),))


def _twice(field: str, rows: Sequence[RowT], names: Callable[[RowT], Iterable[Hashable]]) -> Iterator[str]:
    counts = Counter(name for row in rows for name in names(row))
    for place, row in placed(field, rows):
        for name in names(row):
            if counts[name] > 1:
                yield f"{place}: {_said(name)} is there {counts[name]} times"


def _said(name: Hashable) -> str:
    return " ".join(name) if isinstance(name, tuple) else str(name)
