"""What is put on top of torch_npu: with which stack each release goes, and what shuts each other out."""

from __future__ import annotations

from functools import cached_property

from packaging.version import Version
from pydantic import Field

from ascendenv.compatibility.rows.base import CannText, PackageVersion, RequirementText, Row, SpecifierText


class ExtensionRelease(Row):
    """One release of a package that asks for certain versions of the stack below it.

    An empty column sets no bound. ``torch_npu`` is the pin as its authors state it: some have pinned builds
    that no package index holds. ``requires`` are the packages that belong to it, at the versions stated.
    """

    package: str
    version: PackageVersion
    cann: tuple[CannText, ...] = ()
    torch: tuple[PackageVersion, ...] = ()
    torch_npu: PackageVersion | None = None
    trains: tuple[str, ...] = Field((), description="torch_npu trains, or lines of them such as 26.1.X")
    python: SpecifierText = ""
    requires: tuple[RequirementText, ...] = ()

    @cached_property
    def parsed(self) -> Version:
        """The version, for ordering."""
        return Version(self.version)


class ExtensionProject(Row):
    """A package that is put on top of torch_npu, whichever release."""

    package: str
    title: str
    indexes: tuple[str, ...] = Field((), description="the indexes that it is looked for on, by name")
    npu_since: PackageVersion | None = Field(None, description="its first release that knows NPUs")


class Exclusive(Row):
    """Packages of which an environment can have one only; ``because`` says what they do to each other."""

    packages: tuple[str, ...] = Field(min_length=2)
    because: str


class Placeholder(Row):
    """A project on the default index that bears a name of the vendor's and is not what it says."""

    package: str
    instead: str = Field(description="what to do to get what the name stands for")
