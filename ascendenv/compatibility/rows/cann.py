"""CANN: its releases, and the drivers that go with them."""

from __future__ import annotations

from ascendenv.compatibility.rows.base import CannText, HdkText, PythonVersion, Row
from ascendenv.vocabulary import ChipFamily


class CannRelease(Row):
    """One CANN version: the Pythons, and the chip families that it has operator packages for."""

    cann: CannText
    python_min: PythonVersion | None = None
    python_max: PythonVersion | None = None
    chips: tuple[ChipFamily, ...] = ()


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
