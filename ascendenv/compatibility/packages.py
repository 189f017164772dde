"""Which files or packages one CANN version is delivered in, for a chip and an architecture."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility.model import Matrix, PackageFile, PackageFolder, PackageName
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, CannComponent, ChipFamily, Evidence, PackageKind

_ORDER = (CannComponent.TOOLKIT, CannComponent.OPS, CannComponent.NNAL, CannComponent.NNAE)


class CannPackage(BaseModel):
    """One package of CANN. ``url``, ``sha256`` and ``size`` (bytes) are there as far as they are known.

    ``evidence`` is ``derived`` where the name follows from those of other versions and was not seen itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    component: CannComponent
    kind: PackageKind
    name: str
    chip: ChipFamily | None = None
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    evidence: Evidence
    source: str


def cann_packages(
    matrix: Matrix,
    cann: CannVersion,
    arch: Arch,
    chip: ChipFamily | None = None,
    kind: PackageKind = PackageKind.RUN,
) -> tuple[CannPackage, ...]:
    """The packages of ``cann`` in the order of installation: toolkit, operators, the rest.

    Without ``chip`` the operators of every family. What no channel of that kind is known to have is absent.
    """
    found = (
        package
        for component in _ORDER
        for name in matrix.package_names
        if name.component is component and name.kind is kind and name.applies_to(cann)
        for package in _packages(matrix, name, cann, arch, chip)
    )
    return tuple(found)


def _packages(
    matrix: Matrix, name: PackageName, cann: CannVersion, arch: Arch, chip: ChipFamily | None
) -> Iterator[CannPackage]:
    spelled = {family: text for family, text in name.chips.items() if chip in {None, family}}
    choices: list[tuple[ChipFamily | None, str]] = list(spelled.items()) if name.chips else [(None, "")]
    for family, text in choices:
        filled = name.name.format(version=cann, arch=name.archs.get(arch, arch), chip=text)
        file = next((row for row in matrix.package_files if row.file == filled), None)
        folder = next((row for row in matrix.package_folders if CannVersion(row.cann) == cann), None)
        yield _package(matrix, name, filled, family, file, folder)


def _package(
    matrix: Matrix,
    name: PackageName,
    filled: str,
    chip: ChipFamily | None,
    file: PackageFile | None,
    folder: PackageFolder | None,
) -> CannPackage:
    channel = next(row for row in matrix.channels if row.kind is name.kind)
    is_file = name.kind in {PackageKind.RUN, PackageKind.ZIP}
    known: PackageName | PackageFolder | PackageFile = name
    if is_file:
        known = file or (folder if folder is not None and _is_seen(folder, name, chip) else name)
    return CannPackage(
        component=name.component,
        kind=name.kind,
        name=filled,
        chip=chip,
        url=f"{channel.url}/{folder.folder}/{filled}" if is_file and folder is not None else None,
        sha256=None if file is None else file.sha256,
        size=None if file is None else file.size,
        evidence=Evidence.DERIVED if is_file and known is name else known.evidence,
        source=known.source,
    )


def _is_seen(folder: PackageFolder, name: PackageName, chip: ChipFamily | None) -> bool:
    """Whether the file itself was seen named, as ``.run``."""
    in_folder = name.component in folder.components and (chip is None or chip in folder.chips)
    return name.kind is PackageKind.RUN and in_folder
