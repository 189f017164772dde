"""Chips, their SoCs and boards, and the families that other rows speak of."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ascendenv.compatibility.check.place import placed
from ascendenv.compatibility.model import Chip, Matrix


def mistakes(matrix: Matrix) -> Iterator[str]:
    """What does not fit between chip families and the rows about them."""
    trains = {train.train for train in matrix.trains}
    for place, chip in placed("chips", matrix.chips):
        yield from (f"{place}: {mistake}" for mistake in _of_its_socs(chip))
        for train in {chip.first_train, *chip.soc_first_train.values()} - {None} - trains:
            yield f"{place}: first_train: {train!r} is not among the trains"
    socs = {soc for chip in matrix.chips for soc in chip.socs}
    for place, soc in placed("socs", matrix.socs):
        if soc.soc not in socs:
            yield f"{place}: soc: is not among the SoCs of any chip family"
    yield from _families(matrix)


def _of_its_socs(chip: Chip) -> Iterator[str]:
    for soc in chip.soc_first_train.keys() - set(chip.socs):
        yield f"soc_first_train.{soc}: is not among the SoCs of the family"
    for pattern in chip.soc_versions:
        if not any(fnmatchcase(soc, pattern) for soc in chip.socs):
            yield f"soc_versions.{pattern}: is not among the SoCs of the family"


def _families(matrix: Matrix) -> Iterator[str]:
    families = {chip.family for chip in matrix.chips}
    for field, column in (
        ("cann", "chips"),
        ("drivers_seen", "chips"),
        ("package_names", "chips"),
        ("package_folders", "chips"),
    ):
        for place, row in placed(field, getattr(matrix, field)):
            for family in set(getattr(row, column)) - families:
                yield f"{place}: {column}: {family} has no row in hardware.toml"
    for place, boards in placed("boards", matrix.boards):
        if boards.family not in families:
            yield f"{place}: family: {boards.family} has no row among the chips"
