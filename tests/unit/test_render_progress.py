"""The progress of long commands, as a terminal shows it in the end."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from ascendenv.render import install
from ascendenv.render.output import print_result
from ascendenv.render.progress import ProgressLines
from ascendenv.verify.model import Check, Device, Report
from ascendenv.vocabulary import Layer, Outcome

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


def test_verify_tells_of_a_failed_check_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = Check(id="probe.copy", layer=Layer.PROBE, title="copies", outcome=Outcome.FAILED, detail="torn")

    def verified(*_: object, on_check: Callable[[Check], None], **__: object) -> Report:
        on_check(failed)
        device = Device(simulated=False, soc=None, count=0)
        return Report(environment=tmp_path, suite="quick", device=device, checks=(failed,), seconds=1)

    monkeypatch.setattr(install, "choose", lambda _: None)
    monkeypatch.setattr(install, "verify_environment", verified)
    result = install.run_verify(
        None, suite="quick", devices=None, select=None, offline=True, quiet=False, verbose=False
    )
    print_result(result, as_json=False)
    printed = capsys.readouterr()
    assert (printed.out.count("torn"), printed.err.count("torn")) == (1, 0)
