"""How CANN is delivered: names that can be filled in, from channels that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ascendenv.compatibility.check.place import placed
from ascendenv.compatibility.model import Matrix, PackageName
from ascendenv.vocabulary import CannComponent, PackageKind

FILES = (PackageKind.RUN, PackageKind.ZIP)
_PART = re.compile(r"\{(\w+)\}")
_KNOWN_PARTS = {"version", "arch", "chip", "part"}


def mistakes(matrix: Matrix) -> Iterator[str]:
    """What is wrong with names of packages, and files that no name stands for."""
    channels = {channel.kind for channel in matrix.channels}
    for place, name in placed("package_names", matrix.package_names):
        if name.kind not in channels:
            yield f"{place}: kind: there is no channel {name.kind}"
        yield from (f"{place}: name: {mistake}" for mistake in _of_name(name))
    shapes = [shape(name) for name in matrix.package_names if name.kind in FILES]
    for place, file in placed("package_files", matrix.package_files):
        if file.sha256 is None and file.size is None:
            yield f"{place}: neither sha256 nor size is there"
        if not any(known.fullmatch(file.file) for known in shapes):
            yield f"{place}: file: no name of a package has this form"


def _of_name(name: PackageName) -> Iterator[str]:
    parts = set(_PART.findall(name.name))
    for part in sorted(parts - _KNOWN_PARTS):
        yield f"{{{part}}} is not known"
    wanted = {"version"} | ({"arch"} if name.kind in FILES else set())
    for part in sorted(wanted - parts):
        yield f"{{{part}}} is missing"
    if ("chip" in parts) is not bool(name.chips):
        yield "{chip} and chips belong together"
    if name.component is CannComponent.OPS and not name.chips:
        yield "operators are those of a chip family"


def shape(name: PackageName) -> re.Pattern[str]:
    """What the files of this name look like, for any version."""
    pattern = re.escape(name.name)
    chips = "|".join(map(re.escape, name.chips.values()))
    archs = "|".join(map(re.escape, [*name.archs.values(), "aarch64", "x86_64"]))
    for part, choice in (("chip", chips), ("arch", archs), ("version", r"[^_]+"), ("part", r"[a-z-]+")):
        pattern = pattern.replace(rf"\{{{part}\}}", f"(?:{choice})")
    return re.compile(pattern)
