"""Combinations that nearly are what was asked for: one want given up, everything else kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

from ascendenv.compatibility import query
from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.model import Nearest, Request
from ascendenv.resolve.ranges import parsed
from ascendenv.resolve.wants import (
    CANN,
    CHIP,
    GLIBC,
    NEGOTIABLE,
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

_VERSIONS = (CANN, TORCH, TORCH_NPU)
_PERMISSIONS = {
    "allow_declared": "keep all, which the vendor declares compatible but did not release together",
    "allow_reported": "keep all, against the report that it fails",
}
_Option = tuple[Candidate, Situation]


def nearest(situation: Situation, clash: Sequence[Want], available: Availability) -> tuple[Nearest, ...]:
    """For each want of the clash, the nearest combination that becomes possible when it is given up.

    One whose wheels can be had comes before a nearer one whose wheels could not be looked for. Where no
    single want stands in the way, the one combination that keeps most of the first wants.
    """
    found = []
    for given_up in clash:
        if given_up.name in NEGOTIABLE:
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
    distance = _distance(situation, given_up.name)
    fitting = satisfying(situation.candidates, rest)
    for candidate in sorted(fitting, key=lambda c: (c.judgement.verdict is not Verdict.PAIRED, distance(c))):
        yield candidate, situation


def _other_pythons(situation: Situation) -> list[str]:
    """The Pythons that torch_npu has wheels for, the one next to the wanted first, of two the newer."""
    arch, wanted = situation.target.arch, _minor(situation.target.python)
    known = {p for row in situation.matrix.torch_npu if arch in row.wheels for p in row.wheels[arch].pythons}
    known.discard(situation.target.python)
    return sorted(known, key=lambda python: (abs(_minor(python) - wanted), -_minor(python)))


def _distance(situation: Situation, name: str) -> Callable[[Candidate], tuple[int, ...]]:
    """How far a candidate is from what was asked for under ``name``, counted in versions."""
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
                wheels_found=found,
            )


def _keeping_one(situation: Situation, available: Availability) -> Iterator[Nearest]:
    """The best combination with one of the wanted versions, or with none where even that is not possible."""
    everything = wants(situation)
    machine = [want for want in everything if want.name not in _VERSIONS]
    for kept in (*(want for want in everything if want.name in _VERSIONS), None):
        rest = machine if kept is None else [kept, *machine]
        fitting = satisfying(situation.candidates, rest)
        chosen = _first_available(((candidate, situation) for candidate in fitting), available)
        if chosen is not None:
            (candidate, _), found = chosen
            pairing = candidate.pairing
            yield Nearest(
                change=f"{f'keep only {kept.text}: ' if kept else ''}use CANN {pairing.cann} "
                f"with torch_npu {pairing.torch_npu}",
                pairing=pairing,
                options=(
                    *("--cann", pairing.cann, "--torch-npu", pairing.torch_npu),
                    *_simulated(situation.request),
                ),
                wheels_found=found,
            )
            return


def _described(chosen: tuple[_Option, bool], given_up: Want, clash: Sequence[Want]) -> Nearest:
    (candidate, changed), found = chosen
    release = candidate.release
    instead = {
        CANN: f"CANN {candidate.cann}",
        TORCH: f"torch {release.torch}",
        TORCH_NPU: f"torch_npu {release.torch_npu}",
        PYTHON: f"Python {changed.target.python}",
    }[given_up.name]
    kept = [want.text for want in clash if want.name not in {given_up.name, GLIBC}]
    keep = f"keep {', '.join(kept)}, " if kept else ""
    return Nearest(
        change=f"{keep}use {instead}",
        pairing=candidate.pairing,
        options=_options(candidate, changed, given_up.name, frozenset(want.name for want in clash)),
        wheels_found=found,
    )


def _options(
    candidate: Candidate, changed: Situation, given_up: str, clash: frozenset[str]
) -> tuple[str, ...]:
    """The whole request in its changed form: what was asked for, what is new, and what the clash is about."""
    request, target = changed.request, changed.target
    values = {
        CANN: (str(candidate.cann), request.cann is not None),
        TORCH: (candidate.release.torch, request.torch is not None),
        TORCH_NPU: (candidate.release.torch_npu, request.torch_npu is not None),
        PYTHON: (target.python, PYTHON in clash),
        CHIP: (str(target.chip), CHIP in clash),
    }
    words = [
        w
        for name, (value, asked) in values.items()
        if asked or name == given_up
        for w in (f"--{name}", value)
    ]
    allowed = (f"--{name.replace('_', '-')}" for name in _PERMISSIONS if getattr(request, name))
    return (*words, *allowed, *_simulated(request))


def _simulated(request: Request) -> list[str]:
    return ["--simulate"] if request.simulate else []


def _minor(python: str) -> int:
    return int(python.split(".")[1])
