"""What the matrix says of a wanted thing, as far as it shows the clash with the other wanted things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import TorchNpuRelease
from ascendenv.resolve.candidates import Situation
from ascendenv.resolve.drivers import judge_driver, listed_drivers, parse_driver
from ascendenv.resolve.fact import SHOWN, Fact, few, meaning
from ascendenv.resolve.package_facts import about_package, allowed_by_cann
from ascendenv.resolve.ranges import parsed
from ascendenv.resolve.wants import (
    CANN,
    CHIP,
    DRIVER,
    GLIBC,
    PYTHON,
    TORCH,
    TORCH_NPU,
    Want,
    needed_glibc,
    satisfying,
)
from ascendenv.versions import CannVersion


def facts(want: Want, clash: Sequence[Want], situation: Situation) -> tuple[Fact, ...]:
    """What is known of ``want``, as far as it matters beside the other names in ``clash``."""
    if want.wish is not None:
        return tuple(about_package(want.wish, clash, situation))
    names = frozenset(other.name for other in clash)
    if want.name == DRIVER:
        return tuple(_about_driver(clash, situation))
    if names == {CANN, DRIVER}:
        return tuple(_drivers_of_cann(situation))
    if want.name == CANN:
        allowed = tuple(allowed_by_cann(clash, situation))
        return allowed or tuple(_about_cann(situation, names))
    return tuple(_ABOUT[want.name](situation, names))


def _about_cann(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    canns = _wanted_canns(situation)
    if not canns:
        released = [cann for cann in query.cann_versions(situation.matrix) if not cann.is_prerelease]
        yield Fact(f"is no known release of it; known are {few(released)}")
        return
    trains = [t for t in situation.matrix.trains if any(CannVersion(t.cann).covers(cann) for cann in canns)]
    means = meaning(canns, situation.request.cann)
    if trains:
        torches = sorted({torch for train in trains for torch in train.torch}, key=Version)
        named = few([train.train for train in trains])
        plural = "s" if len(trains) > 1 else ""
        yield Fact(
            f"{means}was released with torch_npu train{plural} {named}, for torch {', '.join(torches)}",
            trains[0],
        )
    else:
        yield Fact(f"{means}has no torch_npu train of its own in the matrix")
    if PYTHON in clash:
        yield from _pythons_of_cann(situation, canns)


def _wanted_canns(situation: Situation) -> list[CannVersion]:
    """The known CANN versions that will do; previews only where one is asked for."""
    wanted = situation.request.cann_range
    return [
        cann
        for cann in situation.canns
        if wanted is not None and wanted.admits(cann) and (wanted.names_previews or not cann.is_prerelease)
    ]


def _pythons_of_cann(situation: Situation, canns: Sequence[CannVersion]) -> Iterator[Fact]:
    rows = [row for row in situation.matrix.cann if CannVersion(row.cann) in canns]
    lowest = min((row.python_min for row in rows if row.python_min), key=Version, default=None)
    highest = max((row.python_max for row in rows if row.python_max), key=Version, default=None)
    if lowest is not None:
        yield Fact(f"supports Python {lowest} to {highest}", rows[0])
    paired = [row for cann in canns for row in query.select(situation.matrix, cann=cann)]
    if paired:
        yield Fact(f"its torch_npu {_wheels(paired, situation)}", paired[0])


def _about_torch(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    torches = _wanted_torches(situation)
    rows = [row for row in query.select(situation.matrix) if parsed(row.torch) in torches]
    if not rows:
        yield Fact(
            f"is no torch that a torch_npu was made for; {_known(query.torch_versions(situation.matrix))}"
        )
        return
    last = next((row for row in rows if row.cann is not None), rows[0])
    means = meaning(sorted(torches, reverse=True), situation.request.torch)
    yield Fact(f"{means}last had torch_npu {last.torch_npu}, {_origin(last)}", last)
    if PYTHON in clash:
        yield Fact(f"its torch_npu {_wheels(rows, situation)}", last)


def _about_torch_npu(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    rows = _wanted_releases(situation)
    if not rows:
        known = _known([row.version for row in query.select(situation.matrix)])
        yield Fact(f"is no release of it; {known}")
        return
    if clash != {TORCH_NPU, PYTHON}:
        means = meaning([row.torch_npu for row in rows], situation.request.torch_npu)
        yield Fact(f"{means}is for torch {_torches(rows)}, {_origin(rows[0])}", rows[0])
    if PYTHON in clash:
        yield Fact(_wheels(rows, situation), rows[0])


def _torches(rows: Sequence[TorchNpuRelease]) -> str:
    return ", ".join(dict.fromkeys(row.torch for row in rows))


def _about_python(situation: Situation, _: frozenset[str]) -> Iterator[Fact]:
    matrix, target = situation.matrix, situation.target
    having = query.select(matrix, arch=target.arch, python=target.python)
    if not having:
        yield Fact(f"is not among those of any torch_npu, which {_wheels(matrix.torch_npu, situation)}")
        return
    torches = _meant_torches(situation)
    near = [row for row in having if parsed(row.torch) in torches] or list(having)
    versions = [row.torch_npu for row in near if not row.prerelease] or [row.torch_npu for row in near]
    more = f" and {len(versions) - SHOWN} older" if len(versions) > SHOWN else ""
    shown = ", ".join(versions[:SHOWN])
    yield Fact(f"has wheels on {target.arch} of torch_npu {shown}{more}", near[0])


def _about_chip(situation: Situation, _: frozenset[str]) -> Iterator[Fact]:
    chip = next(row for row in situation.matrix.chips if row.family is situation.target.chip)
    if chip.first_train is None:
        yield Fact(f"({chip.title}) is known to no torch_npu in the matrix", chip)
        return
    since = "" if chip.cann_since is None else f"CANN {chip.cann_since} and "
    yield Fact(f"({chip.title}) needs {since}torch_npu train {chip.first_train} or newer", chip)


def _about_glibc(situation: Situation, _: frozenset[str]) -> Iterator[Fact]:
    target = situation.target
    newest = query.select(situation.matrix, arch=target.arch)[0]
    yield Fact(
        f"is older than the wheels of torch_npu {newest.torch_npu} and others ask for "
        f"(2.{needed_glibc(newest, target.arch)})",
        newest,
    )


def _about_driver(clash: Sequence[Want], situation: Situation) -> Iterator[Fact]:
    driver = parse_driver(situation.target.driver)
    if driver is None:
        return
    rest = [want for want in clash if want.name != DRIVER]
    canns = dict.fromkeys(c.cann for c in satisfying(situation.candidates, rest))
    for cann in list(canns)[:1]:
        judgement = judge_driver(situation.matrix, cann, driver)
        if judgement.minimum is not None and driver < judgement.minimum:
            because = f"is older than CANN {cann} allows ({judgement.minimum} or newer)"
        elif query.driver_support(situation.matrix, cann, driver).supported is False:
            because = f"is excluded by the vendor's list for CANN {cann}"
        else:
            because = judgement.because.removeprefix(f"driver {driver} ")
        yield Fact(because, judgement)


def _drivers_of_cann(situation: Situation) -> Iterator[Fact]:
    for cann in _wanted_canns(situation)[:1]:
        rows = query.driver_rows(situation.matrix, cann)
        named = listed_drivers(situation.matrix, cann)
        if named:
            yield Fact(f"goes with drivers {few(named)}", rows[0])
        else:
            yield Fact("has no list of drivers in the matrix")


def _wanted_releases(situation: Situation) -> list[TorchNpuRelease]:
    """The torch_npu releases that will do, newest first; previews only where one is asked for."""
    wanted = situation.request.torch_npu_range
    return [
        row
        for row in query.select(situation.matrix)
        if wanted is not None and wanted.admits(row.version) and (wanted.names_previews or not row.prerelease)
    ]


def _wanted_torches(situation: Situation) -> set[Version]:
    """The torch versions that will do."""
    wanted = situation.request.torch_range
    return {v for v in query.torch_versions(situation.matrix) if wanted is not None and wanted.admits(v)}


def _meant_torches(situation: Situation) -> set[Version]:
    """The torch lines that the request is about, be they named or implied by a torch_npu."""
    if situation.request.torch_npu is not None:
        return {parsed(row.torch) for row in _wanted_releases(situation)}
    return _wanted_torches(situation)


def _known(versions: Sequence[Version]) -> str:
    return f"known are {few(versions)}"


def _origin(row: TorchNpuRelease) -> str:
    return f"train {row.train}, released with " + (
        f"CANN {row.cann}" if row.cann else "a CANN that is not stated"
    )


def _wheels(rows: Sequence[TorchNpuRelease], situation: Situation) -> str:
    """``has wheels on x86_64 for Python 3.10, 3.11``."""
    arch = situation.target.arch
    pythons = {p for row in rows if arch in row.wheels for p in row.wheels[arch].pythons}
    if not pythons:
        return f"has no wheels on {arch}"
    return f"has wheels on {arch} for Python {', '.join(sorted(pythons, key=Version))}"


_ABOUT: Mapping[str, Callable[[Situation, frozenset[str]], Iterator[Fact]]] = {
    CANN: _about_cann,
    TORCH: _about_torch,
    TORCH_NPU: _about_torch_npu,
    PYTHON: _about_python,
    CHIP: _about_chip,
    GLIBC: _about_glibc,
}
