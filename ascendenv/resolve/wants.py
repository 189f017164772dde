"""What a request and a target ask of a combination, each with the fact that shows what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ascendenv.compatibility import query
from ascendenv.compatibility.model import TorchNpuRelease
from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.tags import glibc_minor
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch

CANN, TORCH, TORCH_NPU, PYTHON, CHIP, GLIBC = "cann", "torch", "torch-npu", "python", "chip", "glibc"
# What can be given up by asking for something else; a machine's chip and libc are what they are.
NEGOTIABLE = frozenset({CANN, TORCH, TORCH_NPU, PYTHON})


@dataclass(frozen=True)
class Want:
    """One thing that a combination must satisfy.

    ``name`` is the option that asks for it, ``text`` says it to people, ``holds`` tests a candidate,
    ``wanted_by`` is the option or the place that it comes from.
    """

    name: str
    text: str
    wanted_by: str
    holds: Callable[[Candidate], bool]


def wants(situation: Situation) -> tuple[Want, ...]:
    """What must hold together, the user's own wants first."""
    return (*_requested(situation), *_targeted(situation))


def satisfying(candidates: Iterable[Candidate], wanted: Sequence[Want]) -> tuple[Candidate, ...]:
    """The candidates that every want holds for."""
    return tuple(c for c in candidates if all(want.holds(c) for want in wanted))


def _requested(situation: Situation) -> Iterator[Want]:
    request = situation.request
    canns, torches, releases = request.cann_range, request.torch_range, request.torch_npu_range
    if canns is not None:
        yield Want(CANN, f"CANN {canns}", situation.cann_source, lambda c: canns.admits(c.cann))
    if torches is not None:
        yield Want(TORCH, f"torch {torches}", "--torch", lambda c: torches.admits(c.torch))
    if releases is not None:
        yield Want(
            TORCH_NPU, f"torch_npu {releases}", "--torch-npu", lambda c: releases.admits(c.release.version)
        )


def _targeted(situation: Situation) -> Iterator[Want]:
    matrix, target = situation.matrix, situation.target
    yield Want(
        PYTHON,
        f"Python {target.python}",
        "target",
        lambda c: (
            query.has_wheel(c.release, target.arch, target.python)
            and query.python_supported_by_cann(matrix, c.cann, target.python) is not False
        ),
    )
    family = target.chip
    if family is not None:
        chip = next(row for row in matrix.chips if row.family is family)
        since = None if chip.cann_since is None else CannVersion(chip.cann_since)
        yield Want(
            CHIP,
            f"chip {family}",
            "target",
            lambda c: (since is None or since <= c.cann) and query.knows_chip(matrix, c.release, family),
        )
    yield Want(
        GLIBC,
        f"glibc {target.glibc}",
        "target",
        lambda c: needed_glibc(c.release, target.arch) <= glibc_minor(target.glibc),
    )


def needed_glibc(release: TorchNpuRelease, arch: Arch) -> int:
    """The minor version of the oldest glibc that a wheel of this release runs on; 0 without a wheel."""
    support = release.wheels.get(arch)
    names = () if support is None else support.platforms
    return min((glibc_minor(name.removeprefix("manylinux_").replace("_", ".")) for name in names), default=0)
