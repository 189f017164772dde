"""What must hold between the rows of a matrix, beyond the schema of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from packaging.version import Version

from ascendenv.compatibility.model import Matrix, Row, TorchNpuRelease, Train
from ascendenv.compatibility.tables import Table
from ascendenv.versions import CannVersion

RowT = TypeVar("RowT", bound=Row)


def mistakes(matrix: Matrix) -> Iterator[str]:
    """Every contradiction inside ``matrix``, as ``matrix/FILE: ROW: KEY: what is wrong``."""
    yield from _twice("torch_npu", matrix.torch_npu, lambda row: (row.version,))
    yield from _twice("trains", matrix.trains, lambda row: (row.train,))
    yield from _twice("cann", matrix.cann, lambda row: (CannVersion(row.cann),))
    yield from _twice("drivers", matrix.drivers, lambda row: (CannVersion(row.cann),))
    yield from _twice("indexes", matrix.indexes, lambda row: (row.name,))
    yield from _twice("socs", matrix.socs, lambda row: (row.soc.lower(),))
    yield from _twice("chips", matrix.chips, lambda row: (row.family, *map(str.lower, row.socs)))
    yield from _releases(matrix)
    yield from _cann_references(matrix)
    yield from _chips(matrix)
    yield from _indexes(matrix)


def where(table: Table[Any], index: int, raw: object) -> str:
    """``releases[12] (torch_npu 2.7.1.post8)``: names a row by place and by what it speaks of."""
    label = raw.get(table.label) if isinstance(raw, dict) else getattr(raw, table.label, None)
    if isinstance(label, Sequence) and not isinstance(label, str):
        label = ", ".join(map(str, label))
    return f"{table.key}[{index}]" + (f" ({table.label} {label})" if label else "")


def _place(field: str, index: int, row: Row) -> str:
    table: Table[Any] = getattr(Matrix, field)
    return f"matrix/{table.file}: {where(table, index, row)}"


def _twice(field: str, rows: Sequence[RowT], names: Callable[[RowT], Iterable[Hashable]]) -> Iterator[str]:
    counts = Counter(name for row in rows for name in names(row))
    for index, row in enumerate(rows):
        for name in names(row):
            if counts[name] > 1:
                yield f"{_place(field, index, row)}: {name} is there {counts[name]} times"


def _releases(matrix: Matrix) -> Iterator[str]:
    trains = {train.train: train for train in matrix.trains}
    for index, release in enumerate(matrix.torch_npu):
        place = _place("torch_npu", index, release)
        train = trains.get(release.train)
        if train is not None:
            yield from (f"{place}: {mistake}" for mistake in _against_train(release, train))
        elif not release.prerelease:
            yield f"{place}: train: {release.train!r} is not among the trains"
        if release.prerelease != release.version.is_prerelease:
            yield f"{place}: prerelease: {release.torch_npu} says the opposite"
        if release.version.release != Version(release.torch).release:
            yield f"{place}: torch: {release.torch} is not what {release.torch_npu} is named after"


def _against_train(release: TorchNpuRelease, train: Train) -> Iterator[str]:
    if release.torch not in train.torch:
        yield f"torch: train {train.train} does not list torch {release.torch}"
    if release.cann != train.cann:
        yield f"cann: train {train.train} was released with CANN {train.cann}, not {release.cann}"


def _cann_references(matrix: Matrix) -> Iterator[str]:
    known = [CannVersion(row.cann) for row in matrix.cann]
    for index, train in enumerate(matrix.trains):
        if not _is_known(train.cann, known):
            yield f"{_place('trains', index, train)}: cann: {train.cann} has no row in cann.toml"
    for index, release in enumerate(matrix.torch_npu):
        if release.cann is not None and not _is_known(release.cann, known):
            yield f"{_place('torch_npu', index, release)}: cann: {release.cann} has no row in cann.toml"


def _is_known(text: str, known: Iterable[CannVersion]) -> bool:
    cann = CannVersion(text)
    return any(cann.covers(version) for version in known)


def _chips(matrix: Matrix) -> Iterator[str]:
    trains = {train.train for train in matrix.trains}
    for index, chip in enumerate(matrix.chips):
        place = _place("chips", index, chip)
        for soc in chip.soc_first_train.keys() - set(chip.socs):
            yield f"{place}: soc_first_train.{soc}: is not among the SoCs of the family"
        for train in {chip.first_train, *chip.soc_first_train.values()} - {None} - trains:
            yield f"{place}: first_train: {train!r} is not among the trains"
    socs = {soc for chip in matrix.chips for soc in chip.socs}
    for index, row in enumerate(matrix.socs):
        if row.soc not in socs:
            yield f"{_place('socs', index, row)}: soc: is not among the SoCs of any chip family"
    families = {chip.family for chip in matrix.chips}
    for index, release in enumerate(matrix.cann):
        for family in set(release.chips) - families:
            yield f"{_place('cann', index, release)}: chips: {family} has no row in hardware.toml"


def _indexes(matrix: Matrix) -> Iterator[str]:
    names = {row.name for row in matrix.indexes}
    for index, row in enumerate(matrix.indexes):
        if row.mirror_of is not None and row.mirror_of not in names:
            yield f"{_place('indexes', index, row)}: mirror_of: {row.mirror_of!r} is not among the indexes"
    if sum(row.url is None for row in matrix.indexes) != 1:
        yield "matrix/indexes.toml: indexes: exactly one row stands for the default index and has no url"
