"""What CANN and torch_npu need from Python without declaring it."""

from __future__ import annotations

from pydantic import Field

from ascendenv.compatibility.rows.base import (
    CannText,
    PackageVersion,
    PythonVersion,
    RequirementText,
    Row,
    SpecifierText,
)
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch


class ForCann(Row):
    """A row for a range of CANN versions: both bounds are inclusive, an absent one is open."""

    cann_min: CannText | None = None
    cann_max: CannText | None = None

    def applies_to(self, cann: CannVersion) -> bool:
        """Whether the row holds for this CANN version."""
        above = self.cann_min is None or CannVersion(self.cann_min) <= cann
        below = self.cann_max is None or cann <= CannVersion(self.cann_max)
        return above and below


class RuntimeRequirement(ForCann):
    """A Python package that CANN or torch_npu needs at run time without declaring it."""

    requirement: RequirementText
    needed_by: str
    because: str


class ToolRequirement(ForCann):
    """What a component needs of the machine: ``tool`` is gcc, glibc, cmake or python.

    ``when`` is ``run`` or ``build``. For torch_npu, ``releases`` says which of its versions, ``arch`` where.
    """

    tool: str
    requirement: SpecifierText
    needed_by: str
    when: str = "run"
    arch: Arch | None = None
    releases: SpecifierText | None = None


class TorchPythons(Row):
    """The Pythons that the vendor's table states for a torch version, whatever wheels there are."""

    torch: PackageVersion
    pythons: tuple[PythonVersion, ...] = Field(min_length=1)
