"""How probes reach a machine: its files, its environment, its programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ascendenv import process
from ascendenv.process import Completed

__all__ = ["Completed", "LocalMachine", "Machine", "RecordedMachine"]

PROGRAM_SECONDS = 5.0


class Machine(Protocol):
    """Read access to a machine, this one or a described one."""

    @property
    def root(self) -> Path:
        """The directory that the machine's ``/`` is."""

    @property
    def environ(self) -> Mapping[str, str]:
        """Its environment variables."""

    @property
    def python(self) -> Path | None:
        """The base interpreter that this program runs on, when it runs on that machine."""

    def run(self, command: Sequence[str | Path]) -> Completed | None:
        """What a program answered; ``None`` when it is not there, not allowed, or takes too long."""


@dataclass(frozen=True)
class LocalMachine:
    """The machine that this program runs on."""

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    @property
    def python(self) -> Path | None:
        """The interpreter behind the virtual environment that this program may run in."""
        return Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")

    def run(self, command: Sequence[str | Path]) -> Completed | None:
        """Run it, for at most five seconds."""
        try:
            return process.run(command, env=self.environ, timeout=PROGRAM_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None


@dataclass(frozen=True)
class RecordedMachine:
    """A machine kept as a directory tree and as what its programs printed.

    ``programs`` maps a command line, its words joined by single spaces, to what it printed.
    """

    root: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    programs: Mapping[str, Completed] = field(default_factory=dict)
    python: Path | None = None

    def run(self, command: Sequence[str | Path]) -> Completed | None:
        """Give what was recorded for exactly this command line."""
        return self.programs.get(" ".join(str(word) for word in command))
