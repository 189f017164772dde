"""What the ``ascendenv matrix`` commands do, without a terminal: each returns data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from ascendenv.compatibility import query, why
from ascendenv.compatibility.listing import Axes, ReleaseList, RowList, list_rows
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.questions import question
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.drift.against import compare_with_table
from ascendenv.drift.compare import compare
from ascendenv.drift.model import Drift
from ascendenv.drift.read import snapshot
from ascendenv.errors import NetworkError, UsageError
from ascendenv.host.gather import gather
from ascendenv.resolve.target import parse_arch, parse_python


@dataclass(frozen=True)
class Narrowed:
    """The options of ``matrix list`` as they were typed."""

    cann: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    train: str | None = None
    arch: str | None = None
    python: str | None = None
    chip: str | None = None


def rows(table: str, narrowed: Narrowed) -> ReleaseList | RowList:
    """``ascendenv matrix list``."""
    matrix = load()
    return list_rows(matrix, table, _axes(matrix, narrowed))


def _axes(matrix: Matrix, narrowed: Narrowed) -> Axes:
    return Axes(
        cann=query.parse_cann(matrix, narrowed.cann) if narrowed.cann else None,
        torch=_version("torch", narrowed.torch),
        torch_npu=_version("torch_npu", narrowed.torch_npu),
        train=narrowed.train,
        arch=parse_arch(narrowed.arch) if narrowed.arch else None,
        python=parse_python(matrix, narrowed.python) if narrowed.python else None,
        chip=query.parse_chip(matrix, narrowed.chip) if narrowed.chip else None,
    )


def _version(name: str, text: str | None) -> Version | None:
    try:
        return None if text is None else Version(text)
    except InvalidVersion:
        raise UsageError(f"{text!r} is no version of {name}", hint="such as 2.7.1") from None


def explain(subject: str, *, arch: str | None, python: str | None, chip: str | None) -> why.Explanation:
    """``ascendenv matrix why``."""
    matrix = load()
    target = {
        "arch": str(parse_arch(arch)) if arch else None,
        "python": parse_python(matrix, python) if python else None,
        "chip": chip,
    }
    return why.why(matrix, question(matrix, parse_subjects(matrix, subject), **target))


def check(against: Path | None, *, offline: bool) -> Drift:
    """``ascendenv matrix check``: with the package index, or with a table in a file."""
    matrix = load()
    if against is not None:
        return compare_with_table(matrix, _read(against), str(against))
    if offline:
        raise NetworkError(
            "the package index is needed to compare the matrix with it",
            hint="leave out --offline, or compare with a public table: --against FILE",
        )
    return compare(matrix, snapshot(matrix, gather(matrix).pip))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"{file} cannot be read: {reason}", hint="--against takes a Markdown file") from None
