"""What CANN and torch_npu need from Python without declaring it."""

from __future__ import annotations

from ascendenv.compatibility.rows.base import CannText, RequirementText, Row
from ascendenv.versions import CannVersion


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
