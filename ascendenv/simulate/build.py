"""The libraries of the simulated CANN: built once for each torch, whatever they then stand in for."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ascendenv import paths
from ascendenv.install import toolchain
from ascendenv.install.files import digest, one_at_a_time, remove
from ascendenv.install.progress import Listener


@dataclass(frozen=True)
class InstalledTorch:
    """The torch whose CPU kernels run the operators: where its package is, and its version."""

    package: Path
    version: str


@dataclass(frozen=True)
class Libraries:
    """What was built, kept in the cache with the sources that trees are made with."""

    kept: Path
    torch_version: str

    @property
    def built(self) -> Path:
        """Libraries and programs, laid out as in a tree. Its presence says that all of it is there."""
        return self.kept / "built"

    @property
    def there(self) -> bool:
        """Whether they are built already."""
        return self.built.is_dir()

    @property
    def source(self) -> Path:
        """The simulator's sources that it was built from: the checkout that brought them may be gone."""
        return self.kept / "source"


def source_digest() -> str:
    """A hash of the simulator's sources."""
    return digest((), [_sources()])


def libraries_for(torch: InstalledTorch, compiler: Path) -> Libraries:
    """Where the cache keeps the libraries for ``torch``, by the hash of all that goes into them."""
    identity = (torch.version, toolchain.compiler_identity(compiler))
    kept = paths.cache_dir() / "builds" / f"simulator-{digest(identity, [_sources()])}"
    return Libraries(kept, torch.version)


def built_libraries(torch: InstalledTorch, compiler: Path, listener: Listener) -> Libraries:
    """The libraries for ``torch``, built now unless they are there.

    A build that was interrupted is taken up again.
    """
    wanted = libraries_for(torch, compiler)
    wanted.kept.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(wanted.kept.with_suffix(".lock"), listener):
        if not wanted.there:
            remove(wanted.source)
            shutil.copytree(_sources(), wanted.source)
            build = wanted.kept / "build"
            definitions = {"ASCENDENV_TORCH": str(torch.package)}
            toolchain.cmake_build(wanted.source, build, definitions, compiler, listener)
            (build / "built").rename(wanted.built)
            remove(build)
    return wanted


def _sources() -> Path:
    return paths.resource_dir("device_runtime") / "simulator"
