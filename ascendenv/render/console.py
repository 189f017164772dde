"""The two streams: data goes to standard output, everything else to standard error."""

from __future__ import annotations

import re
import sys
from typing import TextIO

from rich.console import Console, RenderableType

# Where output is read by a program or kept in a log, lines are not broken at a guessed width.
_WIDTH_WITHOUT_TERMINAL = 160


def data() -> Console:
    """For results."""
    return _console(sys.stdout)


def remarks() -> Console:
    """For progress, plans to agree to, warnings and errors."""
    return _console(sys.stderr)


def show(console: Console, renderable: RenderableType) -> None:
    """Print without the blanks that rich fills table rows with: they get in the way when text is copied."""
    with console.capture() as captured:
        console.print(renderable, crop=False)
    console.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
