"""The shapes of the rows in ``matrix/*.toml``.

Every row refuses unknown keys and carries where it is known from (``source``) and how well (``evidence``).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

from packaging.requirements import Requirement
from packaging.version import Version
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool

from ascendenv.versions import CannVersion, HdkVersion
from ascendenv.vocabulary import Arch, ChipFamily, Evidence


def _parses_as(parser: type[Version | CannVersion | HdkVersion | Requirement]) -> AfterValidator:
    def check(text: str) -> str:
        parser(text)
        return text

    return AfterValidator(check)


PackageVersion = Annotated[str, _parses_as(Version)]
CannText = Annotated[str, _parses_as(CannVersion)]
HdkText = Annotated[str, _parses_as(HdkVersion)]
RequirementText = Annotated[str, _parses_as(Requirement)]
PythonVersion = Annotated[str, Field(pattern=r"^3\.\d+$")]


class Row(BaseModel):
    """What all rows share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence: Evidence
    source: str = Field(min_length=1, description="where the fact is written down")
    note: str = ""


class WheelSupport(BaseModel):
    """For which Pythons and platforms one architecture's wheels of a torch_npu release exist."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pythons: tuple[PythonVersion, ...] = Field(min_length=1)
    platforms: tuple[str, ...] = Field(min_length=1)
    requires: tuple[RequirementText, ...] = ()


class TorchNpuRelease(Row):
    """One torch_npu version on the package index, and the CANN that it was released with (a *pairing*)."""

    torch_npu: PackageVersion
    torch: PackageVersion
    train: str
    cann: CannText | None = None
    prerelease: StrictBool
    uploaded: dt.date
    wheels: Mapping[Arch, WheelSupport] = Field(min_length=1)

    @cached_property
    def version(self) -> Version:
        """The version, for ordering."""
        return Version(self.torch_npu)

    @cached_property
    def cann_version(self) -> CannVersion | None:
        """The CANN that it was released with, if that is known."""
        return None if self.cann is None else CannVersion(self.cann)


class Train(Row):
    """A torch_npu release train: one release over several torch versions.

    Previews have trains of their own that no table lists; they stand in the releases only.
    """

    train: str
    cann: CannText
    released: dt.date | None = None
    torch: tuple[PackageVersion, ...] = Field(min_length=1)


class CompatibilityStatement(Row):
    """A vendor table that calls every listed train compatible with every listed CANN.

    Trains and CANN versions may be whole lines: ``26.1.X``, ``9.1.X``.
    """

    trains: tuple[str, ...] = Field(min_length=1)
    cann: tuple[CannText, ...] = Field(min_length=1)


class ContradictingReport(Row):
    """A field report of a failure inside what a vendor table calls compatible.

    ``torch_npu`` is that one version, never its line: where 2.7.1 fails, 2.7.1.post4 is the vendor's pair.
    ``chips`` and ``pythons`` bound what the report speaks of; empty means all of them.
    """

    torch_npu: PackageVersion
    cann: CannText
    hardware: str = ""
    chips: tuple[ChipFamily, ...] = ()
    pythons: tuple[PythonVersion, ...] = ()
    symptom: str


class CannRelease(Row):
    """One CANN version: the Pythons, and the chip families that it has operator packages for."""

    cann: CannText
    python_min: PythonVersion | None = None
    python_max: PythonVersion | None = None
    chips: tuple[ChipFamily, ...] = ()


class RuntimeRequirement(Row):
    """A Python package that CANN or torch_npu needs at run time without declaring it.

    ``cann_min`` and ``cann_max`` bound the CANN versions it holds for (both inclusive, absent = open).
    """

    requirement: RequirementText
    needed_by: str
    because: str
    cann_min: CannText | None = None
    cann_max: CannText | None = None

    def applies_to(self, cann: CannVersion) -> bool:
        """Whether the row holds for this CANN version."""
        above = self.cann_min is None or CannVersion(self.cann_min) <= cann
        below = self.cann_max is None or cann <= CannVersion(self.cann_max)
        return above and below


class Chip(Row):
    """One NPU chip family. ``also_called`` holds the names that people use, such as 910C for an A3."""

    family: ChipFamily
    title: str
    socs: tuple[str, ...] = Field(min_length=1)
    npu_smi_names: tuple[str, ...] = ()
    also_called: tuple[str, ...] = ()
    pci_device: Annotated[str, Field(pattern=r"^0x[0-9a-f]{4}$")] | None = None
    products: tuple[str, ...] = ()
    cann_since: CannText | None = None
    first_train: str | None = Field(
        None, description="first torch_npu train that knows the family; absent = none does"
    )
    soc_first_train: Mapping[str, str] = Field(
        {}, description="SoCs that torch_npu learned later than the rest of the family"
    )


class Soc(Row):
    """What one SoC has, as CANN's own platform file of it states."""

    soc: str
    cube_cores: int = Field(gt=0)
    vector_cores: int = Field(ge=0)
    l2_mib: int = Field(gt=0)
    cann_since: CannText | None = Field(None, description="the first CANN that has its file, if known")


class DriverSupport(Row):
    """Which Ascend HDK (driver and firmware) versions the vendor lists for a CANN version or line.

    Pairs are stated for one CANN, the ``minimum`` often for a line (``9.1.X``): several rows may speak of
    one CANN.
    """

    cann: CannText
    paired: HdkText | None = None
    works_with: tuple[HdkText, ...] = ()
    excluded: tuple[HdkText, ...] = ()
    minimum: HdkText | None = None


class PackageIndex(Row):
    """A Python package index. ``url`` is absent for the installer's own default index."""

    name: str
    url: Annotated[str, Field(pattern=r"^https://")] | None = None
    has: tuple[str, ...] = Field((), description="projects that are looked for there; none = only known of")
    order: int = Field(description="smaller is tried first")
    mirror_of: str | None = Field(None, description="name of the index that this one copies")


class CudaFromIndex(Row):
    """Which torch wheels of the default index are CUDA builds, that torch_npu refuses to run beside."""

    arch: Arch
    torch_min: PackageVersion | None = None
    torch_max: PackageVersion | None = None

    def applies_to(self, torch: Version) -> bool:
        """Whether the default index's wheel of this torch version is a CUDA build."""
        above = self.torch_min is None or Version(self.torch_min) <= torch
        below = self.torch_max is None or torch <= Version(self.torch_max)
        return above and below


class Matrix(BaseModel):
    """All that is known, as loaded from ``matrix/*.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    torch_npu: tuple[TorchNpuRelease, ...]
    trains: tuple[Train, ...]
    compatibility: tuple[CompatibilityStatement, ...]
    reports: tuple[ContradictingReport, ...]
    cann: tuple[CannRelease, ...]
    requirements: tuple[RuntimeRequirement, ...]
    chips: tuple[Chip, ...]
    socs: tuple[Soc, ...]
    drivers: tuple[DriverSupport, ...]
    indexes: tuple[PackageIndex, ...]
    cuda_torch: tuple[CudaFromIndex, ...]
