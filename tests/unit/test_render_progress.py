"""The progress of long commands, as a terminal shows it in the end."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from ascendenv.render.progress import ProgressLines

_PIECES = re.compile(r"\x1b\[(?P<count>[\d;]*)(?P<what>[A-Za-z])|\x1b\[\?\d+[hl]|(?P<plain>[^\x1b])")


def screen(written: str, width: int) -> list[str]:
    """What stands on a terminal of this width after all of it was written."""
    lines = [""]
    row = column = 0
    for piece in _PIECES.finditer(written):
        if piece["plain"] == "\r":
            column = 0
        elif piece["plain"] == "\n":
            row, column = row + 1, 0
        elif piece["plain"] is not None:
            assert column < width, "the terminal would break this line by itself"
            lines[row] = lines[row][:column].ljust(column) + piece["plain"] + lines[row][column + 1 :]
            column += 1
        elif piece["what"] == "A":
            row = max(0, row - int(piece["count"] or 1))
        elif piece["what"] == "K":
            lines[row] = ""
        lines += [""] * (row + 1 - len(lines))
    return [line.rstrip() for line in lines if line.strip()]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_finished_step_stays_on_the_screen(width: int) -> None:
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=True, _environ={})
    with ProgressLines(console) as progress:
        for name in ("environment", "packages", "simulated CANN"):
            progress.step_started(name, "short")
            progress.line("a program that says much " * 8)
            progress.line("[two\nlines]")
            time.sleep(0.2)  # the spinner draws ten times a second
            progress.step_finished(name, "short", 1)
    shown = screen(written.getvalue(), width)
    assert [line.split()[:2] for line in shown] == [
        ["✓", "environment"],
        ["✓", "packages"],
        ["✓", "simulated"],
    ]
