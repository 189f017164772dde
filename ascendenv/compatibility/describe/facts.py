"""What descriptions are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility.model import ContradictingReport, Matrix, Row
from ascendenv.compatibility.query import unknown
from ascendenv.vocabulary import Evidence

FoundRow = TypeVar("FoundRow", bound=Row)


class MatrixFact(BaseModel):
    """One thing that is known of a subject, and where from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    value: str
    evidence: Evidence
    source: str


Description = tuple[str, Iterator[MatrixFact]]


def fact(key: str, value: str, row: Row) -> MatrixFact:
    """A fact that stands in ``row``."""
    return MatrixFact(key=key, value=value, evidence=row.evidence, source=row.source)


def notes(*rows: Row) -> Iterator[MatrixFact]:
    """What the rows remark."""
    return (fact("note", row.note, row) for row in rows if row.note)


def reports(rows: Iterable[ContradictingReport]) -> Iterator[MatrixFact]:
    """The failures that were reported."""
    for row in rows:
        scope = "".join(f", {word}" for word in (row.hardware, *(f"Python {p}" for p in row.pythons)) if word)
        text = f"torch_npu {row.torch_npu} on CANN {row.cann}{scope}: {row.symptom}"
        yield fact("reported to fail", text, row)


def contradictions(matrix: Matrix, about: str) -> Iterator[MatrixFact]:
    """What other sources say of ``about``, which is spelled as the rows spell it."""
    for row in matrix.contradictions:
        if row.about == about:
            yield fact("contradicted", f"{row.topic}: {row.elsewhere} (here: {row.here})", row)


def find(rows: tuple[FoundRow, ...], name: str, column: Callable[[FoundRow], str], what: str) -> FoundRow:
    """The row of that name in any case; else ``UsageError``, with what was probably meant."""
    by_name = {column(row).casefold(): row for row in rows}
    try:
        return by_name[name.casefold()]
    except KeyError:
        raise unknown(what, name, (column(row) for row in rows)) from None
