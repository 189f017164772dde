"""Version numbers that PEP 440 does not cover.

``torch`` and ``torch_npu`` use :class:`packaging.version.Version`; CANN, the Ascend HDK (driver and firmware)
and the torch_npu release trains have spellings of their own, such as ``8.2.RC1.alpha003``, ``9.1.0-beta.1``,
``25.0.rc1.1`` or ``7.2.0.1``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering

__all__ = [
    "CannVersion",
    "HdkVersion",
    "InvalidCannVersionError",
    "InvalidHdkVersionError",
    "train_covers",
    "train_key",
]


class InvalidCannVersionError(ValueError):
    """The text is not a CANN version."""


class InvalidHdkVersionError(ValueError):
    """The text is not a driver or firmware version."""


_CANN = re.compile(
    r"""(?P<major>\d+)\.(?P<minor>\d+)\.
        (?:(?P<any>X)|(?:(?P<patch>\d+)|RC(?P<rc>\d+)(?:\.(?P<rcpatch>\d+))?)
        (?:[.-](?P<stage>alpha|beta)\.?(?P<number>\d+))?)""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_STAGES = {"alpha": 0, "beta": 1, "": 2}


@total_ordering
@dataclass(frozen=True, eq=False)
class CannVersion:
    """A CANN version. ``8.2.RC1.alpha003 < 8.2.RC1 < 8.2.0`` and ``9.1.0-beta.1 < 9.1.0``.

    ``9.1.X`` stands for every release of 9.1: it orders after all of them, and :meth:`covers` them.
    Letter case and the dot or hyphen before ``beta`` do not matter.
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
        """Whether this is an alpha or a beta. RC versions of CANN 8.x were ordinary releases."""
        return self._key[5] != _STAGES[""]

    def covers(self, other: CannVersion) -> bool:
        """Whether ``other`` is this version, or one of the releases that ``9.1.X`` stands for.

        A wildcard covers RC releases, but neither alphas nor betas: tables that say ``9.1.X`` speak of
        releases.
        """
        in_line = self.is_wildcard and self.release_line == other.release_line and not other.is_prerelease
        return self == other or in_line

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
    if match["rc"]:
        final, patch = 0, (int(match["rc"]), int(match["rcpatch"] or 0))
    else:
        final, patch = 1, (_ANY_PATCH if match["any"] else int(match["patch"]), 0)
    stage = _STAGES[(match["stage"] or "").lower()]
    return (int(match["major"]), int(match["minor"]), final, *patch, stage, int(match["number"] or 0))


_HDK = re.compile(
    r"""(?P<major>\d+)\.(?P<minor>\d+)\.
        (?:(?P<any>X)|(?:(?P<patch>\d+)|rc(?P<rc>\d+))(?P<rest>(?:\.b?\d+)*))""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


@total_ordering
@dataclass(frozen=True, eq=False)
class HdkVersion:
    """An Ascend HDK version (driver, firmware): ``24.1.rc3 < 24.1.0 < 25.0.RC1 < 25.0.rc1.1``.

    A part like ``b083`` counts builds: ``24.1.rc3 < 24.1.rc3.b999 < 24.1.rc3.1``.
    ``25.5.X`` covers every 25.5 version. Raises :class:`InvalidHdkVersionError` for anything else.
    """

    text: str
    _key: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        match = _HDK.fullmatch(self.text.strip())
        if match is None:
            raise InvalidHdkVersionError(f"{self.text!r} is not a driver version such as 25.5.1 or 24.1.rc3")
        object.__setattr__(self, "_key", _hdk_key(match))

    @property
    def is_wildcard(self) -> bool:
        """Whether this is a form like ``25.5.X``."""
        return self._key[3] == _ANY_PATCH

    def covers(self, other: HdkVersion) -> bool:
        """Whether ``other`` is this version, a respin of it, or one of those that ``25.5.X`` stands for.

        ``25.7.RC1`` covers ``25.7.rc1.6``: vendor tables name the release, machines run its respins.
        """
        in_line = self.is_wildcard and self._key[:2] == other._key[:2]
        return in_line or other._key[: len(self._key)] == self._key

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HdkVersion) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: HdkVersion) -> bool:
        return self._key < other._key


def _hdk_key(match: re.Match[str]) -> tuple[int, ...]:
    if match["rc"]:
        final, patch = 0, int(match["rc"])
    else:
        final, patch = 1, _ANY_PATCH if match["any"] else int(match["patch"])
    key = [int(match["major"]), int(match["minor"]), final, patch]
    for part in (match["rest"] or "").lower().split(".")[1:]:
        key += [0, int(part[1:])] if part.startswith("b") else [1, int(part)]
    return tuple(key)


_TRAIN = re.compile(
    r"(?P<major>\d+)\.(?P<minor>\d+)\.(?P<rc>rc)?(?P<patch>\d+)(?:\.(?P<sub>\d+))?(?P<alpha>[ .]alpha\d*)?",
    re.IGNORECASE | re.ASCII,
)


def train_key(train: str) -> tuple[int, ...]:
    """What a release train is ordered by: ``6.0.rc3 alpha < 6.0.rc3 < 6.0.0 < 7.2.0 < 7.2.0.1``.

    A train without a number, such as ``preview``, is cut from a development branch and counts as the newest.
    """
    match = _TRAIN.fullmatch(train)
    if match is None:
        return (_ANY_PATCH,)
    final = 0 if match["rc"] else 1
    stage = 0 if match["alpha"] else 1
    return (
        int(match["major"]),
        int(match["minor"]),
        final,
        int(match["patch"]),
        int(match["sub"] or 0),
        stage,
    )


def train_covers(pattern: str, train: str) -> bool:
    """Whether ``train`` is ``pattern``, or one of the released trains that ``26.1.X`` stands for."""
    if not pattern.upper().endswith(".X"):
        return pattern == train
    line = pattern[:-1]
    return train.startswith(line) and re.fullmatch(r"\d+(\.\d+)?", train[len(line) :]) is not None
