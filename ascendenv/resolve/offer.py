"""The wheels of one project that a place has, ready to be asked for many versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from ascendenv.resolve.model import Target
from ascendenv.resolve.sources import Wheel
from ascendenv.resolve.tags import supported_tags


@dataclass(frozen=True)
class Offer:
    """What a place has of one project."""

    of_version: Mapping[Version, tuple[Wheel, ...]]
    publics: frozenset[str]  # the versions without their local parts

    @classmethod
    def of(cls, wheels: Iterable[Wheel]) -> Offer:
        """These wheels by their versions."""
        of_version: dict[Version, tuple[Wheel, ...]] = {}
        for wheel in wheels:
            of_version[wheel.version] = (*of_version.get(wheel.version, ()), wheel)
        return cls(of_version, frozenset(version.public for version in of_version))

    def fitting(self, version: Version, target: Target) -> Wheel | None:
        """The first of the wheels that is of ``version`` and runs on ``target``."""
        tags = supported_tags(target)
        wheels = self.of_version.get(version, ())
        return next((w for w in wheels if not tags.isdisjoint(parse_wheel_filename(w.filename)[3])), None)

    def instead_of(self, version: Version) -> str:
        """In words, what there is where no wheel of ``version`` fits."""
        if version in self.of_version:
            return "only wheels for other Pythons or platforms"
        if version.public in self.publics:
            if version.local is None:
                return "only other builds of it"
            return f"only builds of it other than +{version.local}"
        return "only other versions" if self.of_version else "nothing of the name"
