"""A newer matrix out of what the index has: only what can be read there, with the evidence that this is."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.dump import dump, heading
from ascendenv.compatibility.model import (
    Matrix,
    PackageIndex,
    Row,
    TorchNpuRelease,
    TorchWithoutNpu,
    WheelSupport,
)
from ascendenv.drift.compare import TORCH, TORCH_NPU, builds_of, requires_of
from ascendenv.drift.model import File, Snapshot
from ascendenv.vocabulary import Arch, Evidence

FILES = ("torch_npu.toml", "indexes.toml")
UNSTATED = "unstated"


def updated(matrix: Matrix, snapshot: Snapshot) -> Matrix:
    """The matrix with the wheels, pins and releases of the snapshot.

    What a release belongs to is not on the index: a new one gets the train ``unstated``, no CANN and the
    evidence ``unknown``, until somebody finds the vendor's word. Nothing is taken out: what is gone from
    the index has been there.
    """
    changed: Mapping[str, Sequence[Row]] = {
        "torch_npu": tuple(_releases(matrix, snapshot)),
        "torch_without_npu": tuple(_torches(matrix, snapshot)),
        "indexes": tuple(_indexes(matrix, snapshot)),
    }
    return matrix.model_copy(update=changed)


def _releases(matrix: Matrix, snapshot: Snapshot) -> Iterator[TorchNpuRelease]:
    files = snapshot.files.get(TORCH_NPU, ())
    rows = {row.version: row for row in matrix.torch_npu}
    versions = rows.keys() | {file.version for file in files if file.is_wheel}
    for version in sorted(versions, reverse=True):
        there = [file for file in files if file.version == version]
        wheels = _wheels(rows.get(version), snapshot, there)
        if version in rows:
            yield rows[version].model_copy(update={"wheels": wheels})
        elif wheels:
            yield _new(version, snapshot, there, wheels)


def _new(
    version: Version, snapshot: Snapshot, files: list[File], wheels: Mapping[Arch, WheelSupport]
) -> TorchNpuRelease:
    days = [file.uploaded for file in files if file.uploaded is not None]
    return TorchNpuRelease(
        torch_npu=str(version),
        torch=".".join(map(str, version.release)),
        train=UNSTATED,
        prerelease=version.is_prerelease,
        uploaded=min(days, default=snapshot.day),
        wheels=wheels,
        evidence=Evidence.UNKNOWN,
        source=f"listing of the default index, read {snapshot.day}",
        note="which train and which CANN it belongs to is not stated there",
    )


def _wheels(
    row: TorchNpuRelease | None, snapshot: Snapshot, files: list[File]
) -> Mapping[Arch, WheelSupport]:
    wheels = {} if row is None else dict(row.wheels)
    for arch in Arch:
        builds = builds_of(files, arch)
        if builds:
            requires = requires_of(snapshot, files, arch)
            known = () if arch not in wheels else wheels[arch].requires
            wheels[arch] = WheelSupport(
                pythons=tuple(sorted({build.python for build in builds}, key=Version)),
                platforms=tuple(sorted({build.platform for build in builds})),
                requires=known if requires is None or _mean_the_same(known, requires) else requires,
            )
    return wheels


def _mean_the_same(known: Sequence[str], read: Sequence[str]) -> bool:
    return [text.replace(" ", "") for text in known] == [text.replace(" ", "") for text in read]


def _torches(matrix: Matrix, snapshot: Snapshot) -> Iterator[TorchWithoutNpu]:
    """The torch versions for which there is no torch_npu, in one row as the listings say it."""
    with_torch_npu = {Version(text) for text in _torches_of(matrix, snapshot)}
    listed = {file.version for file in snapshot.files.get(TORCH, ()) if file.is_wheel and not file.yanked}
    since = min(query.torch_versions(matrix))
    new = {version for version in listed if not version.is_prerelease and version >= since}
    for row in matrix.torch_without_npu:
        without = sorted(({*map(Version, row.torch)} | new) - with_torch_npu, reverse=True)
        same = {*map(Version, row.torch)} == set(without)
        source = f"listings of torch and torch-npu on the default index, read {snapshot.day}"
        yield row if same else row.model_copy(update={"torch": tuple(map(str, without)), "source": source})


def _torches_of(matrix: Matrix, snapshot: Snapshot) -> Iterator[str]:
    yield from (row.torch for row in matrix.torch_npu)
    yield from (".".join(map(str, file.version.release)) for file in snapshot.files.get(TORCH_NPU, ()))


def _indexes(matrix: Matrix, snapshot: Snapshot) -> Iterator[PackageIndex]:
    for row in matrix.indexes:
        yield row.model_copy(update={"read": snapshot.day}) if row.url is None else row


def write(matrix: Matrix, directory: Path, *, dry_run: bool) -> str:
    """Bring the files to what ``matrix`` says; returns the change as a unified diff."""
    changes: list[str] = []
    for name in FILES:
        before = (directory / name).read_text(encoding="utf-8")
        after = dump(matrix, name, heading(before))
        changes += difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/matrix/{name}",
            f"b/matrix/{name}",
        )
        if not dry_run:
            (directory / name).write_text(after, encoding="utf-8")
    return "".join(changes)
