"""Which file of the matrix holds which rows: read by the loader, kept to by the dumper."""

from __future__ import annotations

from dataclasses import dataclass

from ascendenv.compatibility.model import (
    CannRelease,
    Chip,
    CompatibilityStatement,
    ContradictingReport,
    CudaFromIndex,
    DriverSupport,
    PackageIndex,
    Row,
    RuntimeRequirement,
    Soc,
    TorchNpuRelease,
    Train,
)

SCHEMA = 1


@dataclass(frozen=True)
class Table:
    """One array of rows in a matrix file.

    ``key`` names it in the file, ``field`` in :class:`~ascendenv.compatibility.model.Matrix`; ``label`` is
    the column that tells rows apart. ``wide`` rows are written as sections, the others one a line.
    """

    key: str
    field: str
    row: type[Row]
    label: str
    wide: bool = False


TABLES: dict[str, tuple[Table, ...]] = {
    "torch_npu.toml": (
        Table("trains", "trains", Train, "train"),
        Table("compatibility", "compatibility", CompatibilityStatement, "trains"),
        Table("reports", "reports", ContradictingReport, "torch_npu"),
        Table("cuda_torch", "cuda_torch", CudaFromIndex, "arch"),
        Table("releases", "torch_npu", TorchNpuRelease, "torch_npu", wide=True),
    ),
    "cann.toml": (Table("releases", "cann", CannRelease, "cann"),),
    "driver.toml": (Table("support", "drivers", DriverSupport, "cann"),),
    "hardware.toml": (Table("socs", "socs", Soc, "soc"), Table("chips", "chips", Chip, "family", wide=True)),
    "python.toml": (Table("requirements", "requirements", RuntimeRequirement, "requirement"),),
    "indexes.toml": (Table("indexes", "indexes", PackageIndex, "name"),),
}
