"""How the world differs from the matrix, as text for people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ascendenv.drift.model import Drift


def drift_text(drift: Drift) -> RenderableType:
    """What differs, those alike on one line; how much was compared last."""
    lines: list[RenderableType] = []
    if drift.differences:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("what", "subject", "the matrix", "there"):
            table.add_column(title, overflow="fold")
        alike: dict[tuple[str, str, str], list[str]] = {}
        for row in drift.differences:
            alike.setdefault((row.kind.value, row.matrix, row.there), []).append(row.subject)
        for (kind, here, there), subjects in alike.items():
            table.add_row(kind, _together(subjects), here, there)
        lines.append(table)
    if drift.unread:
        lines.append(Text(f"could not be looked into: {', '.join(drift.unread)}"))
    count = len(drift.differences)
    found = "no differences" if count == 0 else "1 difference" if count == 1 else f"{count} differences"
    lines.append(Text(f"{found} from {drift.compared_with} ({drift.day}), {drift.compared} entries compared"))
    return Group(*lines)


def _together(subjects: list[str]) -> str:
    """The subjects, with the word that all of them begin with said once: ``torch_npu 2.0.1, 2.0.1rc1``."""
    word = subjects[0].split(" ")[0] + " "
    if not all(subject.startswith(word) for subject in subjects):
        return "; ".join(subjects)
    return word + "; ".join(subject.removeprefix(word) for subject in subjects)
