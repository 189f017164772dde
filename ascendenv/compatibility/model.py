"""The matrix as an object: a table of rows for each thing that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascendenv.compatibility.rows.base import Row
from ascendenv.compatibility.rows.cann import (
    CannRelease,
    Deprecation,
    DriverSeen,
    DriverSupport,
    OpsMixing,
    Subpackages,
)
from ascendenv.compatibility.rows.contradictions import Contradiction
from ascendenv.compatibility.rows.extensions import (
    Exclusive,
    ExtensionProject,
    ExtensionRelease,
    Placeholder,
)
from ascendenv.compatibility.rows.hardware import Boards, Chip, Soc
from ascendenv.compatibility.rows.packages import PackageChannel, PackageFile, PackageFolder, PackageName
from ascendenv.compatibility.rows.places import ImageRepository, ImageTags, PackageIndex
from ascendenv.compatibility.rows.python import RuntimeRequirement, ToolRequirement, TorchPythons
from ascendenv.compatibility.rows.torch_npu import (
    CompatibilityStatement,
    ContradictingReport,
    CudaFromIndex,
    TorchNpuRelease,
    TorchSupport,
    TorchWithoutNpu,
    Train,
    UnpublishedRelease,
    WheelSupport,
)
from ascendenv.compatibility.tables import Read, Table

__all__ = [
    "TABLES",
    "Boards",
    "CannRelease",
    "Chip",
    "CompatibilityStatement",
    "ContradictingReport",
    "Contradiction",
    "CudaFromIndex",
    "Deprecation",
    "DriverSeen",
    "DriverSupport",
    "Exclusive",
    "ExtensionProject",
    "ExtensionRelease",
    "ImageRepository",
    "ImageTags",
    "Matrix",
    "OpsMixing",
    "PackageChannel",
    "PackageFile",
    "PackageFolder",
    "PackageIndex",
    "PackageName",
    "Placeholder",
    "Row",
    "RuntimeRequirement",
    "Soc",
    "Subpackages",
    "ToolRequirement",
    "TorchNpuRelease",
    "TorchPythons",
    "TorchSupport",
    "TorchWithoutNpu",
    "Train",
    "UnpublishedRelease",
    "WheelSupport",
    "all_tables",
]


class Matrix:
    """All that is known. A table is read when it is first asked for, so that no command pays for all.

    The wide tables of a file come last in it, as TOML wants it.
    """

    trains = Table(Train, "torch_npu.toml", "trains", "train")
    torch_support = Table(TorchSupport, "torch_npu.toml", "support", "torch")
    compatibility = Table(CompatibilityStatement, "torch_npu.toml", "compatibility", "trains")
    reports = Table(ContradictingReport, "torch_npu.toml", "reports", "torch_npu")
    cuda_torch = Table(CudaFromIndex, "torch_npu.toml", "cuda_torch", "arch")
    torch_without_npu = Table(TorchWithoutNpu, "torch_npu.toml", "torch_without_npu", "torch")
    unpublished = Table(UnpublishedRelease, "torch_npu.toml", "unpublished", "torch_npu")
    torch_npu = Table(TorchNpuRelease, "torch_npu.toml", "releases", "torch_npu", wide=True)
    cann = Table(CannRelease, "cann.toml", "releases", "cann")
    ops_mixing = Table(OpsMixing, "cann.toml", "ops_mixing", "ops")
    subpackages = Table(Subpackages, "cann.toml", "subpackages", "cann")
    deprecations = Table(Deprecation, "cann.toml", "deprecations", "what")
    drivers = Table(DriverSupport, "driver.toml", "support", "cann")
    drivers_seen = Table(DriverSeen, "driver.toml", "seen", "driver")
    socs = Table(Soc, "hardware.toml", "socs", "soc")
    chips = Table(Chip, "hardware.toml", "chips", "family", wide=True)
    boards = Table(Boards, "hardware.toml", "boards", "family", wide=True)
    requirements = Table(RuntimeRequirement, "python.toml", "requirements", "requirement")
    tools = Table(ToolRequirement, "python.toml", "tools", "tool")
    torch_pythons = Table(TorchPythons, "python.toml", "torch_pythons", "torch")
    indexes = Table(PackageIndex, "indexes.toml", "indexes", "name")
    package_names = Table(PackageName, "packages.toml", "names", "component")
    package_folders = Table(PackageFolder, "packages.toml", "folders", "cann")
    package_files = Table(PackageFile, "packages.toml", "files", "file")
    channels = Table(PackageChannel, "packages.toml", "channels", "kind", wide=True)
    image_repositories = Table(ImageRepository, "images.toml", "repositories", "repository")
    image_tags = Table(ImageTags, "images.toml", "tags", "cann")
    extension_projects = Table(ExtensionProject, "extensions.toml", "projects", "package")
    extensions = Table(ExtensionRelease, "extensions.toml", "releases", "package")
    exclusive = Table(Exclusive, "extensions.toml", "exclusive", "packages")
    placeholders = Table(Placeholder, "extensions.toml", "placeholders", "package")
    contradictions = Table(Contradiction, "contradictions.toml", "contradictions", "about")

    def __init__(self, read: Read) -> None:
        self.read = read

    def model_copy(self, *, update: Mapping[str, Sequence[Row]]) -> Matrix:
        """The same with other rows in some tables, spelled as the rows themselves spell it."""

        def read(table: Table[Any]) -> tuple[Any, ...]:
            return tuple(update[table.field]) if table.field in update else getattr(self, table.field)

        return Matrix(read)


def all_tables() -> tuple[Table[Any], ...]:
    """The tables of every matrix, in the order of their files."""
    return tuple(table for table in vars(Matrix).values() if isinstance(table, Table))


TABLES: Mapping[str, tuple[Table[Any], ...]] = {
    file: tuple(table for table in all_tables() if table.file == file)
    for file in dict.fromkeys(table.file for table in all_tables())
}
