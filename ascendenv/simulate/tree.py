"""A simulated CANN on disk, in the layout of the version that it stands in for."""

from __future__ import annotations

import platform
from pathlib import Path

from ascendenv.install import toolchain
from ascendenv.install.files import remove
from ascendenv.install.progress import Listener
from ascendenv.simulate.build import Libraries
from ascendenv.simulate.model import SimulatedCann


def make_tree(
    wanted: SimulatedCann, libraries: Libraries, target: Path, compiler: Path, listener: Listener
) -> Path:
    """Make the tree ``target`` anew and return its root, the directory with ``set_env.sh``."""
    remove(target)
    definitions = wanted.definitions | {
        "BUILT": str(libraries.built),
        "HEADERS": str(libraries.source / "include"),
        "ROOT": str(target),
        "ARCH": platform.machine(),
        "ASCENDENV_TORCH_VERSION": libraries.torch_version,
    }
    script = libraries.source / "package" / "tree.cmake"
    command = ["cmake", *(f"-D{name}={value}" for name, value in definitions.items()), "-P", str(script)]
    toolchain.run_build(command, compiler, listener)
    return root_of(target)


def root_of(target: Path) -> Path:
    """The directory with ``set_env.sh`` in a tree: since CANN 8.5 ``cann-<version>``, before it the other."""
    return next(target.glob("cann-*"), target / "ascend-toolkit")
