"""Which wheel tags run on a target, for any target on any machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from packaging.tags import Tag, compatible_tags, cpython_tags

from ascendenv.resolve.model import Target

# PEP 600: the older names for three of the glibc versions.
_LEGACY = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
_OLDEST_GLIBC_MINOR = 5


@lru_cache(maxsize=64)
def supported_tags(target: Target) -> frozenset[Tag]:
    """The wheel tags that the target's Python accepts."""
    return frozenset(ranked_tags(target))


@lru_cache(maxsize=64)
def ranked_tags(target: Target) -> Mapping[Tag, int]:
    """The same with their rank: of two wheels, installers take the one with the smaller."""
    platforms = list(_platforms(target))
    version = tuple(int(part) for part in target.python.split("."))
    interpreter = f"cp{version[0]}{version[1]}"
    tags = (*cpython_tags(version, platforms=platforms), *compatible_tags(version, interpreter, platforms))
    return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def glibc_minor(glibc: str) -> int:
    """28 for ``2.28``."""
    return int(glibc.split(".")[1])


def _platforms(target: Target) -> Iterator[str]:
    for minor in range(glibc_minor(target.glibc), _OLDEST_GLIBC_MINOR - 1, -1):
        yield f"manylinux_2_{minor}_{target.arch}"
        if minor in _LEGACY:
            yield f"{_LEGACY[minor]}_{target.arch}"
    yield f"linux_{target.arch}"
