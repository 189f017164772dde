"""What the package index has at one moment, and how it differs from the matrix."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version
from pydantic import BaseModel, ConfigDict

from ascendenv.vocabulary import Arch


@dataclass(frozen=True)
class File:
    """One file of a project on the index. ``url`` is where its metadata can be read."""

    filename: str
    version: Version
    url: str = ""
    uploaded: dt.date | None = None
    yanked: bool = False
    has_metadata: bool = False

    @property
    def is_wheel(self) -> bool:
        """Whether it can be installed without building it."""
        return self.filename.endswith(".whl")

    def builds(self) -> Iterator[Build]:
        """What a Linux wheel for one CPython is for; nothing for any other file."""
        try:
            _, _, _, tags = parse_wheel_filename(self.filename)
        except InvalidWheelFilename:
            return
        for tag in tags:
            python = re.fullmatch(r"cp3(\d+)", tag.interpreter)
            platform = re.fullmatch(r"(manylinux_\d+_\d+)_(aarch64|x86_64)", tag.platform)
            if python is not None and platform is not None:
                yield Build(Arch(platform[2]), f"3.{python[1]}", platform[1])

    @property
    def archs(self) -> frozenset[Arch]:
        """The architectures that a Linux wheel is for, whatever else it asks for."""
        stem = self.filename.removesuffix(".whl")
        return frozenset(
            arch for arch in Arch if self.is_wheel and "linux" in stem and stem.endswith(f"_{arch}")
        )


@dataclass(frozen=True)
class Build:
    """For which machine a wheel is; ``platform`` is without the architecture, such as ``manylinux_2_28``."""

    arch: Arch
    python: str
    platform: str


@dataclass(frozen=True)
class Snapshot:
    """What the default index says of the projects that the matrix speaks of.

    ``files`` lacks projects that the index does not know. ``requires`` holds the Requires-Dist lines of the
    wheels that were looked into, by file name; ``unread`` are wheels whose metadata could not be had.
    """

    place: str
    day: dt.date
    files: Mapping[str, tuple[File, ...]]
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


class Kind(str, Enum):
    """In what way two sources differ."""

    RELEASE_WITHOUT_ROW = "release-without-row"
    RELEASE_GONE = "release-gone"
    WHEEL_MISSING = "wheel-missing"
    WHEEL_NOT_LISTED = "wheel-not-listed"
    PLATFORMS_CHANGED = "platforms-changed"
    YANKED = "yanked"
    PINS_CHANGED = "pins-changed"
    CUDA_CHANGED = "cuda-changed"
    PLACEHOLDER_CHANGED = "placeholder-changed"
    TABLE_DISAGREES = "table-disagrees"


class Difference(BaseModel):
    """One thing that the matrix says otherwise than another source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    subject: str
    matrix: str
    there: str


class Drift(BaseModel):
    """The payload of ``ascendenv matrix check``. ``unread`` could not be compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    compared_with: str
    day: dt.date
    compared: int
    differences: tuple[Difference, ...]
    unread: tuple[str, ...] = ()
