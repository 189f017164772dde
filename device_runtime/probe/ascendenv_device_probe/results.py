"""What the probe measures."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AllReduceResult", "MemoryInfo", "StreamOrder"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryInfo:
    """Memory of one device, in bytes."""

    free: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamOrder:
    """`nbytes` were written nine times on one stream and read once on another, in `elapsed_ms`."""

    nbytes: int
    elapsed_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class AllReduceResult:
    """One rank's part of a sum over all ranks, checked element by element."""

    device: int
    rank: int
    elements: int
    elapsed_ms: float
