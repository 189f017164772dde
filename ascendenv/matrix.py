"""What the ``ascendenv matrix`` commands do, without a terminal: each returns data."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from ascendenv.compatibility import query, why
from ascendenv.compatibility.listing import Axes, ReleaseList, RowList, list_rows
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.questions import question
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.errors import UsageError
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
