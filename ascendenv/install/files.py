"""Small file operations that must be all or nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` so that a reader sees the old or the new content, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)


def remove(path: Path) -> None:
    """Remove a file or a whole directory; what is not there is fine."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def clone_tree(source: Path, target: Path) -> None:
    """Copy a directory with hard links, so that it costs no space; where links do not work, as a copy.

    Safe for environments, because installers replace files and never write into them.
    """
    shutil.copytree(source, target, symlinks=True, copy_function=_link_or_copy)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def digest(parts: Iterable[str], folders: Iterable[Path] = ()) -> str:
    """A short hash of texts and of the names and contents of all files in ``folders``."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part.encode() + b"\0")
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                state.update(path.relative_to(folder).as_posix().encode() + b"\0")
                state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:24]
