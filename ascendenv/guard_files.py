"""What the files of an environment's guard are called, for all who have to tell them from the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

FOLDER = Path("ascendenv") / "guard"
CONSTRAINTS = FOLDER / "constraints.txt"
EXCLUDES = FOLDER / "excludes.txt"
# The constraint `triton==0+overwrites.triton.ascend` keeps a package out; no version is like this one.
NEVER = "==0+overwrites."


def reference(file: Path) -> str:
    """``file`` as it may stand in a list that is separated by blanks: pip's and uv's variables are."""
    return file.as_uri() if any(letter.isspace() for letter in str(file)) else str(file)


def is_guard(entry: str) -> bool:
    """Whether a path or ``file:`` URL is a file of some environment's guard."""
    return entry.endswith((f"/{CONSTRAINTS}", f"/{EXCLUDES}"))


def without_guards(entries: Iterable[str]) -> tuple[str, ...]:
    """The entries that are the user's own."""
    return tuple(entry for entry in entries if not is_guard(entry))
