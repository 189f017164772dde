"""What is known of a machine. Every fact carries where it came from: a path, a command or a variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ascendenv.host.urls import SecretUrl
from ascendenv.vocabulary import Arch, ChipFamily


class Fact(BaseModel):
    """A piece of knowledge about a machine and where it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    where: str


class OperatingSystem(Fact):
    """``name`` as os-release prints it; ``libc`` is ``glibc`` or ``musl`` with its version."""

    name: str
    kernel: str
    libc: str
    libc_version: str


class Cpu(Fact):
    """The processor; ``arch`` is ``None`` when this is no architecture that Ascend supports."""

    machine: str
    arch: Arch | None
    model: str
    cores: int


class Npu(Fact):
    """One NPU chip as the best source tells it. What that source does not tell is ``None``.

    ``id`` is the source's own name for it (npu-smi's number, a device node, a PCI address), not a number that
    programs use. ``simulated`` marks one that a simulated CANN claims to have.
    """

    id: str
    family: ChipFamily | None = None
    soc: str | None = None
    health: str | None = None
    memory_mib: int | None = None
    bus_id: str | None = None
    simulated: bool = False


class Driver(Fact):
    """The NPU driver's or the firmware's version."""

    version: str


class NpuSmi(Fact):
    """The management tool: where it is and whether it answered with a table of NPUs.

    ``version`` is the tool's own, ``driver_version`` the one that it reports for the driver. ``message`` is
    what it said instead of a table.
    """

    works: bool
    version: str | None = None
    driver_version: str | None = None
    message: str = ""
    simulated: bool = False


class CannInstall(Fact):
    """One CANN installation, found by its files.

    ``root`` is the directory that holds ``set_env.sh``; ``home`` is what ``ASCEND_HOME_PATH`` becomes when
    that script ran (another directory up to CANN 8.3). ``nnal`` holds NNAL's ``set_env.sh``.
    ``parts`` are the versions that its own component files state. ``missing`` names what torch_npu and
    ``set_env.sh`` cannot do without, relative to ``home``; ``operators`` tells whether an operator package is
    there.
    """

    root: Path
    home: Path
    version: str | None
    arch: str | None = None
    complete: bool
    missing: tuple[str, ...] = ()
    parts: Mapping[str, str] = Field(default_factory=dict)
    operators: bool = False
    simulated: bool = False
    in_effect: bool = False
    nnal: Path | None = None

    @property
    def set_env(self) -> Path:
        """The script that puts this installation into effect."""
        return self.root / "set_env.sh"


class Interpreter(Fact):
    """A Python interpreter that environments can be made from."""

    path: Path
    version: str

    @property
    def short(self) -> str:
        """``3.11`` for ``3.11.7``."""
        return ".".join(self.version.split(".")[:2])


class PipConfiguration(Fact):
    """What the user told pip, in pip's own terms. ``where`` lists the files and variables it came from.

    Addresses keep their credentials here and lose them in JSON and ``repr``; show them through
    :func:`~ascendenv.host.urls.redact_url` only.
    """

    index_url: SecretUrl | None = None
    extra_index_urls: tuple[SecretUrl, ...] = ()
    find_links: tuple[SecretUrl, ...] = ()
    no_index: bool = False
    trusted_hosts: tuple[str, ...] = ()
    constraints: tuple[SecretUrl, ...] = ()
    cert: str | None = None
    proxy: SecretUrl | None = None

    def __repr_args__(self) -> Iterable[tuple[str, object]]:
        """Show what JSON shows, so that no log or traceback holds a password."""
        return self.model_dump(mode="json").items()


class GuardedEnvironment(Fact):
    """An environment with a guard: what later installations have to keep to, and what is there now."""

    path: Path
    python: str
    constraints: tuple[str, ...]
    installed: Mapping[str, str]


class Container(Fact):
    """The kind of container that this runs in: ``kubernetes``, ``docker``, ``podman``, ``lxc``, ``wsl``."""

    kind: str


class Compiler(Fact):
    """A C++ compiler."""

    path: Path
    version: str


class Host(BaseModel):
    """A machine, as plain data: probes fill it, tests build it by hand, snapshots keep it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    os: OperatingSystem
    cpu: Cpu
    npus: tuple[Npu, ...] = ()
    device_nodes: tuple[str, ...] = ()
    driver: Driver | None = None
    firmware: Driver | None = None
    npu_smi: NpuSmi | None = None
    ascend_home_path: str | None = Field(None, description="the variable, as the caller has set it")
    canns: tuple[CannInstall, ...] = ()
    interpreters: tuple[Interpreter, ...] = ()
    compiler: Compiler | None = None
    pip: PipConfiguration
    container: Container | None = None
    guarded: GuardedEnvironment | None = Field(None, description="the active environment, if it has a guard")
    warnings: tuple[str, ...] = Field(default=(), description="what could not be looked at, and why")

    @property
    def chip(self) -> ChipFamily | None:
        """The chip family, when the NPUs that were seen agree on one."""
        families = {npu.family for npu in self.npus if npu.family is not None}
        return families.pop() if len(families) == 1 else None
