"""Requests, targets, plans and conflicts, as plain data."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ascendenv.vocabulary import Arch, ChipFamily, Evidence, Verdict


class Frozen(BaseModel):
    """Data that does not change and has no fields but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Request(Frozen):
    """What is wanted. ``None`` leaves the choice to the resolver."""

    cann: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    allow_declared: bool = Field(
        default=False, description="accept a combination that the vendor only declares compatible"
    )


class Target(Frozen):
    """The machine to plan for. ``glibc`` is its version, such as ``2.28``."""

    arch: Arch
    python: str
    chip: ChipFamily | None = None
    glibc: str

    def describe(self) -> str:
        """A short text for people."""
        chip = f", chip {self.chip}" if self.chip else ""
        return f"{self.arch}, Python {self.python}{chip}, glibc {self.glibc}"


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
    url: str
    sha256: str
    size: int | None = None


class Reason(Frozen):
    """Why one thing in a plan is as it is."""

    subject: str
    because: str
    source: str


class Plan(Frozen):
    """What would be installed. ``lock`` is the text of the ``pylock.toml`` with the ``packages``."""

    target: Target
    pairing: Pairing
    packages: tuple[Package, ...]
    cann_packages: tuple[Package, ...] = ()
    reasons: tuple[Reason, ...]
    lock: str = Field(exclude=True, repr=False)


class Constraint(Frozen):
    """One of the things that cannot hold together."""

    text: str
    source: str


class Nearest(Frozen):
    """A combination that does work, and the one change that leads to it."""

    change: str
    pairing: Pairing
    options: tuple[str, ...] = Field(description="command line options that ask for it")


class Conflict(Frozen):
    """Why nothing satisfies a request, and what nearly does."""

    summary: str
    constraints: tuple[Constraint, ...]
    nearest: tuple[Nearest, ...] = ()
