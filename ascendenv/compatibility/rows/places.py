"""Where Python packages and container images come from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import product

from pydantic import Field

from ascendenv.compatibility.rows.base import CannText, HttpsUrl, PackageVersion, PythonVersion, Row


class PackageIndex(Row):
    """A Python package index. ``url`` is absent for the installer's own default index."""

    name: str
    url: HttpsUrl | None = None
    has: tuple[str, ...] = Field((), description="projects that are looked for there; none = only known of")
    order: int = Field(description="smaller is tried first")
    mirror_of: str | None = Field(None, description="name of the index that this one copies")
    read: dt.date | None = Field(None, description="the day of the listing that the matrix was held against")


class ImageRepository(Row):
    """A repository of container images; ``kind`` says which tags it has."""

    repository: str
    kind: str
    mirror_of: str | None = None


class ImageTags(Row):
    """Tags of one kind of image: every combination of what is listed, in the form of ``tag``.

    ``tag`` names the columns in braces. ``version`` is the CANN version as tags spell it, ``chips`` are
    spelled as in tags too.
    """

    kind: str
    tag: str
    cann: CannText
    version: str
    chips: tuple[str, ...] = Field(min_length=1)
    systems: tuple[str, ...] = Field(min_length=1)
    pythons: tuple[PythonVersion, ...] = Field(min_length=1)
    torch_npu: tuple[PackageVersion, ...] = ()

    def tags(self) -> Iterator[str]:
        """Each tag, in the order of the columns."""
        for torch_npu, chip, system, python in product(
            self.torch_npu or ("",), self.chips, self.systems, self.pythons
        ):
            yield self.tag.format(
                version=self.version, torch_npu=torch_npu, chip=chip, system=system, python=python
            )
