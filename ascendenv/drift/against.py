"""The matrix against public tables in Markdown: the vendor's compatibility page, vllm-ascend's policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import ExtensionRelease, Matrix
from ascendenv.drift.model import Difference, Drift, Kind
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, InvalidCannVersionError

Cells = Mapping[str, str]
_VLLM_ASCEND = "vllm-ascend"


@dataclass(frozen=True)
class _Shape:
    """A kind of table that is understood: by the words that its columns are headed with."""

    columns: Mapping[str, str]
    compare: Callable[[Matrix, Cells], Iterator[Difference]]

    def read(self, heads: list[str]) -> dict[str, int] | None:
        """Where each column stands, if the table has them all."""
        found = {}
        for name, pattern in self.columns.items():
            places = [index for index, head in enumerate(heads) if re.search(pattern, head, re.IGNORECASE)]
            if not places:
                return None
            found[name] = places[0]
        return found


def compare_with_table(matrix: Matrix, text: str, place: str) -> Drift:
    """Where the tables of ``text`` disagree with the matrix, and with the wheels that there are.

    Raises :class:`~ascendenv.errors.UsageError` when no table of a known kind is in it.
    """
    rows = list(_rows(text))
    if not rows:
        heads = "; ".join(", ".join(shape.columns) for shape in _SHAPES)
        raise UsageError(
            f"no table that is understood is in {place}", hint=f"tables need columns for: {heads}"
        )
    index = next(row for row in matrix.indexes if row.url is None)
    return Drift(
        compared_with=place,
        day=index.read or max(row.uploaded for row in matrix.torch_npu),
        compared=len(rows),
        differences=tuple(difference for shape, cells in rows for difference in shape.compare(matrix, cells)),
    )


def _rows(text: str) -> Iterator[tuple[_Shape, Cells]]:
    """The rows of every table that is understood, cell by column."""
    shape, places = None, None
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            shape = places = None
            continue
        cells = [_plain(cell) for cell in line.strip().strip("|").split("|")]
        if shape is None or places is None:
            shape, places = _shape_of(cells)
        elif max(places.values()) < len(cells) and not set("".join(cells)) <= set("-: "):
            yield shape, {name: cells[place] for name, place in places.items()}


def _shape_of(heads: list[str]) -> tuple[_Shape | None, dict[str, int] | None]:
    for shape in _SHAPES:
        places = shape.read(heads)
        if places is not None:
            return shape, places
    return None, None


def _plain(cell: str) -> str:
    """A cell without the marks of Markdown."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)
    return re.sub(r"[`*]", "", text).strip()


def _torch_npu(matrix: Matrix, cells: Cells) -> Iterator[Difference]:
    """A row of the vendor's table: a torch_npu version, its torch and its CANN."""
    version = _version(cells["torch_npu"])
    if version is None:
        return
    subject = f"torch_npu {version}"
    released = next((row for row in matrix.torch_npu if row.version == version), None)
    row = released or next((row for row in matrix.unpublished if Version(row.torch_npu) == version), None)
    if row is None:
        yield _difference(subject, "no row, and no wheel on the index", "listed")
        return
    cann = _cann(cells["cann"])
    if cann is not None and (row.cann is None or CannVersion(row.cann) != cann):
        yield _difference(subject, f"CANN {row.cann or 'not stated'}", f"CANN {cann}")
    torch = _version(cells["torch"])
    if torch is not None and torch != Version(row.torch):
        yield _difference(subject, f"torch {row.torch}", f"torch {torch}")
    if released is None:
        yield _difference(subject, "no wheel on the index", "listed")


def _pythons(matrix: Matrix, cells: Cells) -> Iterator[Difference]:
    """A row of the vendor's table of torch versions and Pythons."""
    torch = _version(cells["torch"].lower().replace("pytorch", ""))
    if torch is None:
        return
    stated = dict.fromkeys(re.findall(r"3\.\d+", re.sub(r"\([^)]*\)", "", cells["python"])))
    row = next((row for row in matrix.torch_pythons if row.torch == str(torch)), None)
    here = () if row is None else row.pythons
    if set(here) != set(stated):
        yield _difference(f"torch {torch}, Pythons stated", ", ".join(here) or "no row", ", ".join(stated))
    releases = query.select(matrix, torch=torch)
    built = {p for release in releases for wheels in release.wheels.values() for p in wheels.pythons}
    if releases and built != set(stated):
        wheels = ", ".join(sorted(built, key=Version))
        yield _difference(f"torch {torch}, wheels of torch_npu", wheels, ", ".join(stated))


def _vllm_ascend(matrix: Matrix, cells: Cells) -> Iterator[Difference]:
    """A row of vllm-ascend's policy: the stack that a release asks for."""
    version = _version(cells["vllm_ascend"])
    if version is None:
        return
    subject = f"{_VLLM_ASCEND} {version}"
    rows = [row for row in matrix.extensions if row.package == _VLLM_ASCEND and row.parsed == version]
    if not rows:
        yield _difference(subject, "no row", "listed")
        return
    stack = [part.strip() for part in cells["stack"].split("/")]
    cann = _cann(cells["cann"])
    if cann is not None and cann not in map(CannVersion, rows[0].cann):
        yield _difference(subject, f"CANN {', '.join(rows[0].cann)}", f"CANN {cann}")
    yield from _stack(matrix, subject, rows[0], stack)


def _stack(matrix: Matrix, subject: str, row: ExtensionRelease, stack: list[str]) -> Iterator[Difference]:
    torch = _version(stack[0])
    if torch is not None and str(torch) not in row.torch:
        yield _difference(subject, f"torch {', '.join(row.torch)}", f"torch {torch}")
    pin = _version(stack[1]) if len(stack) > 1 else None
    if pin is None:
        return
    if row.torch_npu is None or Version(row.torch_npu) != pin:
        yield _difference(subject, f"torch_npu {row.torch_npu or 'not stated'}", f"torch_npu {pin}")
    if pin not in {release.version for release in matrix.torch_npu}:
        yield _difference(subject, f"torch_npu {pin} is on no index", f"torch_npu {pin}")


def _version(text: str) -> Version | None:
    """What a cell begins with: behind it tables remark things such as ``(beta)``."""
    written = re.match(r"v?(\d[0-9A-Za-z.+]*)", text.strip())
    try:
        return None if written is None else Version(written[1])
    except InvalidVersion:
        return None


def _cann(text: str) -> CannVersion | None:
    try:
        return CannVersion(text.upper().replace("CANN", "").strip())
    except InvalidCannVersionError:
        return None


def _difference(subject: str, here: str, there: str) -> Difference:
    return Difference(kind=Kind.TABLE_DISAGREES, subject=subject, matrix=here, there=there)


_SHAPES = (
    _Shape(
        {"vllm_ascend": "vllm.ascend", "cann": "cann", "stack": "torch.*torch_npu"},
        _vllm_ascend,
    ),
    _Shape(
        {"torch_npu": "torch.?npu.*(package|version|安装包)", "torch": "pytorch", "cann": "cann"}, _torch_npu
    ),
    _Shape({"torch": "pytorch", "python": r"^python"}, _pythons),
)
