"""Combinations that nearly are what was asked for: one want given up, everything else kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from packaging.utils import canonicalize_name

from ascendenv.compatibility import query
from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.drivers import driver_for
from ascendenv.resolve.model import Nearest, Request, Target
from ascendenv.resolve.packages import Wish
from ascendenv.resolve.ranges import parsed
from ascendenv.resolve.wants import (
    CANN,
    CHIP,
    DRIVER,
    FIXED,
    GLIBC,
    PYTHON,
    TORCH,
    TORCH_NPU,
    Want,
    satisfying,
    wants,
)
from ascendenv.vocabulary import Verdict

VersionT = TypeVar("VersionT", bound=Hashable)
Availability = Callable[[Candidate, Situation], "bool | None"]
"""Whether the wheels can be had: ``None`` when a place that may have them could not be asked."""

ARCH = "arch"
_VERSIONS = (CANN, TORCH, TORCH_NPU)
_PERMISSIONS = {
    "allow_declared": "keep all, which the vendor declares compatible but did not release together",
    "allow_reported": "keep all, against the report that it fails",
}
_ELSEWHERE = frozenset({ARCH, GLIBC, DRIVER})
_Option = tuple[Candidate, Situation]


def nearest(situation: Situation, clash: Sequence[Want], available: Availability) -> tuple[Nearest, ...]:
    """For each want of the clash, the nearest combination that becomes possible when it is given up.

    One whose wheels can be had comes before a nearer one whose wheels could not be looked for. Where no
    single want stands in the way, the one combination that keeps most of the first wants.
    """
    found = []
    for given_up in clash:
        if given_up.name not in FIXED:
            chosen = _first_available(_without(situation, given_up), available)
            if chosen is not None:
                found.append(_described(chosen, given_up, clash))
    found.extend(_allowing(situation, available))
    return tuple(found or _keeping_one(situation, available))


def _first_available(options: Iterator[_Option], available: Availability) -> tuple[_Option, bool] | None:
    unknown: _Option | None = None
    for option in options:
        answer = available(*option)
        if answer:
            return option, True
        if answer is None and unknown is None:
            unknown = option
    return None if unknown is None else (unknown, False)


def _without(situation: Situation, given_up: Want) -> Iterator[_Option]:
    """What is possible without one want, the nearest first."""
    if given_up.name == PYTHON:
        for python in _other_pythons(situation):
            changed = situation.with_python(python)
            for candidate in satisfying(changed.candidates, wants(changed)):
                yield candidate, changed
        return
    rest = [want for want in wants(situation) if want.name != given_up.name]
    fitting = satisfying(situation.candidates, rest)
    if given_up.name == DRIVER:
        for candidate in fitting:
            driver = driver_for(situation.matrix, candidate.cann)
            if driver is not None:
                yield candidate, situation.with_driver(driver)
        return
    distance = _distance(situation, given_up)
    for candidate in sorted(fitting, key=distance):
        yield candidate, situation


def _other_pythons(situation: Situation) -> list[str]:
    """The Pythons that torch_npu has wheels for, the one next to the wanted first, of two the newer."""
    arch, wanted = situation.target.arch, _minor(situation.target.python)
    known = {p for row in situation.matrix.torch_npu if arch in row.wheels for p in row.wheels[arch].pythons}
    known.discard(situation.target.python)
    return sorted(known, key=lambda python: (abs(_minor(python) - wanted), -_minor(python)))


def _distance(situation: Situation, given_up: Want) -> Callable[[Candidate], tuple[int, ...]]:
    """How far a candidate is from what was asked for, counted in versions."""
    if given_up.wish is not None:
        return _distance_on_top(situation, given_up.wish)
    steps = _steps_in_stack(situation, given_up.name)
    return lambda c: (c.judgement.verdict is not Verdict.PAIRED, *steps(c))


def _steps_in_stack(situation: Situation, name: str) -> Callable[[Candidate], tuple[int, ...]]:
    request, matrix = situation.request, situation.matrix
    torches = query.torch_versions(matrix)
    canns, torch_range, npu_range = request.cann_range, request.torch_range, request.torch_npu_range
    if name == CANN and canns is not None:
        cann_steps = _steps(situation.canns, canns.admits)
        return lambda c: cann_steps[c.cann]
    if name == TORCH and torch_range is not None:
        torch_steps = _steps(torches, torch_range.admits)
        return lambda c: torch_steps[c.torch]
    releases = [row.version for row in query.select(matrix)]
    wanted = frozenset(version for version in releases if npu_range is None or npu_range.admits(version))
    lines = {parsed(row.torch) for row in matrix.torch_npu if row.version in wanted}
    line_steps, release_steps = _steps(torches, lines.__contains__), _steps(releases, wanted.__contains__)
    return lambda c: (line_steps[c.torch][0], *release_steps[c.release.version])


def _distance_on_top(situation: Situation, wish: Wish) -> Callable[[Candidate], tuple[int, ...]]:
    """Another version of the package is nearer than none."""
    rows = (row for row in situation.matrix.extensions if canonicalize_name(row.package) == wish.name)
    steps = _steps(sorted({row.parsed for row in rows}, reverse=True), wish.admits)

    def distance(candidate: Candidate) -> tuple[int, ...]:
        version = candidate.extensions.pins.get(wish.name)
        return (0, *steps.get(version, (0, 0))) if version is not None else (1, 0, 0)

    return distance


def _steps(
    versions: Sequence[VersionT], wanted: Callable[[VersionT], bool]
) -> Mapping[VersionT, tuple[int, int]]:
    """For each of ``versions`` (newest first), how many steps it is from a wanted one, and its place."""
    places = [place for place, version in enumerate(versions) if wanted(version)]
    return {
        version: (min((abs(place - other) for other in places), default=0), place)
        for place, version in enumerate(versions)
    }


def _allowing(situation: Situation, available: Availability) -> Iterator[Nearest]:
    """What nothing but missing certainty stands in the way of: the vendor's word alone, or a field report."""
    for permission, change in _PERMISSIONS.items():
        if getattr(situation.request, permission):
            continue
        changed = situation.allowing(permission)
        options = ((candidate, changed) for candidate in satisfying(changed.candidates, wants(changed)))
        chosen = _first_available(options, available)
        if chosen is not None:
            (candidate, _), found = chosen
            yield Nearest(
                change=change,
                pairing=candidate.pairing,
                options=_options(candidate, changed, "", frozenset()),
                command=_command(changed),
                wheels_found=found,
            )


def _keeping_one(situation: Situation, available: Availability) -> Iterator[Nearest]:
    """The best combination with one of the wanted things, or with none where even that is not possible."""
    everything = wants(situation)
    asked = [want for want in everything if want.name in _VERSIONS or want.wish is not None]
    machine = [want for want in everything if want not in asked]
    for kept in (*asked, None):
        rest = machine if kept is None else [kept, *machine]
        fitting = satisfying(situation.candidates, rest)
        chosen = _first_available(((candidate, situation) for candidate in fitting), available)
        if chosen is not None:
            (candidate, _), found = chosen
            pairing = candidate.pairing
            on_top = ("--with", str(kept.wish.requirement)) if kept is not None and kept.wish else ()
            yield Nearest(
                change=f"{f'keep only {kept.text}: ' if kept else ''}use CANN {pairing.cann} "
                f"with torch_npu {pairing.torch_npu}",
                pairing=pairing,
                options=(
                    *("--cann", pairing.cann, "--torch-npu", pairing.torch_npu),
                    *on_top,
                    *_repeated(situation),
                    *_allowed(situation.request),
                    *_simulated(situation.request),
                ),
                command=_command(situation),
                wheels_found=found,
            )
            return


def _described(chosen: tuple[_Option, bool], given_up: Want, clash: Sequence[Want]) -> Nearest:
    (candidate, changed), found = chosen
    kept = [want.text for want in clash if want.name not in {given_up.name, GLIBC}]
    keep = f"keep {', '.join(kept)}, " if kept else ""
    return Nearest(
        change=f"{keep}{_instead(given_up, candidate, changed.target)}",
        pairing=candidate.pairing,
        options=_options(candidate, changed, given_up.name, frozenset(want.name for want in clash)),
        command=_command(changed),
        driver=changed.target.driver if given_up.name == DRIVER else None,
        wheels_found=found,
    )


def _instead(given_up: Want, candidate: Candidate, target: Target) -> str:
    """What to do about the want that is given up."""
    release, version = candidate.release, candidate.extensions.pins.get(given_up.name)
    if given_up.wish is not None:
        return f"leave {given_up.text} out" if version is None else f"use {given_up.name} {version}"
    return {
        CANN: f"use CANN {candidate.cann}",
        TORCH: f"use torch {release.torch}",
        TORCH_NPU: f"use torch_npu {release.torch_npu}",
        PYTHON: f"use Python {target.python}",
        DRIVER: f"first upgrade firmware and driver to {target.driver}",
    }[given_up.name]


def _options(
    candidate: Candidate, changed: Situation, given_up: str, clash: frozenset[str]
) -> tuple[str, ...]:
    """The whole request in its changed form: what was asked for, what is new, and what the clash is about."""
    request = changed.request
    values = {
        CANN: (str(candidate.cann), request.cann is not None),
        TORCH: (candidate.release.torch, request.torch is not None),
        TORCH_NPU: (candidate.release.torch_npu, request.torch_npu is not None),
    }
    words: list[str] = []
    for name, (value, asked) in values.items():
        words += [f"--{name}", value] if asked or name == given_up else []
    for wish in changed.wishes:
        version = candidate.extensions.pins.get(wish.name)
        if wish.name != given_up:
            words += ["--with", str(wish.requirement)]
        elif version is not None:
            words += ["--with", f"{wish.name}=={version}"]
    return (*words, *_repeated(changed, clash), *_allowed(request), *_simulated(request))


def _repeated(situation: Situation, clash: frozenset[str] = frozenset()) -> Iterator[str]:
    """What the target was told to be, and what of it the clash is about; a machine's driver is what it is."""
    target = situation.target
    values = {
        ARCH: str(target.arch),
        PYTHON: target.python,
        CHIP: str(target.chip),
        GLIBC: target.glibc,
        DRIVER: str(target.driver),
    }
    for name, value in values.items():
        if name in situation.given or (name in clash and name in {PYTHON, CHIP}):
            yield from (f"--{name}", value)


def _allowed(request: Request) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in _PERMISSIONS if getattr(request, name)]


def _simulated(request: Request) -> list[str]:
    return ["--simulate"] if request.simulate else []


def _command(situation: Situation) -> Literal["install", "resolve"]:
    """Another machine's environment can be planned here, not installed."""
    return "install" if situation.given.isdisjoint(_ELSEWHERE) else "resolve"


def _minor(python: str) -> int:
    return int(python.split(".")[1])
