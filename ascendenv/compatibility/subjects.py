"""What people ask about: ``torch_npu==2.7.1.post8``, ``cann 9.1.0``, ``triton-ascend 3.2.1``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.query import chip_names, torch_versions, unknown
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, InvalidCannVersionError

KINDS = ("torch_npu", "torch", "train", "cann", "chip")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\s*(?:==|=|\s)\s*([^\s=]\S*)")


@dataclass(frozen=True)
class Subject:
    """One thing by kind and name: ``kind`` is one of :data:`KINDS`, or the project of an extension."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{'CANN' if self.kind == 'cann' else self.kind} {self.name}"


def parse_subjects(matrix: Matrix, text: str) -> tuple[Subject, ...]:
    """The subjects that ``text`` names one after the other; ``==``, ``=`` and blanks are the same.

    Raises :class:`~ascendenv.errors.UsageError` for what has another form, or is of no known kind. Whether
    there is something of that name is another question.
    """
    rest, found = text.strip(), []
    while match := _PAIR.match(rest):
        found.append(Subject(_kind(matrix, match[1]), match[2]))
        rest = rest[match.end() :].strip()
    if rest or not found:
        raise UsageError(
            f"{rest or text!r} names nothing in the matrix",
            hint="say for example `cann 9.1.0`, `chip 910b` or `torch==2.7.1`",
        )
    return tuple(found)


def _kind(matrix: Matrix, word: str) -> str:
    kinds = {canonicalize_name(kind): kind for kind in (*KINDS, *extension_projects(matrix))}
    try:
        return kinds[canonicalize_name(word)]
    except KeyError:
        raise unknown("subject", word, kinds.values()) from None


def extension_projects(matrix: Matrix) -> Sequence[str]:
    """The projects that the matrix knows beside torch_npu."""
    return [row.package for row in matrix.extension_projects]


def exists(matrix: Matrix, text: str) -> bool:
    """Whether ``text`` names one thing that the matrix has a row of."""
    try:
        (subject,) = parse_subjects(matrix, text)
    except (UsageError, ValueError):
        return False
    known = _NAMES.get(subject.kind)
    return _is_extension_release(matrix, subject) if known is None else known(matrix, subject.name)


def _is_cann(matrix: Matrix, text: str) -> bool:
    try:
        cann = CannVersion(text)
    except InvalidCannVersionError:
        return False
    return any(CannVersion(row.cann) == cann for row in matrix.cann)


def _is_extension_release(matrix: Matrix, subject: Subject) -> bool:
    return any(row.package == subject.kind and row.version == subject.name for row in matrix.extensions)


_NAMES: dict[str, Callable[[Matrix, str], bool]] = {
    "torch_npu": lambda matrix, name: any(row.torch_npu == name for row in matrix.torch_npu),
    "torch": lambda matrix, name: name in map(str, torch_versions(matrix)),
    "train": lambda matrix, name: any(row.train == name for row in matrix.trains),
    "cann": _is_cann,
    "chip": lambda matrix, name: name.casefold() in chip_names(matrix),
}
