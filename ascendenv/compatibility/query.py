"""What the matrix says: pure functions over :class:`~ascendenv.compatibility.model.Matrix`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile

from packaging.version import Version

from ascendenv.compatibility.model import (
    CannRelease,
    Chip,
    CompatibilityStatement,
    ContradictingReport,
    CudaFromIndex,
    DriverSupport,
    Matrix,
    RuntimeRequirement,
    TorchNpuRelease,
)
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, HdkVersion, InvalidCannVersionError, train_covers, train_key
from ascendenv.vocabulary import Arch, ChipFamily, Evidence, Verdict


@dataclass(frozen=True)
class Judgement:
    """What is known of one CANN with one torch_npu release.

    ``reports`` are the field reports that may apply; whether they decide is in ``verdict``.
    """

    verdict: Verdict
    evidence: Evidence
    because: str
    source: str
    reports: tuple[ContradictingReport, ...] = ()


@dataclass(frozen=True)
class DriverJudgement:
    """Whether the vendor supports a driver with a CANN: ``None`` when no list says it.

    ``minimum`` is the lowest driver that any vendor list names for that CANN, ``paired`` the one released
    with it.
    """

    supported: bool | None
    because: str
    evidence: Evidence
    source: str
    minimum: HdkVersion | None = None
    paired: HdkVersion | None = None


def judge(
    matrix: Matrix,
    cann: CannVersion,
    release: TorchNpuRelease,
    *,
    chip: ChipFamily | None = None,
    python: str | None = None,
) -> Judgement:
    """What the matrix says of running ``release`` on ``cann``.

    The vendor's pairing stands even against field reports, which then come along as warnings. Otherwise a
    report of exactly this version outweighs a wide compatibility statement; a report that is about one chip
    or Python decides only when ``chip`` or ``python`` says that it is meant.
    """
    known = _reports_on(matrix).get(release.torch_npu, ())
    reports = tuple(report for report in known if _may_apply(report, cann, chip, python))
    if release.cann_version is not None and release.cann_version.covers(cann):
        because = (
            f"torch_npu {release.torch_npu} (train {release.train}) was released with CANN {release.cann}"
        )
        return Judgement(Verdict.PAIRED, release.evidence, because, release.source, reports)
    for report in reports:
        if (not report.chips or chip is not None) and (not report.pythons or python is not None):
            because = (
                f"torch_npu {report.torch_npu} on CANN {report.cann} was reported to fail: {report.symptom}"
            )
            return Judgement(Verdict.REPORTED_BROKEN, report.evidence, because, report.source, reports)
    near = _statements_on(matrix).get(cann.release_line, ())
    statement = next((row for row in near if _states(row, cann, release.train)), None)
    if statement is not None:
        because = f"the vendor calls train {release.train} compatible with CANN {cann}"
        return Judgement(Verdict.DECLARED_COMPATIBLE, statement.evidence, because, statement.source, reports)
    because = f"no table speaks of torch_npu {release.torch_npu} on CANN {cann}"
    return Judgement(Verdict.UNKNOWN, Evidence.UNKNOWN, because, release.source, reports)


@lru_cache(maxsize=4)
def _reports_on(matrix: Matrix) -> Mapping[str, Sequence[ContradictingReport]]:
    """The field reports by torch_npu: a plan asks for every release, many times."""
    found: dict[str, list[ContradictingReport]] = {}
    for report in matrix.reports:
        found.setdefault(report.torch_npu, []).append(report)
    return found


@lru_cache(maxsize=4)
def _statements_on(matrix: Matrix) -> Mapping[tuple[int, int], Sequence[CompatibilityStatement]]:
    """The compatibility statements by the lines of CANN that they speak of, likewise."""
    found: dict[tuple[int, int], list[CompatibilityStatement]] = {}
    for statement in matrix.compatibility:
        for line in dict.fromkeys(_cann(text).release_line for text in statement.cann):
            found.setdefault(line, []).append(statement)
    return found


@lru_cache(maxsize=4)
def _rows_of(matrix: Matrix) -> Mapping[CannVersion, CannRelease]:
    """The row of each CANN version, likewise."""
    return {_cann(row.cann): row for row in matrix.cann}


def _may_apply(
    report: ContradictingReport,
    cann: CannVersion,
    chip: ChipFamily | None,
    python: str | None,
) -> bool:
    return (
        _cann(report.cann).covers(cann)
        and (chip is None or not report.chips or chip in report.chips)
        and (python is None or not report.pythons or python in report.pythons)
    )


def _states(statement: CompatibilityStatement, cann: CannVersion, train: str) -> bool:
    trains = any(train_covers(pattern, train) for pattern in statement.trains)
    return trains and any(_cann(text).covers(cann) for text in statement.cann)


@cache
def _cann(text: str) -> CannVersion:
    """A version of the matrix, parsed once: a plan has every CANN judged with every release."""
    return CannVersion(text)


def driver_support(matrix: Matrix, cann: CannVersion, driver: HdkVersion) -> DriverJudgement:
    """Whether the vendor's lists allow ``driver`` under ``cann``, and what the lowest listed driver is."""
    rows = driver_rows(matrix, cann)
    floor = next((row for row in rows if row.minimum is not None), None)
    minimum = None if floor is None or floor.minimum is None else HdkVersion(floor.minimum)
    paired = next((HdkVersion(row.paired) for row in rows if row.paired is not None), None)

    def answer(because: str, row: DriverSupport | None, *, supported: bool | None) -> DriverJudgement:
        evidence, source = (Evidence.UNKNOWN, "") if row is None else (row.evidence, row.source)
        return DriverJudgement(supported, because, evidence, source, minimum, paired)

    for row in rows:
        if _covered(driver, row.excluded):
            return answer(f"the vendor excludes driver {driver} for CANN {cann}", row, supported=False)
        if _covered(driver, (*row.works_with, *([row.paired] if row.paired else []))):
            return answer(f"driver {driver} is in the vendor's list for CANN {cann}", row, supported=True)
    if minimum is not None and driver < minimum:
        because = f"driver {driver} is older than CANN {cann} allows ({minimum} or newer)"
        return answer(because, floor, supported=False)
    because = f"no vendor list speaks of driver {driver} with CANN {cann}"
    return answer(because, next(iter(rows), None), supported=None)


def driver_rows(matrix: Matrix, cann: CannVersion) -> tuple[DriverSupport, ...]:
    """The rows about the driver of ``cann``, those of the very version before those of its line."""
    rows = (row for row in matrix.drivers if _cann(row.cann).covers(cann))
    return tuple(sorted(rows, key=lambda row: _cann(row.cann).is_wildcard))


def _covered(driver: HdkVersion, texts: Iterable[str]) -> bool:
    return any(HdkVersion(text).covers(driver) for text in texts)


def requirements_for(matrix: Matrix, cann: CannVersion) -> tuple[RuntimeRequirement, ...]:
    """The Python packages that ``cann`` and torch_npu need at run time without declaring them."""
    return tuple(row for row in matrix.requirements if row.applies_to(cann))


def torch_comes_with_cuda(matrix: Matrix, arch: Arch, torch: Version) -> CudaFromIndex | None:
    """The row that says so, when the default index's torch of this version is a CUDA build on ``arch``."""
    return next((row for row in matrix.cuda_torch if row.arch is arch and row.applies_to(torch)), None)


def python_supported_by_cann(matrix: Matrix, cann: CannVersion, python: str) -> bool | None:
    """Whether ``cann`` supports ``python`` (``3.11`` or ``3.11.7``); ``None`` when that is not known."""
    row = _rows_of(matrix).get(cann)
    if row is None or row.python_min is None or row.python_max is None:
        return None
    wanted = Version(python).release[:2]
    return Version(row.python_min).release <= wanted <= Version(row.python_max).release


def cann_versions(matrix: Matrix) -> tuple[CannVersion, ...]:
    """Every CANN that has a row, newest first, alphas and betas included."""
    return tuple(sorted((_cann(row.cann) for row in matrix.cann), reverse=True))


def torch_versions(matrix: Matrix) -> tuple[Version, ...]:
    """Every torch that a torch_npu release was made for, newest first."""
    return tuple(sorted({Version(row.torch) for row in matrix.torch_npu}, reverse=True))


def parse_cann(matrix: Matrix, text: str) -> CannVersion:
    """The known CANN version that ``text`` names, in the vendor's spelling; else raises ``UsageError``."""
    known = cann_versions(matrix)
    try:
        return known[known.index(CannVersion(text))]
    except (InvalidCannVersionError, ValueError):
        names = [str(version) for version in known if not version.is_prerelease]
        raise unknown("CANN version", text, names, also=map(str, known)) from None


def chip_of_soc(matrix: Matrix, soc: str) -> Chip | None:
    """The family of a SoC name such as ``Ascend910B3``; ``None`` for a name that no row lists.

    ``Ascend910B`` without a digit is a first-generation chip, whatever people call an A2.
    """
    name = soc.strip().casefold()
    return next((chip for chip in matrix.chips if name in map(str.casefold, chip.socs)), None)


def parse_chip(matrix: Matrix, text: str) -> ChipFamily:
    """The family that ``text`` names: its key, a SoC, what npu-smi prints or what people say, in any case.

    Keys come first, so that ``910b`` is the A2. Raises ``UsageError`` for any other word.
    """
    names = chip_names(matrix)
    try:
        return names[text.strip().casefold()]
    except KeyError:
        raise unknown("chip", text, [str(chip.family) for chip in matrix.chips], also=names) from None


def chip_names(matrix: Matrix) -> dict[str, ChipFamily]:
    """Every name of every family, case folded. Of a name that two of them bear, the weightier kind wins."""
    by_weight = ("family", "socs", "npu_smi_names", "also_called")
    names: dict[str, ChipFamily] = {}
    for column in by_weight:
        for chip in matrix.chips:
            value = getattr(chip, column)
            for name in (value,) if isinstance(value, str) else value:
                names.setdefault(str(name).casefold(), chip.family)
    return names


def knows_chip(matrix: Matrix, release: TorchNpuRelease, family: ChipFamily) -> bool:
    """Whether this torch_npu, and the CANN that it was released with, are from after the chip family came."""
    chip = next((row for row in matrix.chips if row.family is family), None)
    if chip is None or chip.first_train is None or train_key(release.train) < train_key(chip.first_train):
        return False
    since = None if chip.cann_since is None else _cann(chip.cann_since)
    return since is None or release.cann_version is None or since <= release.cann_version


def select(
    matrix: Matrix,
    *,
    cann: CannVersion | None = None,
    torch: Version | None = None,
    torch_npu: Version | None = None,
    train: str | None = None,
    arch: Arch | None = None,
    python: str | None = None,
    chip: ChipFamily | None = None,
) -> tuple[TorchNpuRelease, ...]:
    """The releases that fit all that is given, newest first. ``train`` may be a line such as ``26.1.X``."""
    fits = (
        release
        for release in matrix.torch_npu
        if (cann is None or (release.cann_version is not None and release.cann_version.covers(cann)))
        and (torch is None or Version(release.torch) == Version(torch.public))
        and (torch_npu is None or release.version == torch_npu)
        and (train is None or train_covers(train, release.train))
        and has_wheel(release, arch, python)
        and (chip is None or knows_chip(matrix, release, chip))
    )
    return tuple(sorted(fits, key=lambda release: release.version, reverse=True))


def has_wheel(release: TorchNpuRelease, arch: Arch | None, python: str | None) -> bool:
    """Whether a wheel was published for this architecture and Python; ``None`` means any."""
    wheels = [support for name, support in release.wheels.items() if arch in {None, name}]
    return any(python is None or python in support.pythons for support in wheels)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The known word that is spelled most like ``word``, if one is near enough to be meant.

    Of several, one that begins alike comes first: of ``2.13.0.post99`` the release is likelier right.
    """
    spelled = {name.casefold(): name for name in known}
    meant = word.strip().casefold()
    near = difflib.get_close_matches(meant, spelled, n=len(spelled) or 1, cutoff=0.6)
    begins_alike = max(near, key=lambda name: _alike_letters(name, meant), default=None)
    return None if begins_alike is None else spelled[begins_alike]


def _alike_letters(one: str, other: str) -> int:
    """How many letters two words have in common before they differ."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def unknown(what: str, text: str, known: Iterable[str], *, also: Iterable[str] = ()) -> UsageError:
    """The error for a word that is not known; ``also`` holds spellings accepted but not worth listing."""
    names = list(known)
    near = did_you_mean(text, [*names, *also])
    listed = f"known: {', '.join(names)}"
    return UsageError(
        f"unknown {what} {text!r}", hint=listed if near is None else f"did you mean `{near}`? {listed}"
    )
