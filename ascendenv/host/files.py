"""A machine's files by the paths that they have *on that machine*.

A machine may be a directory tree somewhere else, so symbolic links are followed inside its root and never out
of it. Nothing here raises for a file that is missing, unreadable or of another kind.
"""

from __future__ import annotations

import os
from pathlib import Path

from ascendenv.host.machine import Machine

READ_LIMIT = 1 << 20
_MAX_LINKS = 40


def real(machine: Machine, path: str | Path) -> Path:
    """``path`` with every symbolic link on the way followed, as the machine itself would name it."""
    if machine.root == Path("/"):
        return Path(os.path.realpath(path))
    todo = list(Path(path).parts[1:])
    done = Path("/")
    links = 0
    while todo:
        part = todo.pop(0)
        done = done.parent if part == ".." else done / part
        target = _link_target(machine.root / done.relative_to("/"))
        if target is not None and links < _MAX_LINKS:
            links += 1
            done = Path("/") if target.is_absolute() else done.parent
            todo = [*(part for part in target.parts if part != "/"), *todo]
    return done


def on_disk(machine: Machine, path: str | Path) -> Path:
    """Where the file that the machine calls ``path`` really is."""
    return machine.root / real(machine, path).relative_to("/")


def read(machine: Machine, path: str | Path) -> str | None:
    """The text of a file (its first MiB), or ``None``."""
    try:
        with on_disk(machine, path).open("rb") as file:
            return file.read(READ_LIMIT).decode(errors="replace")
    except OSError:
        return None


def exists(machine: Machine, path: str | Path) -> bool:
    """Whether anything is there; a dead link is nothing."""
    return os.path.exists(on_disk(machine, path))  # noqa: PTH110  # Path.exists raises without permission on 3.10


def is_dir(machine: Machine, path: str | Path) -> bool:
    """Whether a directory is there."""
    return os.path.isdir(on_disk(machine, path))  # noqa: PTH112  # as above


def is_file(machine: Machine, path: str | Path) -> bool:
    """Whether a regular file is there."""
    return os.path.isfile(on_disk(machine, path))  # noqa: PTH113  # as above


def children(machine: Machine, path: str | Path) -> tuple[Path, ...]:
    """What a directory holds, in the order of the names; nothing when it is not there."""
    try:
        names = sorted(os.listdir(on_disk(machine, path)))  # noqa: PTH208  # names only, and Path.iterdir is lazy
    except OSError:
        return ()
    return tuple(Path(path) / name for name in names)


def which(machine: Machine, name: str) -> Path | None:
    """The program that ``name`` means by the machine's ``PATH``; a path stands for itself."""
    if "/" in name:
        return Path(name) if _is_program(machine, Path(name)) else None
    for directory in search_path(machine):
        if _is_program(machine, directory / name):
            return directory / name
    return None


def search_path(machine: Machine) -> tuple[Path, ...]:
    """The absolute directories of ``PATH``, each once."""
    entries = machine.environ.get("PATH", "").split(":")
    return tuple(dict.fromkeys(Path(entry) for entry in entries if entry.startswith("/")))


def key_values(text: str | None) -> dict[str, str]:
    """The ``KEY=value`` and ``key : value`` lines of version files; quotes around a value are dropped."""
    pairs: dict[str, str] = {}
    for line in (text or "").splitlines():
        key, separator, value = line.partition("=")
        if not separator:
            key, separator, value = line.partition(":")
        if separator and not key.lstrip().startswith("#"):
            pairs.setdefault(key.strip(), value.strip().strip("\"'"))
    return pairs


def _is_program(machine: Machine, path: Path) -> bool:
    return is_file(machine, path) and os.access(on_disk(machine, path), os.X_OK)


def _link_target(path: Path) -> Path | None:
    try:
        return Path(os.readlink(path))  # noqa: PTH115  # Path.readlink is the same call
    except OSError:
        return None
