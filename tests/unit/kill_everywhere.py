"""Runs a transaction again and again, each time killed one line of its code later, and recovers.

Usage: kill_everywhere.py DIRECTORY new|existing commit|fail. Prints one JSON line: how many lines there were
to be killed at, and what was wrong afterwards. By itself and not inside pytest, because it forks.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from unittest import mock

from trees import tree

from ascendenv.install import files, transaction

if TYPE_CHECKING:
    from _typeshed import TraceFunction

TRACED = {transaction.__file__, files.__file__}


def main() -> None:
    root, state, end = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    wrong: list[str] = []
    count = 0
    while True:
        count += 1
        place = root / f"{count}" / "above" / "env"
        if state == "existing":
            _make(place)
        before = tree(place)
        ended = _killed_at(count, place, end)
        after = _recovered(place)
        new = {"bin": "", "bin/python": "new", "lib": "", "lib/added": "new"}
        fine = [before] if end == "fail" else [before, new]
        if after not in fine:
            wrong.append(f"killed at line {count}: {sorted(after)}")
        if state == "new" and after == {} and place.parent.exists():
            wrong.append(f"killed at line {count}: the directory above was left")
        shutil.rmtree(root / f"{count}", ignore_errors=True)
        if ended:
            break
    sys.stdout.write(json.dumps({"lines": count, "wrong": wrong}) + "\n")


def _make(place: Path) -> None:
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").write_text("old")
    (place / "theirs").symlink_to("bin")


def _killed_at(line: int, place: Path, end: str) -> bool:
    """Run the change in a process that kills itself at its `line`th line; whether it came to its end."""
    child = os.fork()
    if child == 0:
        sys.settrace(_Killer(line).trace)
        with suppress(ZeroDivisionError), transaction.transaction(place):
            _change(place, divisor=0 if end == "fail" else 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return False
    assert status == 0, status
    return True


class _Killer:
    def __init__(self, line: int) -> None:
        self._left = line

    def trace(self, frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.trace


def _change(place: Path, divisor: int) -> None:
    files.remove(place / "theirs")
    for name in ("bin/python", "lib/added"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("new")  # in place, as installers write scripts
    1 // divisor  # fails when it is asked to


def _recovered(place: Path) -> dict[str, str]:
    transaction.recover_all()
    assert not transaction.is_unfinished(place)
    return tree(place)


if __name__ == "__main__":
    with mock.patch.object(os, "fsync"):  # a killed process loses nothing that it has written
        main()
