"""The guard of an environment, and what is installed there all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ascendenv.guard_files import CONSTRAINTS, NEVER
from ascendenv.host.files import children, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import GuardedEnvironment

_DIST_INFO = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)\.dist-info")


def guarded_environment(machine: Machine, path: Path | None = None) -> GuardedEnvironment | None:
    """The guard of the environment at ``path`` (the active one by default), if it has one in effect."""
    active = machine.environ.get("VIRTUAL_ENV") or machine.environ.get("CONDA_PREFIX") or ""
    place = path or (Path(active) if active.startswith("/") else None)
    text = None if place is None else read(machine, place / CONSTRAINTS)
    if place is None or text is None:
        return None
    lines = (line.strip() for line in text.splitlines())
    libraries = [lib for lib in children(machine, place / "lib") if lib.name.startswith("python3.")]
    return GuardedEnvironment(
        where=str(place / CONSTRAINTS),
        path=place,
        python=libraries[0].name.removeprefix("python") if libraries else "",
        constraints=tuple(line for line in lines if line and not line.startswith("#")),
        installed=dict(_installed(machine, libraries)),
    )


def _installed(machine: Machine, libraries: list[Path]) -> Iterator[tuple[str, str]]:
    for library in libraries:
        for entry in children(machine, library / "site-packages"):
            match = _DIST_INFO.fullmatch(entry.name)
            if match is not None:
                yield canonicalize_name(match["name"]), match["version"]


def broken(guarded: GuardedEnvironment) -> Iterator[str]:
    """What was installed against the guard, in words."""
    for line in guarded.constraints:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        name = canonicalize_name(requirement.name)
        version = guarded.installed.get(name)
        if NEVER in line:
            if version is not None:
                kept = line.partition(NEVER)[2].replace(".", "-")
                yield f"{name} {version} is installed, which overwrites {kept}"
        elif version is None:
            if str(requirement.specifier).startswith("=="):
                yield f"{name} is gone; {line} belongs here"
        elif _applies(requirement, guarded.python) and not _holds(requirement, version):
            yield f"{name} {version} is installed; {line} belongs here"


def _applies(requirement: Requirement, python: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"python_version": python})


def _holds(requirement: Requirement, version: str) -> bool:
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False
