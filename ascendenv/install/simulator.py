"""The simulated CANN of an environment: built once for each content, then installed where it is wanted."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ascendenv import paths
from ascendenv.install import toolchain
from ascendenv.install.files import digest, one_at_a_time, remove
from ascendenv.install.progress import Listener

DEFAULT_DEVICES = 2
DEFAULT_MEMORY = "8GiB"


@dataclass(frozen=True)
class SimulatedCann:
    """Which CANN and which device to simulate; ``memory`` is each device's, with its unit."""

    cann: str
    soc: str
    devices: int = DEFAULT_DEVICES
    memory: str = DEFAULT_MEMORY

    @property
    def definitions(self) -> dict[str, str]:
        """The same for CMake."""
        return {
            "ASCENDENV_CANN_VERSION": self.cann,
            "ASCENDENV_SOC": self.soc,
            "ASCENDENV_DEVICES": str(self.devices),
            "ASCENDENV_MEMORY": self.memory,
        }


def source_digest() -> str:
    """A hash of the simulator's sources."""
    return digest((), [paths.resource_dir("device_runtime") / "simulator"])


def build_and_install(
    wanted: SimulatedCann, torch: Path, torch_version: str, compiler: Path, target: Path, listener: Listener
) -> Path:
    """Make the simulated CANN below ``target`` and return its root, the directory with ``set_env.sh``.

    ``torch`` is the installed torch package, whose CPU kernels run the operators. The build is kept in the
    cache by the hash of all that goes into it, so that it is done once for each content.
    """
    sources = paths.resource_dir("device_runtime") / "simulator"
    identity = (*wanted.definitions.values(), torch_version, toolchain.compiler_identity(compiler))
    kept = paths.cache_dir() / "builds" / f"simulator-{digest(identity, [sources])}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    source, build, done = kept / "source", kept / "build", kept / "built"
    with one_at_a_time(kept.with_suffix(".lock"), listener):
        if not done.exists():
            # CMake installs from the sources as well, and the checkout that brought them may be gone by then.
            remove(source)
            shutil.copytree(sources, source)
            definitions = wanted.definitions | {"ASCENDENV_TORCH": str(torch)}
            toolchain.cmake_build(source, build, definitions, compiler, listener)
            done.touch()
        install = ["cmake", "--install", str(build), "--prefix", str(target)]
        toolchain.run_build(install, compiler, listener)
    return target / f"cann-{wanted.cann}"
