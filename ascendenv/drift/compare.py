"""The matrix against a snapshot of the index: a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, TorchNpuRelease, WheelSupport
from ascendenv.drift.model import Build, Difference, Drift, File, Kind, Snapshot
from ascendenv.vocabulary import Arch

TORCH_NPU = "torch-npu"
TORCH = "torch"


def compare(matrix: Matrix, snapshot: Snapshot) -> Drift:
    """Every way in which the index is not what the matrix says."""
    differences = [
        *_torch_npu(matrix, snapshot),
        *_torch(matrix, snapshot),
        *_cuda(matrix, snapshot),
        *_extensions(matrix, snapshot),
        *_placeholders(matrix, snapshot),
    ]
    return Drift(
        compared_with=snapshot.place,
        day=snapshot.day,
        compared=sum(len(files) for files in snapshot.files.values()),
        differences=tuple(differences),
        unread=snapshot.unread,
    )


def projects(matrix: Matrix) -> tuple[str, ...]:
    """What the index is asked for."""
    names = [TORCH_NPU, TORCH, *_ascend_extensions(matrix), *(row.package for row in matrix.placeholders)]
    return tuple(dict.fromkeys(canonicalize_name(name) for name in names))


def wheels_to_read(matrix: Matrix, files: Iterable[File]) -> Iterator[File]:
    """One wheel for each architecture of each version whose requirements the matrix speaks of."""
    told = {row.version for row in matrix.torch_npu} | set(query.torch_versions(matrix))
    seen: set[tuple[Version, Arch]] = set()
    for file in sorted(files, key=lambda file: file.filename):
        is_torch_npu = file.filename.startswith("torch_npu-")
        for arch in file.archs:
            key = (file.version, arch)
            if key not in seen and (is_torch_npu or file.version in told):
                seen.add(key)
                yield file


def builds_of(files: Iterable[File], arch: Arch) -> list[Build]:
    """What the wheels are for, on one architecture."""
    return [build for file in files for build in file.builds() if build.arch is arch]


def requires_of(snapshot: Snapshot, files: Iterable[File], arch: Arch) -> tuple[str, ...] | None:
    """The requirements of the wheel that was looked into; ``None`` when none was."""
    for file in files:
        if file.filename in snapshot.requires and arch in file.archs:
            return snapshot.requires[file.filename]
    return None


def _torch_npu(matrix: Matrix, snapshot: Snapshot) -> Iterator[Difference]:
    files = snapshot.files.get(TORCH_NPU, ())
    by_version = {
        version: [f for f in files if f.version == version] for version in {f.version for f in files}
    }
    rows = {row.version: row for row in matrix.torch_npu}
    for version in sorted(by_version.keys() | rows.keys(), reverse=True):
        subject = f"torch_npu {version}"
        here, there = rows.get(version), by_version.get(version, [])
        if here is None:
            wheels = sum(file.is_wheel for file in there)
            yield _difference(Kind.RELEASE_WITHOUT_ROW, subject, "no row", f"{wheels} wheels")
        elif not there:
            yield _difference(Kind.RELEASE_GONE, subject, "a release", "no file")
        else:
            yield from _release(snapshot, subject, here, there)


def _release(
    snapshot: Snapshot, subject: str, row: TorchNpuRelease, files: list[File]
) -> Iterator[Difference]:
    yanked = [file.filename for file in files if file.yanked]
    if yanked:
        yield _difference(Kind.YANKED, subject, "not yanked", f"{len(yanked)} of {len(files)} files yanked")
    for arch in Arch:
        builds = builds_of(files, arch)
        support = row.wheels.get(arch)
        yield from _pythons(f"{subject}, {arch}", support, builds)
        requires = requires_of(snapshot, files, arch)
        if support is not None and requires is not None and not _same(support.requires, requires):
            yield _difference(
                Kind.PINS_CHANGED, f"{subject}, {arch}", _listed(support.requires), _listed(requires)
            )


def _pythons(subject: str, support: WheelSupport | None, builds: list[Build]) -> Iterator[Difference]:
    here = set() if support is None else set(support.pythons)
    there = {build.python for build in builds}
    for python in sorted(here - there, key=Version):
        yield _difference(Kind.WHEEL_MISSING, f"{subject}, Python {python}", "a wheel", "none")
    for python in sorted(there - here, key=Version):
        yield _difference(Kind.WHEEL_NOT_LISTED, f"{subject}, Python {python}", "no wheel", "one")
    platforms = {build.platform for build in builds}
    if support is not None and builds and platforms != set(support.platforms):
        yield _difference(
            Kind.PLATFORMS_CHANGED, subject, _listed(support.platforms), _listed(sorted(platforms))
        )


def _same(here: Iterable[str], there: Iterable[str]) -> bool:
    return {str(Requirement(text)) for text in here} == {str(Requirement(text)) for text in there}


def _torch(matrix: Matrix, snapshot: Snapshot) -> Iterator[Difference]:
    """Versions of torch that the matrix says nothing of, from the oldest that it knows."""
    known = set(query.torch_versions(matrix))
    known |= {Version(text) for row in matrix.torch_without_npu for text in row.torch}
    wheels = {file.version for file in snapshot.files.get(TORCH, ()) if file.is_wheel and not file.yanked}
    for version in sorted(wheels - known, reverse=True):
        if not version.is_prerelease and version >= min(known):
            yield _difference(Kind.RELEASE_WITHOUT_ROW, f"torch {version}", "no row", "a release")


def _cuda(matrix: Matrix, snapshot: Snapshot) -> Iterator[Difference]:
    files = snapshot.files.get(TORCH, ())
    for version in query.torch_versions(matrix):
        for arch in Arch:
            requires = requires_of(snapshot, [f for f in files if f.version == version], arch)
            if requires is None:
                continue
            here = query.torch_comes_with_cuda(matrix, arch, version) is not None
            there = any(needs_cuda(text, arch) for text in requires)
            if here is not there:
                said = {True: "a CUDA build", False: "a CPU build"}
                yield _difference(Kind.CUDA_CHANGED, f"torch {version}, {arch}", said[here], said[there])


def needs_cuda(text: str, arch: Arch) -> bool:
    """Whether a requirement of torch pulls CUDA in on that architecture."""
    requirement = Requirement(text)
    if not requirement.name.startswith(("nvidia-", "cuda-")):
        return False
    machine = {
        "platform_machine": str(arch),
        "platform_system": "Linux",
        "sys_platform": "linux",
        "extra": "",
    }
    return requirement.marker is None or requirement.marker.evaluate({**machine, "extra": ""})


def _extensions(matrix: Matrix, snapshot: Snapshot) -> Iterator[Difference]:
    """Releases newer than all that have a row: older ones without one were left out by their own authors."""
    for package in _ascend_extensions(matrix):
        newest = max(row.parsed for row in matrix.extensions if row.package == package)
        versions = {file.version for file in snapshot.files.get(canonicalize_name(package), ())}
        for version in sorted(versions, reverse=True):
            if version > newest:
                yield _difference(Kind.RELEASE_WITHOUT_ROW, f"{package} {version}", "no row", "a release")


def _ascend_extensions(matrix: Matrix) -> tuple[str, ...]:
    """The extensions made for Ascend; others release for everybody, most of it of no concern here."""
    packages = dict.fromkeys(row.package for row in matrix.extensions)
    return tuple(package for package in packages if package.endswith(("-ascend", "-npu")))


def _placeholders(matrix: Matrix, snapshot: Snapshot) -> Iterator[Difference]:
    for row in matrix.placeholders:
        files = snapshot.files.get(canonicalize_name(row.package))
        if files is None:
            yield _difference(Kind.PLACEHOLDER_CHANGED, row.package, "a placeholder", "nothing of the name")
        elif any(file.is_wheel for file in files):
            yield _difference(Kind.PLACEHOLDER_CHANGED, row.package, "a placeholder", "wheels that install")


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "nothing"


def _difference(kind: Kind, subject: str, matrix: str, there: str) -> Difference:
    return Difference(kind=kind, subject=subject, matrix=matrix, there=there)
