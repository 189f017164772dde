"""Whether a driver goes with a CANN, also where the vendor's list for that CANN was not found."""

from __future__ import annotations

from dataclasses import replace

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.query import DriverJudgement
from ascendenv.versions import CannVersion, HdkVersion, InvalidHdkVersionError
from ascendenv.vocabulary import Evidence


def parse_driver(text: str | None) -> HdkVersion | None:
    """The driver's version; one of a form that nobody knows cannot be held against anything."""
    try:
        return None if text is None else HdkVersion(text)
    except InvalidHdkVersionError:
        return None


def judge_driver(matrix: Matrix, cann: CannVersion, driver: HdkVersion) -> DriverJudgement:
    """What the vendor's lists say, or what follows from those of older CANN: floors do not sink again."""
    told = query.driver_support(matrix, cann, driver)
    if told.supported is not None or told.minimum is not None:
        return told
    for older in query.cann_versions(matrix):
        if older < cann and not older.is_prerelease:
            before = query.driver_support(matrix, older, driver)
            if before.minimum is not None:
                break
    else:
        return told
    if driver >= before.minimum:
        return told
    floor = f"CANN {older}, which came before, allows ({before.minimum} or newer)"
    because = f"driver {driver} is older than {floor}"
    return replace(before, supported=False, because=because, evidence=Evidence.INFERRED, minimum=None)


def driver_for(matrix: Matrix, cann: CannVersion) -> str | None:
    """The driver that the vendor released with a CANN, else the oldest that it lists for it."""
    rows = query.driver_rows(matrix, cann)
    named = [row.paired for row in rows if row.paired] + [row.minimum for row in rows if row.minimum]
    for driver in map(HdkVersion, named):
        if not driver.is_wildcard and judge_driver(matrix, cann, driver).supported:
            return str(driver)
    return None


def listed_drivers(matrix: Matrix, cann: CannVersion) -> tuple[str, ...]:
    """The drivers that the vendor lists for a CANN."""
    rows = query.driver_rows(matrix, cann)
    paired = (row.paired for row in rows if row.paired)
    return tuple(dict.fromkeys((*paired, *(driver for row in rows for driver in row.works_with))))
