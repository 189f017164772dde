"""What is known of a torch_npu version, a torch version, and a release train."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.facts import (
    Description,
    MatrixFact,
    contradictions,
    fact,
    find,
    notes,
    reports,
)
from ascendenv.compatibility.model import Matrix, TorchNpuRelease, TorchSupport, Train, UnpublishedRelease
from ascendenv.versions import train_covers
from ascendenv.vocabulary import Arch


def torch_npu(matrix: Matrix, name: str) -> Description:
    """A release, or a version that only a table names."""
    unpublished = next((row for row in matrix.unpublished if row.torch_npu == name), None)
    if unpublished is not None:
        return f"torch_npu {name}", _unpublished_facts(unpublished)
    release = find(matrix.torch_npu, name, lambda row: row.torch_npu, "torch_npu version")
    return f"torch_npu {release.torch_npu}", _release_facts(matrix, release)


def _unpublished_facts(row: UnpublishedRelease) -> Iterator[MatrixFact]:
    yield fact("wheels", "on no package index: only a table names this version", row)
    yield fact("torch", row.torch, row)
    if row.train is not None:
        yield fact("train", row.train, row)
    if row.cann is not None:
        yield fact("CANN", row.cann, row)
    yield from notes(row)


def _release_facts(matrix: Matrix, release: TorchNpuRelease) -> Iterator[MatrixFact]:
    yield fact("torch", release.torch, release)
    yield fact("train", release.train, release)
    yield fact("CANN", release.cann or "not stated", release)
    uploaded = release.uploaded.isoformat() + (" (preview)" if release.prerelease else "")
    yield fact("uploaded", uploaded, release)
    for arch, support in release.wheels.items():
        text = f"Python {', '.join(support.pythons)}; {', '.join(support.platforms)}"
        needs = f"; requires {', '.join(support.requires)}" if support.requires else ""
        yield fact(f"wheels for {arch}", text + needs, release)
    for statement in matrix.compatibility:
        if any(train_covers(pattern, release.train) for pattern in statement.trains):
            yield fact("declared compatible", f"CANN {', '.join(statement.cann)}", statement)
    yield from reports(report for report in matrix.reports if report.torch_npu == release.torch_npu)
    yield from _support(matrix, release.torch)
    for extension in matrix.extensions:
        if extension.torch_npu == release.torch_npu:
            yield fact("pinned by", f"{extension.package} {extension.version}", extension)
    yield from contradictions(matrix, f"torch_npu {release.torch_npu}")
    yield from notes(release)


def torch(matrix: Matrix, name: str) -> Description:
    """A torch version that a torch_npu was released for, or one that none was."""
    try:
        version = Version(Version(name).public)
    except InvalidVersion:
        version = None
    without = next((row for row in matrix.torch_without_npu if str(version) in row.torch), None)
    if without is not None:
        none = "none was released for it"
        return f"torch {version}", iter((fact("torch_npu", none, without), *notes(without)))
    known = query.torch_versions(matrix)
    if version is None or version not in known:
        raise query.unknown("torch version", name, map(str, known))
    return f"torch {version}", _torch_facts(matrix, version)


def _torch_facts(matrix: Matrix, version: Version) -> Iterator[MatrixFact]:
    for release in query.select(matrix, torch=version):
        text = f"{release.torch_npu} (train {release.train}, CANN {release.cann or 'not stated'})"
        yield fact("torch_npu", text, release)
    yield from _support(matrix, str(version))
    for row in matrix.torch_pythons:
        if row.torch == str(version):
            yield fact("Python, as stated", ", ".join(row.pythons), row)
    for arch in Arch:
        cuda = query.torch_comes_with_cuda(matrix, arch, version)
        if cuda is not None:
            yield fact(f"default index, {arch}", "a CUDA build, which torch_npu refuses to run beside", cuda)
    for extension in matrix.extensions:
        if str(version) in extension.torch and extension.torch_npu is None:
            yield fact(extension.package, _version_and_train(extension.version, extension.trains), extension)


def _version_and_train(version: str, trains: tuple[str, ...]) -> str:
    return f"{version} (train {', '.join(trains)})" if trains else version


def _support(matrix: Matrix, version: str) -> Iterator[MatrixFact]:
    return (fact("support", _phase(row), row) for row in matrix.torch_support if row.torch == version)


def _phase(row: TorchSupport) -> str:
    if row.ended is not None:
        return f"ended {row.ended}"
    later = "" if row.next_phase is None else f", {row.next_phase} from {row.from_day}"
    return f"{row.phase}{later}"


def train(matrix: Matrix, name: str) -> Description:
    """A release train."""
    row = find(matrix.trains, name, lambda row: row.train, "torch_npu train")
    return f"torch_npu train {row.train}", _train_facts(matrix, row)


def _train_facts(matrix: Matrix, row: Train) -> Iterator[MatrixFact]:
    yield fact("CANN", row.cann, row)
    if row.released is not None:
        yield fact("released", row.released.isoformat(), row)
    yield fact("torch", ", ".join(row.torch), row)
    for release in query.select(matrix, train=row.train):
        yield fact("torch_npu", release.torch_npu, release)
    yield from contradictions(matrix, f"train {row.train}")
    yield from notes(row)
