"""torch_npu: its releases, their trains, what is declared compatible and what was reported to fail."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cached_property

from packaging.version import Version
from pydantic import Field, StrictBool

from ascendenv.compatibility.rows.base import (
    CannText,
    Columns,
    PackageVersion,
    PythonVersion,
    RequirementText,
    Row,
)
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, ChipFamily, SupportPhase


class WheelSupport(Columns):
    """For which Pythons and platforms one architecture's wheels of a torch_npu release exist."""

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


class UnpublishedRelease(Row):
    """A torch_npu version that a table names and no package index has."""

    torch_npu: PackageVersion
    torch: PackageVersion
    train: str | None = None
    cann: CannText | None = None


class TorchWithoutNpu(Row):
    """Versions of torch on the package index that no torch_npu was released for."""

    torch: tuple[PackageVersion, ...] = Field(min_length=1)


class TorchSupport(Row):
    """How long the vendor takes care of the torch_npu releases for one torch version.

    ``phase`` is where it was when the source was written; ``next_phase`` is announced for ``from_day``.
    """

    torch: PackageVersion
    phase: SupportPhase
    released: dt.date | None = None
    next_phase: SupportPhase | None = None
    from_day: dt.date | None = None
    ended: dt.date | None = None


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
