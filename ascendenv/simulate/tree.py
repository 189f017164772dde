"""A simulated CANN on disk, in the layout of the version that it stands in for."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ascendenv import interrupts, paths
from ascendenv.errors import UsageError
from ascendenv.host.cann import SIMULATOR_MARK
from ascendenv.host.files import key_values
from ascendenv.install import toolchain
from ascendenv.install.files import digest, one_at_a_time, remove
from ascendenv.install.progress import Listener
from ascendenv.simulate.build import Libraries
from ascendenv.simulate.model import SimulatedCann


def make_tree(
    wanted: SimulatedCann,
    libraries: Libraries,
    target: Path,
    compiler: Path,
    listener: Listener,
    *,
    place: Path | None = None,
) -> Path:
    """Make the tree ``target`` anew and return its root, the directory with ``set_env.sh``.

    ``place`` is where it will be moved to, when it does not stay.
    """
    remove(target)
    definitions = wanted.definitions | {
        "BUILT": str(libraries.built),
        "HEADERS": str(libraries.source / "include"),
        "ROOT": str(target),
        "PLACE": str(place or target),
        "ARCH": platform.machine(),
        "ASCENDENV_TORCH_VERSION": libraries.torch_version,
    }
    script = libraries.source / "package" / "tree.cmake"
    command = ["cmake", *(f"-D{name}={value}" for name, value in definitions.items()), "-P", str(script)]
    toolchain.run_build(command, compiler, listener)
    return root_of(target)


def cached_tree(wanted: SimulatedCann, libraries: Libraries, compiler: Path, listener: Listener) -> Path:
    """The root of the tree in the cache, made unless it is there."""
    key = digest([libraries.kept.name, *wanted.definitions.values()])[:8]
    name = f"cann{wanted.cann}-{wanted.soc.soc}-{wanted.devices.count}x{wanted.devices.memory}-{key}"
    place = paths.cache_dir() / "simulated" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(place.with_name(f"{name}.lock"), listener):
        if not place.exists():
            with _beside(place) as made:
                make_tree(wanted, libraries, made, compiler, listener, place=place)
                made.rename(place)
    return root_of(place)


def put_tree(
    wanted: SimulatedCann, libraries: Libraries, place: Path, compiler: Path, listener: Listener
) -> Path:
    """Make the tree ``place``, instead of the simulated one that may be there, and return its root."""
    require_place_for_tree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _beside(place) as made, _beside(place, "before") as before:
        make_tree(wanted, libraries, made, compiler, listener, place=place)
        with interrupts.held():
            if place.exists():
                place.rename(before)
            made.rename(place)
    return root_of(place)


def require_place_for_tree(place: Path) -> None:
    """Make sure that nothing but a simulated CANN would be replaced. Raises ``UsageError``."""
    if not place.exists() or (place.is_dir() and (not any(place.iterdir()) or record_of(root_of(place)))):
        return
    raise UsageError(
        f"{place} is there already and is no simulated CANN, so it is left alone",
        hint="--to takes a directory that is empty, not yet there, or made by this command",
    )


def root_of(target: Path) -> Path:
    """The directory with ``set_env.sh`` in a tree: since CANN 8.5 ``cann-<version>``, before it the other."""
    return next(target.glob("cann-*"), target / "ascend-toolkit")


def home_of(root: Path) -> Path:
    """The directory that ``ASCEND_HOME_PATH`` names when the ``set_env.sh`` in ``root`` has run."""
    return root / "latest" if root.name == "ascend-toolkit" else root


def record_of(root: Path) -> dict[str, str]:
    """What the tree with this root says that it simulates; nothing when it is no simulated CANN."""
    path = home_of(root) / SIMULATOR_MARK
    return key_values(path.read_text(encoding="utf-8")) if path.is_file() else {}


@contextmanager
def _beside(place: Path, purpose: str = "new") -> Iterator[Path]:
    """A path on the same file system, gone in the end, as is what a killed process has left there."""
    for left in place.parent.glob(f".{place.name}.{purpose}.*"):
        remove(left)
    path = place.with_name(f".{place.name}.{purpose}.{os.getpid()}")
    try:
        yield path
    finally:
        remove(path)
