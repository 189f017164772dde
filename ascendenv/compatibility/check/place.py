"""Naming the rows of a matrix in messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from ascendenv.compatibility.model import Matrix, Row
from ascendenv.compatibility.tables import Table

RowT = TypeVar("RowT", bound=Row)


def where(table: Table[Any], index: int, raw: object) -> str:
    """``releases[12] (torch_npu 2.7.1.post8)``: names a row by place and by what it speaks of."""
    label = raw.get(table.label) if isinstance(raw, dict) else getattr(raw, table.label, None)
    if isinstance(label, Sequence) and not isinstance(label, str):
        label = ", ".join(map(str, label))
    return f"{table.key}[{index}]" + (f" ({table.label} {label})" if label else "")


def placed(field: str, rows: Sequence[RowT]) -> Iterator[tuple[str, RowT]]:
    """The rows of the table ``field``, each with the words that name it."""
    table: Table[Any] = getattr(Matrix, field)
    for index, row in enumerate(rows):
        yield f"matrix/{table.file}: {where(table, index, row)}", row
