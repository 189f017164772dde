"""What is known of a machine. Every fact carries where it came from (``where``: a path, command or variable)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

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
    """One NPU (or NPU card) seen by one source. What a source does not tell is ``None``."""

    id: str
    family: ChipFamily | None = None
    soc: str | None = None
    health: str | None = None
    memory_mib: int | None = None


class Driver(Fact):
    """The NPU driver's or the firmware's version."""

    version: str


class NpuSmi(Fact):
    """The management tool: where it is and whether it answered."""

    works: bool
    version: str | None = None
    message: str = ""


class CannInstall(Fact):
    """One CANN installation, found by its files. ``root`` is the directory that holds ``set_env.sh``."""

    root: Path
    version: str | None
    arch: str | None = None
    complete: bool
    missing: tuple[str, ...] = ()
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
    """What the user told pip, in pip's own terms. ``where`` lists the files and variables it came from."""

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    trusted_hosts: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    cert: str | None = None


class Container(Fact):
    """The kind of container that this runs in."""

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
    canns: tuple[CannInstall, ...] = ()
    interpreters: tuple[Interpreter, ...] = ()
    compiler: Compiler | None = None
    pip: PipConfiguration
    container: Container | None = None

    @property
    def chip(self) -> ChipFamily | None:
        """The chip family, when the NPUs that were seen agree on one."""
        families = {npu.family for npu in self.npus if npu.family is not None}
        return families.pop() if len(families) == 1 else None
