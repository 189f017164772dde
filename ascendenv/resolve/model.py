"""Requests, targets, plans and conflicts, as plain data."""

from __future__ import annotations

import shlex
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ascendenv.host.urls import SecretUrl
from ascendenv.resolve.ranges import CannRange, PackageRange, cann_range, package_range
from ascendenv.vocabulary import Arch, ChipFamily, Evidence, Verdict


class Frozen(BaseModel):
    """Data that does not change and has no fields but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Request(Frozen):
    """What is wanted, each an exact version or a range. ``None`` leaves the choice to the resolver."""

    cann: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    packages: tuple[str, ...] = Field(
        default=(), description="what is wanted on top of torch_npu, as PEP 508 requirements"
    )
    allow_declared: bool = Field(
        default=False, description="accept a combination that the vendor only declares compatible"
    )
    allow_reported: bool = Field(
        default=False, description="accept a combination that a field report says to fail"
    )
    simulate: bool = Field(default=False, description="the CANN is a simulated one")

    @property
    def cann_range(self) -> CannRange | None:
        """The CANN versions that will do."""
        return None if self.cann is None else cann_range(self.cann)

    @property
    def torch_range(self) -> PackageRange | None:
        """The torch versions that will do."""
        return None if self.torch is None else package_range(self.torch)

    @property
    def torch_npu_range(self) -> PackageRange | None:
        """The torch_npu versions that will do."""
        return None if self.torch_npu is None else package_range(self.torch_npu)


class Target(Frozen):
    """The machine to plan for. ``glibc`` is its version, such as ``2.28``.

    ``driver`` is the NPU driver's version where it is known, ``driver_from`` where it is known from.
    """

    arch: Arch
    python: str
    chip: ChipFamily | None = None
    glibc: str
    driver: str | None = None
    driver_from: str = ""

    def describe(self) -> str:
        """A short text for people."""
        chip = f", chip {self.chip}" if self.chip else ""
        driver = f", driver {self.driver}" if self.driver else ""
        return f"{self.arch}, Python {self.python}{chip}, glibc {self.glibc}{driver}"


class Pairing(Frozen):
    """One CANN, torch and torch_npu, with what is known of their fit."""

    cann: str
    torch: str
    torch_npu: str
    train: str
    verdict: Verdict
    evidence: Evidence


class Package(Frozen):
    """One locked wheel. ``size`` is in bytes where the index tells it."""

    name: str
    version: str
    url: SecretUrl
    sha256: str
    size: int | None = None


class Reason(Frozen):
    """Why one thing in a plan is as it is."""

    subject: str
    because: str
    source: str


class Looked(Frozen):
    """Places where a wheel was looked for with the same outcome; ``answered`` tells whether they could be."""

    outcome: str
    places: tuple[str, ...]
    answered: bool


class PassedOver(Frozen):
    """A better combination that was not taken since a wheel of it (``wheel``) could not be had."""

    torch_npu: str
    wheel: str
    looked: tuple[Looked, ...]


class Plan(Frozen):
    """What would be installed. ``lock`` is the text of the ``pylock.toml`` with the ``packages``."""

    target: Target
    pairing: Pairing
    packages: tuple[Package, ...]
    cann_packages: tuple[Package, ...] = ()
    reasons: tuple[Reason, ...]
    warnings: tuple[Reason, ...] = Field(
        default=(), description="field reports against the pairing, which the vendor's word outweighs"
    )
    passed_over: tuple[PassedOver, ...] = ()
    indexes: tuple[SecretUrl, ...] = Field(
        default=(), description="indexes beside the user's own that the packages were found on"
    )
    constraints: tuple[str, ...] = Field(
        default=(), description="what later installations into the environment have to keep to"
    )
    lock: str = Field(exclude=True, repr=False)


class Constraint(Frozen):
    """One of the things that cannot hold together.

    ``text`` is a sentence that begins with ``subject``; ``wanted_by`` is the option or the place that asks
    for it, ``source`` and ``evidence`` say where the fact in the sentence is known from.
    """

    subject: str
    text: str
    wanted_by: str
    source: str
    evidence: Evidence | None = None


class Nearest(Frozen):
    """A combination that does work, and the one change that leads to it."""

    change: str
    pairing: Pairing
    options: tuple[str, ...] = Field(description="command line options that ask for it")
    command: Literal["install", "resolve"] = "install"
    driver: str | None = Field(default=None, description="the driver that has to be installed first")
    wheels_found: bool = Field(
        default=True, description="false: the places that may have its wheels could not be asked"
    )

    @property
    def as_command(self) -> str:
        """What asks for it, to be pasted."""
        return f"ascendenv {self.command} {shlex.join(self.options)}"


class Conflict(Frozen):
    """Why nothing satisfies a request, and what nearly does."""

    summary: str
    constraints: tuple[Constraint, ...]
    nearest: tuple[Nearest, ...] = ()
