"""An environment that ascendenv made, and what it keeps beside it."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ascendenv import paths
from ascendenv.activate import Activation
from ascendenv.errors import UsageError
from ascendenv.install.files import write_atomically
from ascendenv.install.guard import Guard
from ascendenv.install.place import resolved
from ascendenv.install.transaction import settle
from ascendenv.resolve.model import Pairing, Plan, Target


class Record(BaseModel):
    """What is written down of a finished installation (``state.json``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    pairing: Pairing
    target: Target
    cann_root: Path
    simulated: bool
    verified: bool
    digest: str
    installed: datetime.datetime


@dataclass(frozen=True)
class Environment:
    """A Python environment with a CANN to go with it. ``path`` is the directory that holds ``bin/python``."""

    path: Path

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.path / "bin" / "python"

    @property
    def home(self) -> Path:
        """Where ascendenv keeps its own files of this environment."""
        return self.path / "ascendenv"

    @property
    def lock_file(self) -> Path:
        """Every package with its hash (PEP 751)."""
        return self.home / "pylock.toml"

    @property
    def report_file(self) -> Path:
        """The last verification report."""
        return self.home / "report.json"

    @property
    def simulated_cann(self) -> Path:
        """Where the simulated CANN is put when there is one."""
        return self.home / "simulated"

    @property
    def simulates(self) -> bool:
        """Whether this environment brings a simulated CANN of its own."""
        return self.simulated_cann.is_dir()

    def plan(self) -> Plan | None:
        """The plan that was carried out here, or ``None`` when there is none."""
        try:
            written = json.loads((self.home / "plan.json").read_text(encoding="utf-8"))
            return Plan.model_validate({**written, "lock": self.lock_file.read_text(encoding="utf-8")})
        except (OSError, ValueError):
            return None

    def record(self) -> Record | None:
        """What was installed, or ``None`` when ascendenv did not finish an installation here."""
        try:
            return Record.model_validate_json((self.home / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            return None

    def save(self, record: Record, plan: Plan, activation: Activation) -> None:
        """Write down a finished installation, the record last: its presence says that all is there."""
        write_atomically(self.lock_file, plan.lock)
        write_atomically(self.home / "plan.json", plan.model_dump_json(indent=2) + "\n")
        write_atomically(self.home / "activation.json", activation.model_dump_json(indent=2) + "\n")
        write_atomically(self.home / "state.json", record.model_dump_json(indent=2) + "\n")
        _registry_entry(self.path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(_registry_entry(self.path), f"{self.path}\n")

    def keep_report(self, report: str, *, ok: bool) -> None:
        """Replace the last verification report, and note in the record whether it was a good one.

        An environment that somebody else owns keeps what its owner's last verification has found.
        """
        record = self.record()
        if not os.access(self.home, os.W_OK):
            return
        write_atomically(self.report_file, report + "\n")
        if record is not None:
            changed = record.model_copy(update={"verified": ok})
            write_atomically(self.home / "state.json", changed.model_dump_json(indent=2) + "\n")

    def activation(self) -> Activation:
        """The captured CANN environment. Raises ``UsageError`` when nothing was installed here."""
        try:
            text = (self.home / "activation.json").read_text(encoding="utf-8")
            return Activation.model_validate_json(text)
        except (OSError, ValidationError):
            raise UsageError(
                f"{self.path} is not an environment that ascendenv has set up",
                hint="`ascendenv list` shows those that are; `ascendenv install --env PATH` sets one up",
            ) from None

    def environ(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """A whole process environment with this one and its CANN in effect."""
        return self.environ_with(self.activation(), base)

    def environ_with(self, activation: Activation, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The same with an activation that is not yet written down."""
        environ = dict(os.environ if base is None else base)
        environ.pop("PYTHONHOME", None)
        environ["VIRTUAL_ENV"] = str(self.path)
        scripts = str(self.path / "bin")
        kept = [entry for entry in environ.get("PATH", os.defpath).split(":") if entry != scripts]
        environ = activation.apply(environ | {"PATH": ":".join(kept)})
        environ["PATH"] = f"{scripts}:{environ['PATH']}"
        guarded = Guard(self.path).variables(environ)
        return {name: value for name, value in {**environ, **guarded}.items() if value or name not in guarded}


class Listed(BaseModel):
    """One line of ``ascendenv list``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path
    cann: str
    torch: str
    torch_npu: str
    python: str
    simulated: bool
    verified: bool
    installed: datetime.datetime


class EnvironmentList(BaseModel):
    """What ``ascendenv list`` shows, newest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    environments: tuple[Listed, ...]


def list_environments() -> EnvironmentList:
    """The environments that ascendenv has set up for this user and that are still there."""
    registry = _registry_entry(Path()).parent
    found = []
    for entry in registry.glob("*.path") if registry.is_dir() else ():
        path = Path(entry.read_text(encoding="utf-8").removesuffix("\n"))
        record = Environment(path).record()
        if record is not None:
            found.append(_listed(path, record))
    return EnvironmentList(environments=tuple(sorted(found, key=lambda e: e.installed, reverse=True)))


def _listed(path: Path, record: Record) -> Listed:
    return Listed(
        path=path,
        cann=record.pairing.cann,
        torch=record.pairing.torch,
        torch_npu=record.pairing.torch_npu,
        python=record.target.python,
        simulated=record.simulated,
        verified=record.verified,
        installed=record.installed,
    )


def choose(path: Path | None) -> Environment:
    """The environment to use: the one named, else the active one, else the one installed last.

    An installation that was interrupted there is undone first. Raises ``UsageError`` when there is none,
    ``InstallError`` while an installation is working on it.
    """
    chosen = Environment(_chosen(path))
    settle(chosen.path)
    chosen.activation()
    return chosen


def _chosen(path: Path | None) -> Path:
    if path is not None:
        return resolved(path)
    active = active_environment(os.environ)
    if active is not None and Environment(active).record() is not None:
        return active
    known = list_environments().environments
    if not known:
        raise UsageError(
            "there is no environment yet",
            hint="`ascendenv install` makes one; `ascendenv install --simulate` needs no NPU",
        )
    return known[0].path


def active_environment(environ: Mapping[str, str]) -> Path | None:
    """The virtual or conda environment that the caller has activated; conda's ``base`` does not count.

    Nor does one that is gone: the variable outlives the directory.
    """
    found = environ.get("VIRTUAL_ENV") or None
    if found is None and environ.get("CONDA_DEFAULT_ENV") != "base":
        found = environ.get("CONDA_PREFIX") or None
    if found is None or not Environment(Path(found)).python.exists():
        return None
    return resolved(Path(found))


def _registry_entry(path: Path) -> Path:
    name = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return paths.data_dir() / "registry" / f"{name}.path"
