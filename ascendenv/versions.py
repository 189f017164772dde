"""Version numbers that PEP 440 does not cover.

``torch`` and ``torch_npu`` use :class:`packaging.version.Version`; CANN and the Ascend HDK (driver and
firmware) have spellings of their own, such as ``8.2.RC1.alpha003``, ``9.1.0-beta.1`` or ``25.0.rc1.1``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering

__all__ = ["CannVersion", "HdkVersion", "InvalidCannVersionError", "InvalidHdkVersionError"]


class InvalidCannVersionError(ValueError):
    """The text is not a CANN version."""


class InvalidHdkVersionError(ValueError):
    """The text is not a driver or firmware version."""


_CANN = re.compile(
    r"""(?P<major>\d+)\.(?P<minor>\d+)\.
        (?:(?P<patch>\d+|X)|RC(?P<rc>\d+)(?:\.(?P<rcpatch>\d+))?)
        (?:[.-](?P<stage>alpha|beta)\.?(?P<number>\d+))?""",
    re.VERBOSE | re.IGNORECASE,
)
_STAGES = {"alpha": 0, "beta": 1, "": 2}


@total_ordering
@dataclass(frozen=True, eq=False)
class CannVersion:
    """A CANN version. ``8.2.RC1.alpha003 < 8.2.RC1 < 8.2.0`` and ``9.1.0-beta.1 < 9.1.0``.

    ``9.1.X`` stands for every patch level of 9.1: it orders after all of them, and :meth:`covers` them.
    Raises :class:`InvalidCannVersionError` for anything else.
    """

    text: str
    _key: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        match = _CANN.fullmatch(self.text.strip())
        if match is None:
            raise InvalidCannVersionError(f"{self.text!r} is not a CANN version such as 9.1.0 or 8.2.RC1")
        object.__setattr__(self, "_key", _cann_key(match))

    @property
    def release_line(self) -> tuple[int, int]:
        """``(9, 1)`` for every 9.1 version."""
        return self._key[0], self._key[1]

    @property
    def is_wildcard(self) -> bool:
        """Whether this is a form like ``9.1.X``."""
        return self._key[3] == _ANY_PATCH

    @property
    def is_prerelease(self) -> bool:
        """Whether this is an alpha or a beta. (RC versions of CANN 8.x were ordinary releases.)"""
        return self._key[5] != _STAGES[""]

    def covers(self, other: CannVersion) -> bool:
        """Whether ``other`` is this version, or one of the patch levels that ``9.1.X`` stands for."""
        return self == other or (self.is_wildcard and self.release_line == other.release_line)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CannVersion) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: CannVersion) -> bool:
        return self._key < other._key


_ANY_PATCH = 10**9


def _cann_key(match: re.Match[str]) -> tuple[int, ...]:
    stage = (match["stage"] or "").lower()
    if match["rc"]:
        final, patch = 0, (int(match["rc"]), int(match["rcpatch"] or 0))
    else:
        wildcard = match["patch"].upper() == "X"
        final, patch = 1, (_ANY_PATCH if wildcard else int(match["patch"]), 0)
    return (int(match["major"]), int(match["minor"]), final, *patch, _STAGES[stage], int(match["number"] or 0))


_HDK = re.compile(
    r"(?P<major>\d+)\.(?P<minor>\d+)\.(?:(?P<patch>\d+|X)|rc(?P<rc>\d+))(?P<rest>(?:\.[a-z]?\d+)*)",
    re.IGNORECASE,
)


@total_ordering
@dataclass(frozen=True, eq=False)
class HdkVersion:
    """An Ascend HDK version (driver, firmware): ``24.1.rc3 < 24.1.0 < 25.0.RC1 < 25.0.rc1.1``.

    ``25.5.X`` covers every 25.5 version. Raises :class:`InvalidHdkVersionError` for anything else.
    """

    text: str
    _key: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        match = _HDK.fullmatch(self.text.strip())
        if match is None:
            raise InvalidHdkVersionError(f"{self.text!r} is not a driver version such as 25.5.1 or 24.1.rc3")
        rest = tuple(int(part.lstrip("abcdefghijklmnopqrstuvwxyz")) for part in match["rest"].lower().split(".")[1:])
        if match["rc"]:
            final, patch = 0, int(match["rc"])
        else:
            final, patch = 1, _ANY_PATCH if match["patch"].upper() == "X" else int(match["patch"])
        object.__setattr__(self, "_key", (int(match["major"]), int(match["minor"]), final, patch, *rest))

    @property
    def is_wildcard(self) -> bool:
        """Whether this is a form like ``25.5.X``."""
        return self._key[3] == _ANY_PATCH

    def covers(self, other: HdkVersion) -> bool:
        """Whether ``other`` is this version, or one of those that ``25.5.X`` stands for."""
        return self == other or (self.is_wildcard and self._key[:2] == other._key[:2])

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HdkVersion) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: HdkVersion) -> bool:
        return self._key < other._key
