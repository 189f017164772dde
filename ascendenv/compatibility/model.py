"""The matrix as an object: a table of rows for each thing that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascendenv.compatibility.rows.base import Row
from ascendenv.compatibility.rows.cann import CannRelease, DriverSupport
from ascendenv.compatibility.rows.extensions import Exclusive, ExtensionRelease, Placeholder
from ascendenv.compatibility.rows.hardware import Chip, Soc
from ascendenv.compatibility.rows.places import PackageIndex
from ascendenv.compatibility.rows.python import RuntimeRequirement
from ascendenv.compatibility.rows.torch_npu import (
    CompatibilityStatement,
    ContradictingReport,
    CudaFromIndex,
    TorchNpuRelease,
    Train,
    WheelSupport,
)
from ascendenv.compatibility.tables import Read, Table

__all__ = [
    "TABLES",
    "CannRelease",
    "Chip",
    "CompatibilityStatement",
    "ContradictingReport",
    "CudaFromIndex",
    "DriverSupport",
    "Exclusive",
    "ExtensionRelease",
    "Matrix",
    "PackageIndex",
    "Placeholder",
    "Row",
    "RuntimeRequirement",
    "Soc",
    "TorchNpuRelease",
    "Train",
    "WheelSupport",
    "all_tables",
]


class Matrix:
    """All that is known. A table is read when it is first asked for, so that no command pays for all."""

    trains = Table(Train, "torch_npu.toml", "trains", "train")
    compatibility = Table(CompatibilityStatement, "torch_npu.toml", "compatibility", "trains")
    reports = Table(ContradictingReport, "torch_npu.toml", "reports", "torch_npu")
    cuda_torch = Table(CudaFromIndex, "torch_npu.toml", "cuda_torch", "arch")
    torch_npu = Table(TorchNpuRelease, "torch_npu.toml", "releases", "torch_npu", wide=True)
    cann = Table(CannRelease, "cann.toml", "releases", "cann")
    drivers = Table(DriverSupport, "driver.toml", "support", "cann")
    socs = Table(Soc, "hardware.toml", "socs", "soc")
    chips = Table(Chip, "hardware.toml", "chips", "family", wide=True)
    requirements = Table(RuntimeRequirement, "python.toml", "requirements", "requirement")
    indexes = Table(PackageIndex, "indexes.toml", "indexes", "name")
    extensions = Table(ExtensionRelease, "extensions.toml", "releases", "package")
    exclusive = Table(Exclusive, "extensions.toml", "exclusive", "packages")
    placeholders = Table(Placeholder, "extensions.toml", "placeholders", "package")

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
