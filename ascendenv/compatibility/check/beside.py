"""Indexes, images, extensions and contradictions: what they name must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from ascendenv.compatibility.check.place import placed
from ascendenv.compatibility.model import ImageTags, Matrix
from ascendenv.compatibility.subjects import exists
from ascendenv.versions import train_covers

_COLUMNS = re.compile(r"\{(\w+)\}")


def mistakes(matrix: Matrix) -> Iterator[str]:
    """Every name that leads nowhere."""
    yield from _indexes(matrix)
    yield from _images(matrix)
    yield from _extensions(matrix)
    for place, row in placed("contradictions", matrix.contradictions):
        if not exists(matrix, row.about):
            yield f"{place}: about: {row.about!r} has no row"


def _indexes(matrix: Matrix) -> Iterator[str]:
    names = {row.name for row in matrix.indexes}
    for place, row in placed("indexes", matrix.indexes):
        if row.mirror_of is not None and row.mirror_of not in names:
            yield f"{place}: mirror_of: {row.mirror_of!r} is not among the indexes"
    if sum(row.url is None for row in matrix.indexes) != 1:
        yield "matrix/indexes.toml: indexes: exactly one row stands for the default index and has no url"
    for place, project in placed("extension_projects", matrix.extension_projects):
        for name in sorted(set(project.indexes) - names):
            yield f"{place}: indexes: {name!r} is not among the indexes"


def _images(matrix: Matrix) -> Iterator[str]:
    repositories = {row.repository for row in matrix.image_repositories}
    for place, row in placed("image_repositories", matrix.image_repositories):
        if row.mirror_of is not None and row.mirror_of not in repositories:
            yield f"{place}: mirror_of: {row.mirror_of!r} is not among the repositories"
    kinds = {row.kind for row in matrix.image_repositories}
    families = {str(chip.family) for chip in matrix.chips}
    for place, tags in placed("image_tags", matrix.image_tags):
        if tags.kind not in kinds:
            yield f"{place}: kind: no repository has {tags.kind!r} images"
        for chip in tags.chips:
            if chip.lower() not in families:
                yield f"{place}: chips: {chip} has no row in hardware.toml"
        yield from (f"{place}: tag: {mistake}" for mistake in _of_tag(tags))


def _of_tag(tags: ImageTags) -> Iterator[str]:
    named = set(_COLUMNS.findall(tags.tag))
    filled = {"chip", "system", "python"} | ({"torch_npu"} if tags.torch_npu else set())
    for column in sorted(named - filled - {"version"}):
        yield f"{{{column}}} is not filled by any column"
    for column in sorted(filled - named):
        yield f"{{{column}}} is missing"


def _extensions(matrix: Matrix) -> Iterator[str]:
    packages = {canonicalize_name(row.package) for row in matrix.extension_projects}
    trains = [train.train for train in matrix.trains]
    for place, row in placed("extensions", matrix.extensions):
        if canonicalize_name(row.package) not in packages:
            yield f"{place}: package: {row.package!r} is not among the projects"
        for pattern in row.trains:
            if not any(train_covers(pattern, train) for train in trains):
                yield f"{place}: trains: {pattern!r} is not among the trains"
