"""How texts name the program: as the user has called it, so that commands can be pasted."""

from __future__ import annotations

import os
import re

from rich.text import Text

# A command inside a text stands at its beginning, after a backtick, or in a command substitution.
_COMMAND = re.compile(r"(^|`|\$\()ascendenv(?= [a-z-])", re.MULTILINE)


def as_called(text: str) -> str:
    """``text`` with the commands in it as they are typed here: a checkout's launcher has a path.

    The launcher passes on how it was called in ``ASCENDENV_PROGRAM``.
    """
    program = os.environ.get("ASCENDENV_PROGRAM", "ascendenv")
    return _COMMAND.sub(lambda match: f"{match[1]}{program}", text)


def unbroken(line: str) -> Text:
    """A line with a command or a path, left whole however long: a broken one cannot be pasted."""
    return Text(line, no_wrap=True, overflow="ignore")
