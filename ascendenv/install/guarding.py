"""``ascendenv guard``: whether an environment's guard is in effect, and what speaks against it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility.model import ExtensionRelease, Matrix
from ascendenv.errors import UsageError
from ascendenv.host.guard import broken, guarded_environment
from ascendenv.host.machine import LocalMachine
from ascendenv.host.model import PipConfiguration
from ascendenv.install.environment import Environment
from ascendenv.install.guard import Guard, lines_of


class DeclaredConflict(BaseModel):
    """A package that declares something else than what is here. ``known``: that is right all the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    known: bool
    source: str = ""


class GuardStatus(BaseModel):
    """What ``ascendenv guard`` answers. ``broken`` tells what was installed against it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment: Path
    on: bool
    covers_pip: bool = False
    constraints: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    conflicts: tuple[DeclaredConflict, ...] = ()


def status(environment: Environment, matrix: Matrix) -> GuardStatus:
    """The guard of an environment as it is now."""
    guard = Guard(environment.path)
    guarded = guarded_environment(LocalMachine(), environment.path)
    return GuardStatus(
        environment=environment.path,
        on=guarded is not None,
        covers_pip=guard.covers_pip,
        constraints=() if guarded is None else guarded.constraints,
        broken=() if guarded is None else tuple(broken(guarded)),
        conflicts=tuple(_declared_conflicts(environment, matrix)),
    )


def turn_on(environment: Environment, pip: PipConfiguration) -> None:
    """Take the guard into effect again. Raises ``UsageError`` when nothing says what belongs there."""
    plan = environment.plan()
    if plan is None:
        raise UsageError(
            f"nothing is written down of what was installed in {environment.path}",
            hint="`ascendenv install --env PATH` installs it anew, with its guard",
        )
    Guard(environment.path).put(lines_of(plan), pip)


def turn_off(environment: Environment) -> None:
    """Take the guard out of effect, until it is turned on or something is installed anew."""
    Guard(environment.path).lift()


def _declared_conflicts(environment: Environment, matrix: Matrix) -> Iterator[DeclaredConflict]:
    folders = map(str, environment.path.glob("lib/python3*/site-packages"))
    found = {canonicalize_name(d.name): d for d in importlib.metadata.distributions(path=list(folders))}
    versions: dict[str, str] = {name: distribution.version for name, distribution in found.items()}
    for name, distribution in sorted(found.items()):
        for text in distribution.requires or ():
            requirement = _readable(text)
            wanted = "" if requirement is None else canonicalize_name(requirement.name)
            here = versions.get(wanted)
            if requirement is None or here is None or wanted not in {"torch", "torch-npu"}:
                continue
            if not requirement.specifier.contains(here, prereleases=True):
                declares = f"{name} {versions[name]} declares {requirement.name}{requirement.specifier}"
                row = _vouching(name, versions, matrix)
                if row is None:
                    yield DeclaredConflict(text=f"{declares}, and {wanted} is {here}", known=False)
                else:
                    right = f"with {row.package} {row.version} it runs on {wanted} {here}"
                    yield DeclaredConflict(text=f"{declares}; {right}", known=True, source=row.source)


def _readable(text: str) -> Requirement | None:
    try:
        requirement = Requirement(text)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    except (InvalidRequirement, UndefinedEnvironmentName):
        return None
    return requirement if applies else None


def _vouching(name: str, versions: dict[str, str], matrix: Matrix) -> ExtensionRelease | None:
    """The extension that is here and brings this very package, so that its authors vouch for the two."""
    for row in matrix.extensions:
        brought: dict[str, SpecifierSet] = {
            canonicalize_name(r.name): r.specifier for r in map(Requirement, row.requires)
        }
        here = versions.get(canonicalize_name(row.package)) == row.version
        if here and name in brought and brought[name].contains(versions[name], prereleases=True):
            return row
    return None
