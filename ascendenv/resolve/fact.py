"""One thing that the matrix says, in words that continue a name, and how lists of versions read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ascendenv.vocabulary import Evidence

# Longer lists would not be read.
SHOWN = 6


class Sourced(Protocol):
    """What says where something is known from, and how well: a row of the matrix, or a judgement of some."""

    @property
    def source(self) -> str:
        """Where it is written down."""

    @property
    def evidence(self) -> Evidence:
        """How well it is known."""


@dataclass(frozen=True)
class Fact:
    """Text that continues a name such as ``CANN 9.1.0``, and where it is known from."""

    text: str
    row: Sourced | None = None


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def few(versions: Sequence[object]) -> str:
    """All of them, or the first few of many."""
    words = list(map(str, versions))
    if len(words) <= SHOWN:
        return listed(words)
    return f"{', '.join(words[:SHOWN])} and {len(words) - SHOWN} more"


def meaning(versions: Sequence[object], asked: str | None) -> str:
    """``means 9.2.0, 9.1.1 and 9.1.0: `` before what is said of a range; nothing for an exact version."""
    named = list(map(str, versions))
    return "" if named == [asked] or len(named) == 1 else f"means {few(named)}: "
