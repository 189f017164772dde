"""What the matrix says of a wanted thing, as far as it shows the clash with the other wanted things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Row, TorchNpuRelease
from ascendenv.resolve.candidates import Situation
from ascendenv.resolve.wants import CANN, CHIP, GLIBC, PYTHON, TORCH, TORCH_NPU, Want, needed_glibc
from ascendenv.versions import CannVersion

# Longer lists would not be read.
_SHOWN = 6


@dataclass(frozen=True)
class Fact:
    """Text that continues a name such as ``CANN 9.1.0``, and the row of the matrix that it is from."""

    text: str
    row: Row | None = None


def facts(want: Want, clash: Sequence[Want], situation: Situation) -> tuple[Fact, ...]:
    """What is known of ``want``, as far as it matters beside the other names in ``clash``."""
    return tuple(_ABOUT[want.name](situation, frozenset(other.name for other in clash)))


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _about_cann(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    cann = CannVersion(situation.request.cann or "")
    trains = [train for train in situation.matrix.trains if CannVersion(train.cann).covers(cann)]
    if trains:
        torches = sorted({torch for train in trains for torch in train.torch}, key=Version)
        named = listed(train.train for train in trains)
        plural = "s" if len(trains) > 1 else ""
        yield Fact(
            f"was released with torch_npu train{plural} {named}, for torch {', '.join(torches)}", trains[0]
        )
    else:
        yield Fact("has no torch_npu train of its own in the matrix")
    if PYTHON in clash:
        yield from _pythons_of_cann(situation, cann)


def _pythons_of_cann(situation: Situation, cann: CannVersion) -> Iterator[Fact]:
    row = next((row for row in situation.matrix.cann if CannVersion(row.cann) == cann), None)
    if row is not None and row.python_min is not None:
        yield Fact(f"supports Python {row.python_min} to {row.python_max}", row)
    paired = query.select(situation.matrix, cann=cann)
    if paired:
        yield Fact(f"its torch_npu {_wheels(paired, situation)}", paired[0])


def _about_torch(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    torch = Version(Version(situation.request.torch or "").public)
    rows = query.select(situation.matrix, torch=torch)
    last = next((row for row in rows if row.cann is not None), rows[0])
    yield Fact(f"last had torch_npu {last.torch_npu}, {_origin(last)}", last)
    if PYTHON in clash:
        yield Fact(f"its torch_npu {_wheels(rows, situation)}", last)


def _about_torch_npu(situation: Situation, clash: frozenset[str]) -> Iterator[Fact]:
    (row,) = query.select(situation.matrix, torch_npu=Version(situation.request.torch_npu or ""))
    if clash != {TORCH_NPU, PYTHON}:
        yield Fact(f"is for torch {row.torch}, {_origin(row)}", row)
    if PYTHON in clash:
        yield Fact(_wheels([row], situation), row)


def _about_python(situation: Situation, _: frozenset[str]) -> Iterator[Fact]:
    matrix, target = situation.matrix, situation.target
    having = query.select(matrix, arch=target.arch, python=target.python)
    if not having:
        yield Fact(f"is not among those of any torch_npu, which {_wheels(matrix.torch_npu, situation)}")
        return
    torch = _wanted_torch(situation)
    near = [row for row in having if row.torch == torch] or list(having)
    versions = [row.torch_npu for row in near if not row.prerelease] or [row.torch_npu for row in near]
    more = f" and {len(versions) - _SHOWN} older" if len(versions) > _SHOWN else ""
    shown = ", ".join(versions[:_SHOWN])
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


def _wanted_torch(situation: Situation) -> str | None:
    """The torch line that the request is about, be it named or implied by a torch_npu."""
    request = situation.request
    if request.torch_npu is not None:
        return query.select(situation.matrix, torch_npu=Version(request.torch_npu))[0].torch
    return None if request.torch is None else Version(request.torch).public


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
