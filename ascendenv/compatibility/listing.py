"""Rows of the matrix, narrowed by what they speak of: what ``ascendenv matrix list`` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility import query
from ascendenv.compatibility.dump import content
from ascendenv.compatibility.model import Matrix, Row, TorchNpuRelease, all_tables
from ascendenv.compatibility.tables import Table
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, train_covers
from ascendenv.vocabulary import Arch, ChipFamily, Evidence

RELEASES = "torch_npu"


@dataclass(frozen=True)
class Axes:
    """What rows are narrowed by; ``None`` means anything. ``train`` may be a line such as ``26.1.X``."""

    cann: CannVersion | None = None
    torch: Version | None = None
    torch_npu: Version | None = None
    train: str | None = None
    arch: Arch | None = None
    python: str | None = None
    chip: ChipFamily | None = None

    def given(self) -> dict[str, Any]:
        """Those that are not ``None``, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


class ReleaseRow(BaseModel):
    """One torch_npu release in a list; ``pythons`` are those that wheels exist for, by architecture."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    torch_npu: str
    torch: str
    train: str
    cann: str | None
    pythons: Mapping[Arch, tuple[str, ...]]
    prerelease: bool
    evidence: Evidence


class ReleaseList(BaseModel):
    """The torch_npu releases, newest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    releases: tuple[ReleaseRow, ...]


class RowList(BaseModel):
    """Rows of another table, as they stand in the matrix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str
    rows: tuple[Mapping[str, Any], ...]


def release_list(releases: Iterable[TorchNpuRelease]) -> ReleaseList:
    """The given releases as rows, in their order."""
    return ReleaseList(releases=tuple(_release_row(release) for release in releases))


def _release_row(release: TorchNpuRelease) -> ReleaseRow:
    return ReleaseRow(
        torch_npu=release.torch_npu,
        torch=release.torch,
        train=release.train,
        cann=release.cann,
        pythons={arch: support.pythons for arch, support in release.wheels.items()},
        prerelease=release.prerelease,
        evidence=release.evidence,
    )


def list_rows(matrix: Matrix, name: str, axes: Axes) -> ReleaseList | RowList:
    """The rows of the table ``name`` that fit. Raises ``UsageError`` for an axis that it says nothing of."""
    table = find_table(name)
    if table.field == RELEASES:
        return release_list(query.select(matrix, **axes.given()))
    rows = [row for row in getattr(matrix, table.field) if _fits(table, row, axes)]
    return RowList(table=_name(table), rows=tuple(content(row) for row in rows))


def find_table(name: str) -> Table[Any]:
    """The table that ``name`` means, with hyphens or underscores."""
    tables = {_name(table): table for table in all_tables()}
    try:
        return tables[name.replace("_", "-")]
    except KeyError:
        raise query.unknown("table", name, tables) from None


def _name(table: Table[Any]) -> str:
    return table.field.replace("_", "-")


def _fits(table: Table[Any], row: Row, axes: Axes) -> bool:
    for axis, value in axes.given().items():
        columns, holds = _AXES[axis]
        if columns.isdisjoint(table.row.model_fields):
            usable = [
                name for name, (some, _) in _AXES.items() if not some.isdisjoint(table.row.model_fields)
            ]
            options = ", ".join(f"--{name.replace('_', '-')}" for name in usable)
            raise UsageError(
                f"{_name(table)} say nothing of --{axis.replace('_', '-')}",
                hint=f"they can be narrowed by {options}" if options else None,
            )
        if not holds(row, value):
            return False
    return True


def _texts(row: Row, *columns: str) -> tuple[str, ...]:
    """The values of these columns, one text or several; of a mapping its keys."""
    found: list[str] = []
    for column in columns:
        value = getattr(row, column, None)
        if value is not None:
            found += [value] if isinstance(value, str) else map(str, value)
    return tuple(found)


def _cann(row: Row, cann: CannVersion) -> bool:
    low, high = getattr(row, "cann_min", None), getattr(row, "cann_max", None)
    if (low is not None and cann < CannVersion(low)) or (high is not None and CannVersion(high) < cann):
        return False
    named = _texts(row, "cann", "ops", "toolkit")
    return not named or any(CannVersion(text).covers(cann) for text in named)


def _torch(row: Row, torch: Version) -> bool:
    low, high = getattr(row, "torch_min", None), getattr(row, "torch_max", None)
    if (low is not None and torch < Version(low)) or (high is not None and Version(high) < torch):
        return False
    named = _texts(row, "torch")
    return not named or Version(torch.public) in map(Version, named)


def _torch_npu(row: Row, version: Version) -> bool:
    bound = getattr(row, "releases", None)
    if bound is not None and not SpecifierSet(bound).contains(version, prereleases=True):
        return False
    named = _texts(row, "torch_npu")
    return not named or version in map(Version, named)


def _train(row: Row, train: str) -> bool:
    named = _texts(row, "train", "trains")
    return not named or any(train_covers(train, text) or train_covers(text, train) for text in named)


def _python(row: Row, python: str) -> bool:
    if getattr(row, "python", "") and not SpecifierSet(getattr(row, "python", "")).contains(python):
        return False
    low, high = getattr(row, "python_min", None), getattr(row, "python_max", None)
    wanted = Version(python)
    if (low is not None and wanted < Version(low)) or (high is not None and Version(high) < wanted):
        return False
    named = _texts(row, "pythons")
    return not named or python in named


def _named(*columns: str) -> Callable[[Row, object], bool]:
    def holds(row: Row, value: object) -> bool:
        named = [text.lower() for text in _texts(row, *columns)]
        return not named or str(value) in named

    return holds


_AXES: dict[str, tuple[set[str], Callable[[Row, Any], bool]]] = {
    "cann": ({"cann", "cann_min", "ops"}, _cann),
    "torch": ({"torch", "torch_min"}, _torch),
    "torch_npu": ({"torch_npu", "releases"}, _torch_npu),
    "train": ({"train", "trains"}, _train),
    "arch": ({"arch"}, _named("arch")),
    "python": ({"pythons", "python", "python_min"}, _python),
    "chip": ({"chips", "family"}, _named("chips", "family")),
}
