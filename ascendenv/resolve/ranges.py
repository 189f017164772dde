"""Versions as people ask for them: an exact one, or bounds that several satisfy.

``2.7.1``, ``2.7.1.*``, ``>=2.9`` and ``>=2.9,<2.12`` are PEP 440 for ``torch`` and ``torch_npu``. CANN has
versions of its own, so it has ranges of its own, of the same form; there ``8.5`` stands for the whole line:
``>=8.5`` begins with its first release, ``<=8.5`` ends with its last.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion, InvalidCannVersionError

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_CLAUSE = re.compile(r"\s*(?P<operator>[<>=!]=|[<>])?\s*(?P<version>[\w.\-*]+)\s*", re.ASCII)
_LINE = re.compile(r"(?P<numbers>\d+(\.\d+)?)(\.[*X])?", re.ASCII | re.IGNORECASE)
_IS_RANGE = re.compile(r"[<>=!~,*]")


@dataclass(frozen=True)
class PackageRange:
    """Which versions of a Python package will do. Raises ``UsageError`` for what is no PEP 440."""

    text: str

    @cached_property
    def exact(self) -> Version | None:
        """The one version that is meant, with its label; ``None`` for a range."""
        text = self.text.strip().removeprefix("==").strip()
        if is_range(text):
            return None
        try:
            return Version(text)
        except InvalidVersion:
            raise _unreadable(self.text, "2.9.0, 2.7.1.* or '>=2.9,<2.12'") from None

    @property
    def names_previews(self) -> bool:
        """Whether it asks for previews: by a version that is one, as PEP 440 has it."""
        return bool(self._specifiers.prereleases)

    def admits(self, version: Version) -> bool:
        """Whether ``version`` will do; previews count like any other, labels such as ``+cpu`` do not."""
        return self._specifiers.contains(version.public, prereleases=True)

    def __str__(self) -> str:
        return self.text.strip() if self.exact is None else self.exact.public

    @cached_property
    def _specifiers(self) -> SpecifierSet:
        text = self.text.strip()
        if self.exact is not None:
            text = f"=={self.exact.public}"
        elif text[0].isdigit():
            text = f"=={text}"
        try:
            return SpecifierSet(text)
        except InvalidSpecifier:
            raise _unreadable(self.text, "2.9.0, 2.7.1.* or '>=2.9,<2.12'") from None


@dataclass(frozen=True)
class CannRange:
    """Which CANN versions will do. Raises ``UsageError`` for what cannot be read."""

    text: str

    @cached_property
    def exact(self) -> CannVersion | None:
        """The one version that is meant; ``None`` for a range."""
        (first, *others) = self._clauses
        is_exact = not others and first.operator == "==" and isinstance(first.bound, CannVersion)
        return first.bound if is_exact and isinstance(first.bound, CannVersion) else None

    @property
    def names_previews(self) -> bool:
        """Whether it asks for previews: by a version that is one."""
        bounds = (clause.bound for clause in self._clauses)
        return any(isinstance(bound, CannVersion) and bound.is_prerelease for bound in bounds)

    def admits(self, version: CannVersion) -> bool:
        """Whether ``version`` will do; previews count like any other."""
        return all(clause.admits(version) for clause in self._clauses)

    def __str__(self) -> str:
        return self.text.strip() if self.exact is None else str(self.exact)

    @cached_property
    def _clauses(self) -> tuple[_Clause, ...]:
        return tuple(_clause(part, self.text) for part in self.text.split(","))


@dataclass(frozen=True)
class _Clause:
    """One bound: a version, or the numbers of a line such as ``(8, 5)``."""

    operator: str
    bound: CannVersion | tuple[int, ...]

    def admits(self, version: CannVersion) -> bool:
        compare = _OPERATORS[self.operator]
        if isinstance(self.bound, CannVersion):
            return compare(version, self.bound)
        return compare(version.release_line[: len(self.bound)], self.bound)


def _clause(part: str, whole: str) -> _Clause:
    match = _CLAUSE.fullmatch(part)
    if match is None:
        raise _unreadable(whole, "9.1.0, 8.5.* or '>=8.5,<9.2'")
    line = _LINE.fullmatch(match["version"])
    if line is not None:
        numbers = tuple(int(number) for number in line["numbers"].split("."))
        return _Clause(match["operator"] or "==", numbers)
    try:
        return _Clause(match["operator"] or "==", CannVersion(match["version"]))
    except InvalidCannVersionError:
        raise _unreadable(whole, "9.1.0, 8.5.* or '>=8.5,<9.2'") from None


def _unreadable(text: str, examples: str) -> UsageError:
    return UsageError(f"{text!r} is neither a version nor a range of versions", hint=f"such as {examples}")


def is_range(text: str) -> bool:
    """Whether ``text`` has the form of bounds rather than of one version."""
    return _IS_RANGE.search(text) is not None


def is_line(text: str) -> bool:
    """Whether ``text`` names a whole line of CANN versions, such as ``9.1``."""
    return _LINE.fullmatch(text.strip()) is not None


@lru_cache(maxsize=256)
def package_range(text: str) -> PackageRange:
    """The range that ``text`` means, read once."""
    return PackageRange(text)


@lru_cache(maxsize=256)
def cann_range(text: str) -> CannRange:
    """The range that ``text`` means, read once."""
    return CannRange(text)


@lru_cache(maxsize=4096)
def parsed(version: str) -> Version:
    """A version of the matrix, read once: a plan compares each with many."""
    return Version(version)
