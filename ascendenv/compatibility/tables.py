"""Which file of the matrix holds which rows: read by the loader, kept to by the dumper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, overload

from ascendenv.compatibility.rows.base import Row

SCHEMA = 1

RowT = TypeVar("RowT", bound=Row)
Read = Callable[["Table[Any]"], tuple[Any, ...]]


class _HasTables(Protocol):
    """What a table is an attribute of."""

    read: Read


class Table(Generic[RowT]):
    """One array of rows in a matrix file, and the attribute that gives them once they are read.

    ``key`` names it in the file; ``label`` is the column that tells rows apart. ``wide`` rows are written as
    sections, the others one a line.
    """

    field: str

    def __init__(self, row: type[RowT], file: str, key: str, label: str, *, wide: bool = False) -> None:
        self.row = row
        self.file = file
        self.key = key
        self.label = label
        self.wide = wide

    def __set_name__(self, owner: type, name: str) -> None:
        self.field = name

    @overload
    def __get__(self, matrix: None, owner: type) -> Table[RowT]: ...

    @overload
    def __get__(self, matrix: _HasTables, owner: type) -> tuple[RowT, ...]: ...

    def __get__(self, matrix: _HasTables | None, owner: type) -> Table[RowT] | tuple[RowT, ...]:
        if matrix is None:
            return self
        rows = matrix.__dict__[self.field] = matrix.read(self)
        return rows
