"""What the matrix commands return, as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ascendenv.compatibility.describe import MatrixEntry, MatrixFact
from ascendenv.compatibility.listing import ReleaseList, RowList
from ascendenv.compatibility.why import Explanation
from ascendenv.render.wording import as_called, unbroken
from ascendenv.vocabulary import Arch

LEFT_OUT = frozenset({"source", "note"})


def release_table(listed: ReleaseList) -> RenderableType:
    """The releases, one a line."""
    if not listed.releases:
        return Text("no release fits all of that")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("torch_npu", "torch", "train", "CANN", *(f"Python on {arch}" for arch in Arch), "evidence"):
        table.add_column(title, no_wrap=True)
    for row in listed.releases:
        pythons = (_span(row.pythons.get(arch, ())) for arch in Arch)
        table.add_row(
            row.torch_npu, row.torch, row.train, row.cann or "not stated", *pythons, str(row.evidence)
        )
    return table


def _span(pythons: tuple[str, ...]) -> str:
    return "-" if not pythons else pythons[0] if len(pythons) == 1 else f"{pythons[0]} - {pythons[-1]}"


def row_table(listed: RowList) -> RenderableType:
    """Rows of any table, without their sources, which the other formats have."""
    if not listed.rows:
        return Text(f"no row of {listed.table} fits all of that")
    table = Table(box=None, pad_edge=False, header_style="bold")
    columns = columns_of(listed.rows)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in listed.rows:
        table.add_row(*(flat(row.get(column)) for column in columns))
    return table


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that any of the rows has, in their order, but for those that are for reading up."""
    return [column for column in dict.fromkeys(key for row in rows for key in row) if column not in LEFT_OUT]


def flat(value: object) -> str:
    """A value in one line."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{key} {flat(item)}" for key, item in value.items())
        case list() | tuple():
            return ", ".join(map(flat, value))
        case _:
            return str(value)


def entry_text(entry: MatrixEntry) -> RenderableType:
    """The facts; one key stands once before all of its values."""
    notes = _Notes()
    table = Table.grid(padding=(0, 2))
    before = ""
    for fact in entry.facts:
        table.add_row(f"  {fact.key if fact.key != before else ''}", fact.value, notes.mark(fact))
        before = fact.key
    return Group(Text(entry.subject, style="bold"), table, *notes.below())


def explanation_text(explanation: Explanation) -> RenderableType:
    """The answer first, then what it follows from, then what works."""
    notes = _Notes()
    table = Table.grid(padding=(0, 2))
    before = ""
    for fact in explanation.because:
        table.add_row(f"  {fact.key if fact.key != before else ''}", fact.value, notes.mark(fact))
        before = fact.key
    lines: list[RenderableType] = [Text(explanation.answer, style="bold"), table]
    if explanation.looked:
        lines.append(Text(f"  looked in: {'; '.join(explanation.looked)}"))
    if explanation.instead:
        lines.append(Text("what works:"))
    for alternative in explanation.instead:
        lines += [Text(f"  {alternative.change}"), unbroken(f"      {as_called(alternative.command)}")]
    return Group(*lines, *notes.below())


class _Notes:
    """Sources as numbered notes below: many facts share one."""

    def __init__(self) -> None:
        self._sources: dict[str, int] = {}

    def mark(self, fact: MatrixFact) -> Text:
        number = self._sources.setdefault(fact.source, len(self._sources) + 1)
        return Text(f"{fact.evidence} [{number}]", style="dim")

    def below(self) -> Iterable[RenderableType]:
        if not self._sources:
            return
        table = Table.grid(padding=(0, 1))
        for source, number in self._sources.items():
            table.add_row(f"  [{number}]", source)
        yield Text("sources")
        yield table
