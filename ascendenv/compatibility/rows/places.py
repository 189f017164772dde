"""Where packages come from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ascendenv.compatibility.rows.base import Row


class PackageIndex(Row):
    """A Python package index. ``url`` is absent for the installer's own default index."""

    name: str
    url: Annotated[str, Field(pattern=r"^https://")] | None = None
    has: tuple[str, ...] = Field((), description="projects that are looked for there; none = only known of")
    order: int = Field(description="smaller is tried first")
    mirror_of: str | None = Field(None, description="name of the index that this one copies")
