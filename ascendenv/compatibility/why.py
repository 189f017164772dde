"""Why some versions go together or do not: what ``ascendenv matrix why`` returns."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.extension import stack
from ascendenv.compatibility.describe.facts import MatrixFact
from ascendenv.compatibility.known import known_of
from ascendenv.compatibility.model import ExtensionRelease, Matrix, TorchNpuRelease
from ascendenv.compatibility.questions import LABELS, Question, parsed_part
from ascendenv.versions import CannVersion, train_covers
from ascendenv.vocabulary import Verdict

_OFFERED = 4


class Alternative(BaseModel):
    """What would work: one part of the question with other values. ``command`` plans the first of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    change: str
    command: str


class Explanation(BaseModel):
    """The answer: whether it goes together, because of what, where it was looked, and what does go."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    holds: bool
    answer: str
    because: tuple[MatrixFact, ...]
    looked: tuple[str, ...] = ()
    instead: tuple[Alternative, ...] = ()


def why(matrix: Matrix, asked: Question) -> Explanation:
    """Whether what is asked for goes together, and why."""
    released = _releases(matrix, asked)
    extensions = _extension_rows(matrix, asked)
    holds = bool(released) and (asked.extension is None or any(_fits(row, asked) for row in extensions))
    declared = () if holds else _releases(matrix, asked, Verdict.DECLARED_COMPATIBLE)
    because = tuple(known_of(matrix, asked, extensions))
    return Explanation(
        question=", ".join(asked.say(part) for part in asked.parts),
        holds=holds,
        answer=_answer(asked, released, declared, holds=holds),
        because=because,
        looked=tuple(_looked(matrix, asked)),
        instead=() if holds else tuple(_alternatives(matrix, asked, declared)),
    )


def _answer(
    asked: Question,
    released: tuple[TorchNpuRelease, ...],
    declared: tuple[TorchNpuRelease, ...],
    *,
    holds: bool,
) -> str:
    parts = [asked.say(part) for part in asked.parts]
    everything = _joined(parts)
    if asked.torch_npu is not None and set(asked.parts) <= {"torch_npu", "arch", "python"}:
        return _of_wheel(asked, holds=holds)
    if holds:
        names = ", ".join(release.torch_npu for release in released[:_OFFERED])
        go = "goes" if len(released) == 1 else "go"
        return (
            f"yes: {everything} go together"
            if asked.torch_npu
            else f"yes: torch_npu {names} {go} with {everything}"
        )
    if declared:
        names = ", ".join(release.torch_npu for release in declared[:_OFFERED])
        return f"not released together: {everything}; the vendor declares torch_npu {names} compatible"
    if len(parts) == 1:
        return f"no: there is no torch_npu to be had for {everything}"
    return f"no: {everything} do not go together"


def _of_wheel(asked: Question, *, holds: bool) -> str:
    release = asked.say("torch_npu")
    target = _joined([asked.say(part) for part in ("arch", "python") if part in asked.parts])
    if not target:
        return f"yes: there is {release}" if holds else f"no: there is no {release}"
    verdict, article = ("yes", "a") if holds else ("no", "no")
    return f"{verdict}: {release} has {article} wheel for {target}"


def _joined(words: list[str]) -> str:
    return "" if not words else words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _releases(
    matrix: Matrix, asked: Question, verdict: Verdict = Verdict.PAIRED
) -> tuple[TorchNpuRelease, ...]:
    """The releases for all of the question but its extension, newest first."""
    pins = {row.torch_npu for row in _extension_rows(matrix, asked)} - {None}
    found = query.select(
        matrix,
        torch=asked.torch,
        torch_npu=asked.torch_npu,
        arch=asked.arch,
        python=asked.python,
        chip=asked.chip,
    )
    return tuple(
        release
        for release in found
        if (asked.train is None or train_covers(asked.train, release.train))
        and (asked.cann is None or _verdict(matrix, asked, asked.cann, release) is verdict)
        and (not pins or release.torch_npu in pins)
        and _cann_itself_allows(matrix, asked)
    )


def _verdict(matrix: Matrix, asked: Question, cann: CannVersion, release: TorchNpuRelease) -> Verdict:
    return query.judge(matrix, cann, release, chip=asked.chip, python=asked.python).verdict


def _cann_itself_allows(matrix: Matrix, asked: Question) -> bool:
    """Whether that CANN supports the Python, and has operators for the chip, as far as that is known."""
    if asked.cann is None:
        return True
    row = next((row for row in matrix.cann if CannVersion(row.cann) == asked.cann), None)
    for_chip = row is None or not row.chips or asked.chip is None or asked.chip in row.chips
    python = asked.python
    return for_chip and (
        python is None or query.python_supported_by_cann(matrix, asked.cann, python) is not False
    )


def _extension_rows(matrix: Matrix, asked: Question) -> tuple[ExtensionRelease, ...]:
    if asked.extension is None:
        return ()
    return tuple(row for row in matrix.extensions if (row.package, row.version) == asked.extension)


def _fits(row: ExtensionRelease, asked: Question) -> bool:
    """Whether the extension's own statement has room for the question."""
    return (
        (asked.cann is None or not row.cann or asked.cann in map(CannVersion, row.cann))
        and (asked.torch is None or not row.torch or asked.torch.public in row.torch)
        and (asked.torch_npu is None or row.torch_npu is None or row.torch_npu == str(asked.torch_npu))
        and (asked.python is None or SpecifierSet(row.python).contains(asked.python))
    )


def _looked(matrix: Matrix, asked: Question) -> Iterator[str]:
    """Where the wheels that there are were read from."""
    if {"torch", "torch_npu", "arch", "python"}.isdisjoint(asked.parts):
        return
    for index in matrix.indexes:
        if index.read is not None:
            place = "default index" if index.url is None else f"index {index.name}"
            yield f"{place}, its listing as of {index.read}"


def _alternatives(
    matrix: Matrix, asked: Question, declared: tuple[TorchNpuRelease, ...]
) -> Iterator[Alternative]:
    for part in reversed(asked.parts):
        other = asked.having(part, None)
        if part == "extension":
            yield from _other_extension(matrix, asked)
        elif other.parts:
            yield from _other(matrix, asked, part, other)
        else:
            yield from _near(matrix, asked, part)
    if declared:
        name = declared[0].torch_npu
        yield Alternative(
            change=f"keep all, with torch_npu {name}: declared compatible, not released together",
            command=_command(asked.having("torch_npu", Version(name)), "--allow-declared"),
        )


def _other(matrix: Matrix, asked: Question, part: str, other: Question) -> Iterator[Alternative]:
    if part == "torch_npu" and asked.torch_npu is not None and other.torch is None:
        same_torch = Version(".".join(map(str, asked.torch_npu.release)))
        other = other.having("torch", same_torch)
    released = [release for release in _releases(matrix, other) if not release.prerelease]
    values = list(
        dict.fromkeys(value for release in released for value in _values(matrix, release, part, other))
    )
    if values:
        kept = _joined([other.say(name) for name in other.parts])
        offered = ", ".join(values[:_OFFERED])
        instead = other.having(part, parsed_part(matrix, part, values[0])[1])
        yield Alternative(change=f"keep {kept}: {LABELS[part]}{offered}", command=_command(instead))


def _near(matrix: Matrix, asked: Question, part: str) -> Iterator[Alternative]:
    """The nearest of its kind, for something that is asked for alone."""
    released = [release for release in query.select(matrix) if not release.prerelease]
    line = _line(asked)
    if line is not None:
        released = [
            release for release in released if release.version.release[: len(line)] == line
        ] or released
    offers = (value for release in released for value in _values(matrix, release, part, Question()))
    values = list(dict.fromkeys(offers))
    if values:
        nearest = Question().having(part, parsed_part(matrix, part, values[0])[1])
        yield Alternative(change=f"{LABELS[part]}{', '.join(values[:_OFFERED])}", command=_command(nearest))


def _line(asked: Question) -> tuple[int, ...] | None:
    """What a near version begins with: the same torch, or the same minor version of torch."""
    if asked.torch_npu is not None:
        return asked.torch_npu.release
    return None if asked.torch is None else asked.torch.release[:2]


def _values(matrix: Matrix, release: TorchNpuRelease, part: str, other: Question) -> Iterator[str]:
    """What ``part`` may be with this release."""
    match part:
        case "torch" | "torch_npu" | "train":
            yield getattr(release, part)
        case "cann":
            covered = [] if release.cann_version is None else query.cann_versions(matrix)
            yield from (
                str(c) for c in covered if release.cann_version is not None and release.cann_version.covers(c)
            )
        case "arch":
            yield from (str(arch) for arch in release.wheels if query.has_wheel(release, arch, other.python))
        case "python":
            pythons = {
                p for arch, w in release.wheels.items() if other.arch in {None, arch} for p in w.pythons
            }
            yield from sorted(pythons, key=Version, reverse=True)
        case _:
            yield from (
                str(chip.family) for chip in matrix.chips if query.knows_chip(matrix, release, chip.family)
            )


def _other_extension(matrix: Matrix, asked: Question) -> Iterator[Alternative]:
    """The newest version of the extension that leaves room for the rest and can be had; finals first."""
    package = (asked.extension or ("", ""))[0]
    rows = [row for row in matrix.extensions if row.package == package and _fits(row, asked)]
    for row in sorted(rows, key=lambda row: (not row.parsed.is_prerelease, row.parsed), reverse=True):
        if _releases(matrix, _stack_of(asked, row)):
            yield Alternative(
                change=f"{package} {row.version}, which goes with {stack(row)}",
                command=f"ascendenv matrix why {package}=={row.version}",
            )
            return


def _stack_of(asked: Question, row: ExtensionRelease) -> Question:
    """The question with that version of the extension, on the CANN that it was made for."""
    other = asked.having("extension", (row.package, row.version))
    return other.having("cann", CannVersion(row.cann[0])) if row.cann and asked.cann is None else other


def _command(asked: Question, *more: str) -> str:
    options = [
        f"--{part.replace('_', '-')} {getattr(asked, part)}"
        for part in asked.parts
        if part not in {"extension", "train"}
    ]
    return " ".join(["ascendenv resolve", *options, *more])
