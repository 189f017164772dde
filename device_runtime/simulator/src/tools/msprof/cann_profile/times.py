"""Times as CANN's files write them, and intervals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

Interval = tuple[int, int]


def microseconds(nanoseconds: int) -> str:
    """Exactly, with three decimals."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def stamp(nanoseconds: int) -> str:
    """The local time, as file names carry it."""
    moment = datetime.fromtimestamp(nanoseconds / 1e9, tz=timezone.utc)
    return moment.astimezone().strftime("%Y%m%d%H%M%S")


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time as disjoint intervals in order."""
    merged: list[Interval] = []
    for began, ended in sorted(intervals):
        if merged and began <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ended))
        else:
            merged.append((began, ended))
    return merged


def difference(intervals: Iterable[Interval], others: Iterable[Interval]) -> list[Interval]:
    """The time that lies in some of the intervals and in none of the others."""
    cuts = union(others)
    remaining = []
    first = 0
    for began, ended in union(intervals):
        while first < len(cuts) and cuts[first][1] <= began:
            first += 1
        position, start = first, began
        while position < len(cuts) and cuts[position][0] < ended:
            if start < cuts[position][0]:
                remaining.append((start, cuts[position][0]))
            start = max(start, cuts[position][1])
            position += 1
        if start < ended:
            remaining.append((start, ended))
    return remaining
