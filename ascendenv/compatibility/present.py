"""The matrix for people and programs: what ``ascendenv matrix list`` and ``matrix show`` return."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility import query
from ascendenv.compatibility.model import (
    Chip,
    ContradictingReport,
    DriverSupport,
    Matrix,
    Row,
    TorchNpuRelease,
    Train,
)
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, train_covers
from ascendenv.vocabulary import Arch, Evidence


class ReleaseRow(BaseModel):
    """One torch_npu release in a list; ``pythons`` are those that wheels exist for, by architecture."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    torch_npu: str
    torch: str
    train: str
    cann: str | None
    pythons: Mapping[Arch, tuple[str, ...]]
    prerelease: bool
    evidence: Evidence


class ReleaseList(BaseModel):
    """The payload of ``ascendenv matrix list``, newest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    releases: tuple[ReleaseRow, ...]


class MatrixFact(BaseModel):
    """One thing that is known of a subject, and where from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    value: str
    evidence: Evidence
    source: str


class MatrixEntry(BaseModel):
    """The payload of ``ascendenv matrix show``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str
    facts: tuple[MatrixFact, ...]


def release_list(releases: Iterable[TorchNpuRelease]) -> ReleaseList:
    """The given releases as rows, in their order."""
    return ReleaseList(releases=tuple(_release_row(release) for release in releases))


def _release_row(release: TorchNpuRelease) -> ReleaseRow:
    return ReleaseRow(
        torch_npu=release.torch_npu,
        torch=release.torch,
        train=release.train,
        cann=release.cann,
        pythons={arch: support.pythons for arch, support in release.wheels.items()},
        prerelease=release.prerelease,
        evidence=release.evidence,
    )


def show(matrix: Matrix, subject: str) -> MatrixEntry:
    """All that is known of a subject, such as ``torch_npu==2.7.1.post8``, ``cann 9.1.0`` or ``chip 910b``.

    The other kinds are ``torch 2.7.1`` and ``train 26.1.0``. Raises :class:`~ascendenv.errors.UsageError`,
    with what was probably meant, for a subject that has no row.
    """
    match = re.fullmatch(r"\s*([A-Za-z_-]+)(?:\s*==\s*|\s*=\s*|\s+)(\S.*?)\s*", subject)
    if match is None:
        raise UsageError(
            f"{subject!r} names nothing in the matrix",
            hint="say for example `cann 9.1.0`, `chip 910b` or `torch==2.7.1`",
        )
    kind, name = match[1].lower().replace("-", "_"), match[2]
    if kind not in _SUBJECTS:
        raise query.unknown("subject", match[1], _SUBJECTS)
    title, facts = _SUBJECTS[kind](matrix, name)
    return MatrixEntry(subject=title, facts=tuple(facts))


FoundRow = TypeVar("FoundRow", bound=Row)
Description = tuple[str, Iterator[MatrixFact]]


def _fact(key: str, value: str, row: Row) -> MatrixFact:
    return MatrixFact(key=key, value=value, evidence=row.evidence, source=row.source)


def _notes(*rows: Row) -> Iterator[MatrixFact]:
    return (_fact("note", row.note, row) for row in rows if row.note)


def _torch_npu(matrix: Matrix, name: str) -> Description:
    release = _found(matrix.torch_npu, name, lambda row: row.torch_npu, "torch_npu version")
    return f"torch_npu {release.torch_npu}", _release_facts(matrix, release)


def _release_facts(matrix: Matrix, release: TorchNpuRelease) -> Iterator[MatrixFact]:
    yield _fact("torch", release.torch, release)
    yield _fact("train", release.train, release)
    yield _fact("CANN", release.cann or "not stated", release)
    yield _fact(
        "uploaded", release.uploaded.isoformat() + (" (preview)" if release.prerelease else ""), release
    )
    for arch, support in release.wheels.items():
        text = f"Python {', '.join(support.pythons)}; {', '.join(support.platforms)}"
        needs = f"; requires {', '.join(support.requires)}" if support.requires else ""
        yield _fact(f"wheels for {arch}", text + needs, release)
    for statement in matrix.compatibility:
        if any(train_covers(pattern, release.train) for pattern in statement.trains):
            yield _fact("declared compatible", f"CANN {', '.join(statement.cann)}", statement)
    yield from _reports(report for report in matrix.reports if report.torch_npu == release.torch_npu)
    yield from _notes(release)


def _reports(reports: Iterable[ContradictingReport]) -> Iterator[MatrixFact]:
    for report in reports:
        scope = "".join(
            f", {word}" for word in (report.hardware, *(f"Python {p}" for p in report.pythons)) if word
        )
        text = f"torch_npu {report.torch_npu} on CANN {report.cann}{scope}: {report.symptom}"
        yield _fact("reported to fail", text, report)


def _torch(matrix: Matrix, name: str) -> Description:
    try:
        torch = Version(Version(name).public)
    except InvalidVersion:
        torch = None
    known = query.torch_versions(matrix)
    if torch is None or torch not in known:
        raise query.unknown("torch version", name, map(str, known))
    return f"torch {torch}", _torch_facts(matrix, torch)


def _torch_facts(matrix: Matrix, torch: Version) -> Iterator[MatrixFact]:
    for release in query.select(matrix, torch=torch):
        text = f"{release.torch_npu} (train {release.train}, CANN {release.cann or 'not stated'})"
        yield _fact("torch_npu", text, release)
    for arch in Arch:
        cuda = query.torch_comes_with_cuda(matrix, arch, torch)
        if cuda is not None:
            yield _fact(f"default index, {arch}", "a CUDA build, which torch_npu refuses to run beside", cuda)


def _train(matrix: Matrix, name: str) -> Description:
    train = _found(matrix.trains, name, lambda row: row.train, "torch_npu train")
    return f"torch_npu train {train.train}", _train_facts(matrix, train)


def _train_facts(matrix: Matrix, train: Train) -> Iterator[MatrixFact]:
    yield _fact("CANN", train.cann, train)
    if train.released is not None:
        yield _fact("released", train.released.isoformat(), train)
    yield _fact("torch", ", ".join(train.torch), train)
    for release in query.select(matrix, train=train.train):
        yield _fact("torch_npu", release.torch_npu, release)
    yield from _notes(train)


def _cann(matrix: Matrix, name: str) -> Description:
    cann = query.parse_cann(matrix, name)
    return f"CANN {cann}", _cann_facts(matrix, cann)


def _cann_facts(matrix: Matrix, cann: CannVersion) -> Iterator[MatrixFact]:
    row = next(row for row in matrix.cann if CannVersion(row.cann) == cann)
    known = row.python_min is not None and row.python_max is not None
    yield _fact("Python", f"{row.python_min} to {row.python_max}" if known else "not known", row)
    yield _fact("chips", ", ".join(row.chips) or "not known", row)
    yield from _notes(row)
    for release in query.select(matrix, cann=cann):
        yield _fact(
            "torch_npu", f"{release.torch_npu} (train {release.train}, torch {release.torch})", release
        )
    for statement in matrix.compatibility:
        if any(CannVersion(text).covers(cann) for text in statement.cann):
            yield _fact("declared compatible", f"trains {', '.join(statement.trains)}", statement)
    yield from _reports(report for report in matrix.reports if CannVersion(report.cann).covers(cann))
    for support in query.driver_rows(matrix, cann):
        yield from _driver_facts(support)
    for requirement in query.requirements_for(matrix, cann):
        yield _fact(
            "needs",
            f"{requirement.requirement} ({requirement.needed_by}: {requirement.because})",
            requirement,
        )


def _driver_facts(support: DriverSupport) -> Iterator[MatrixFact]:
    if support.paired is not None:
        yield _fact("driver released with it", support.paired, support)
    if support.works_with:
        yield _fact("drivers that work", ", ".join(support.works_with), support)
    if support.excluded:
        yield _fact("drivers excluded", ", ".join(support.excluded), support)
    if support.minimum is not None:
        yield _fact("oldest driver listed", support.minimum, support)
    yield from _notes(support)


def _chip(matrix: Matrix, name: str) -> Description:
    family = query.parse_chip(matrix, name)
    chip = next(row for row in matrix.chips if row.family is family)
    return f"chip {family}", _chip_facts(matrix, chip)


def _chip_facts(matrix: Matrix, chip: Chip) -> Iterator[MatrixFact]:
    yield _fact("name", chip.title, chip)
    yield _fact("SoCs", ", ".join(chip.socs), chip)
    for key, names in (
        ("npu-smi shows", chip.npu_smi_names),
        ("also called", chip.also_called),
        ("products", chip.products),
    ):
        if names:
            yield _fact(key, ", ".join(names), chip)
    if chip.pci_device is not None:
        yield _fact("PCI device", chip.pci_device, chip)
    if chip.cann_since is not None:
        yield _fact("CANN", f"since {chip.cann_since}", chip)
    since = "no train knows it" if chip.first_train is None else f"since train {chip.first_train}"
    later = "".join(f"; {soc} since {train}" for soc, train in chip.soc_first_train.items())
    yield _fact("torch_npu", since + later, chip)
    yield from _notes(chip)
    for row in matrix.cann:
        if chip.family in row.chips and not CannVersion(row.cann).is_prerelease:
            yield _fact("operator package", f"CANN {row.cann}", row)


def _found(rows: tuple[FoundRow, ...], name: str, column: Callable[[FoundRow], str], what: str) -> FoundRow:
    by_name = {column(row).casefold(): row for row in rows}
    try:
        return by_name[name.casefold()]
    except KeyError:
        raise query.unknown(what, name, (column(row) for row in rows)) from None


_SUBJECTS: dict[str, Callable[[Matrix, str], Description]] = {
    "torch_npu": _torch_npu,
    "torch": _torch,
    "train": _train,
    "cann": _cann,
    "chip": _chip,
}
