"""CANN: its releases and what they are made of, and the drivers that go with them."""

from __future__ import annotations

import datetime as dt

from pydantic import Field, StrictBool

from ascendenv.compatibility.rows.base import CannText, HdkText, PythonVersion, Row
from ascendenv.vocabulary import CannComponent, ChipFamily


class CannRelease(Row):
    """One CANN version: the Pythons, and the chip families that it has operator packages for."""

    cann: CannText
    python_min: PythonVersion | None = None
    python_max: PythonVersion | None = None
    chips: tuple[ChipFamily, ...] = ()
    innerversion: str | None = Field(
        None, description="what ascend_toolkit_install.info calls it; compare inside one generation only"
    )


class OpsMixing(Row):
    """Whether operator packages of one set of CANN versions run on toolkits of another."""

    ops: tuple[CannText, ...] = Field(min_length=1)
    toolkit: tuple[CannText, ...] = Field(min_length=1)
    allowed: StrictBool


class Subpackages(Row):
    """The parts that one CANN package is made of; one with a version of its own says it after a space."""

    cann: CannText
    component: CannComponent
    packages: tuple[str, ...] = Field(min_length=1)


class Deprecation(Row):
    """What the vendor has announced to end: from a CANN version on, or in releases after a day."""

    what: str
    since: CannText | None = None
    removed_after: dt.date | None = None


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


class DriverSeen(Row):
    """A driver and a CANN that were seen running together: a field report, not a statement of the vendor."""

    cann: tuple[CannText, ...] = Field(min_length=1)
    driver: HdkText
    chips: tuple[ChipFamily, ...] = ()
    hardware: str = ""
