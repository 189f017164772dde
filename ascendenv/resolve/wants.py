"""What a request and a target ask of a combination, each with the fact that shows what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ascendenv.compatibility import query
from ascendenv.compatibility.model import TorchNpuRelease
from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.drivers import judge_driver, parse_driver
from ascendenv.resolve.packages import Offer, Wish
from ascendenv.resolve.tags import glibc_minor
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch

CANN, TORCH, TORCH_NPU, PYTHON, CHIP, GLIBC = "cann", "torch", "torch-npu", "python", "chip", "glibc"
DRIVER = "driver"
# What a machine is; everything else can be given up by asking for something else.
FIXED = frozenset({CHIP, GLIBC})


@dataclass(frozen=True)
class Want:
    """One thing that a combination must satisfy.

    ``name`` is the option that asks for it (for ``--with`` the package), ``text`` says it to people,
    ``holds`` tests a candidate, ``wanted_by`` is the option or the place that it comes from.
    """

    name: str
    text: str
    wanted_by: str
    holds: Callable[[Candidate], bool]
    wish: Wish | None = None


def wants(situation: Situation) -> tuple[Want, ...]:
    """What must hold together, the user's own wants first."""
    return (*_requested(situation), *_on_top(situation), *_targeted(situation))


def satisfying(candidates: Iterable[Candidate], wanted: Sequence[Want]) -> tuple[Candidate, ...]:
    """The candidates that every want holds for."""
    return tuple(c for c in candidates if all(want.holds(c) for want in wanted))


def _requested(situation: Situation) -> Iterator[Want]:
    request = situation.request
    canns, torches, releases = request.cann_range, request.torch_range, request.torch_npu_range
    if canns is not None:
        yield Want(CANN, f"CANN {canns}", situation.cann_source, lambda c: canns.admits(c.cann))
    if torches is not None:
        fits = cache(torches.admits)
        yield Want(TORCH, f"torch {torches}", "--torch", lambda c: fits(c.torch))
    if releases is not None:
        yield Want(
            TORCH_NPU, f"torch_npu {releases}", "--torch-npu", lambda c: releases.admits(c.release.version)
        )


def _on_top(situation: Situation) -> Iterator[Want]:
    """The packages that the matrix can say something of; any other is the package index's business."""
    picked = Offer(situation.matrix, situation.wishes).picked
    needed = {canonicalize_name(Requirement(row.requirement).name) for row in situation.matrix.requirements}
    for wish in situation.wishes:
        if wish.name in picked:
            yield Want(wish.name, str(wish), "--with", partial(_is_there, wish), wish)
        elif wish.name in needed and wish.specifier:
            holds = partial(_is_allowed, wish, Allowances(situation, wish.name))
            yield Want(wish.name, str(wish), "--with", holds, wish)


def _is_there(wish: Wish, candidate: Candidate) -> bool:
    version = candidate.extensions.pins.get(wish.name)
    return wish.name in candidate.extensions.names and (version is None or wish.admits(version))


def _is_allowed(wish: Wish, allowances: Allowances, candidate: Candidate) -> bool:
    return not (wish.specifier & allowances[candidate.cann]).is_unsatisfiable()


class Allowances(dict[CannVersion, SpecifierSet]):
    """Which versions of one package each CANN can do with, on the Python of the target."""

    def __init__(self, situation: Situation, package: str) -> None:
        self._matrix = situation.matrix
        self._package = package
        self._environment = {"python_version": situation.target.python}

    def __missing__(self, cann: CannVersion) -> SpecifierSet:
        allowed = SpecifierSet()
        for row in query.requirements_for(self._matrix, cann):
            requirement = Requirement(row.requirement)
            applies = requirement.marker is None or requirement.marker.evaluate(self._environment)
            if canonicalize_name(requirement.name) == self._package and applies:
                allowed &= requirement.specifier
        self[cann] = allowed
        return allowed


def _targeted(situation: Situation) -> Iterator[Want]:
    matrix, target = situation.matrix, situation.target
    yield Want(
        PYTHON,
        f"Python {target.python}",
        "target",
        lambda c: (
            query.has_wheel(c.release, target.arch, target.python)
            and query.python_supported_by_cann(matrix, c.cann, target.python) is not False
            and all(target.python in SpecifierSet(row.python) for row in c.extensions.rows)
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
    driver = parse_driver(target.driver)
    if driver is not None:
        judged = cache(lambda cann: judge_driver(matrix, cann, driver))
        yield Want(
            DRIVER,
            f"driver {driver}",
            target.driver_from or "--driver",
            lambda c: judged(c.cann).supported is not False,
        )


def needed_glibc(release: TorchNpuRelease, arch: Arch) -> int:
    """The minor version of the oldest glibc that a wheel of this release runs on; 0 without a wheel."""
    support = release.wheels.get(arch)
    names = () if support is None else support.platforms
    return min((glibc_minor(name.removeprefix("manylinux_").replace("_", ".")) for name in names), default=0)
