"""Small file operations that must be all or nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ascendenv.errors import InstallError
from ascendenv.install.progress import Listener

# Installers write some small files in place (scripts, metadata), never a large one.
_LINKED_FROM = 1 << 20


def write_atomically(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write ``text`` so that a reader sees the old or the new content, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("w", encoding="utf-8") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove a file or a whole directory; what is not there is fine."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def clone(source: Path, target: Path) -> None:
    """Copy a file, link or directory with owners, modes and times; large files as hard links, where possible.

    What installers then do to ``source`` does not reach the clone.
    """
    if source.is_dir() and not source.is_symlink():
        target.mkdir()
        for child in source.iterdir():
            clone(child, target / child.name)
        shutil.copystat(source, target)
    elif not _linked(source, target):
        shutil.copy2(source, target, follow_symlinks=False)
    _keep_owner(source, target)


def _linked(source: Path, target: Path) -> bool:
    kind = source.lstat()
    if stat.S_ISLNK(kind.st_mode) or (stat.S_ISREG(kind.st_mode) and kind.st_size < _LINKED_FROM):
        return False
    with suppress(OSError):
        os.link(source, target)
        return True
    return False


def _keep_owner(source: Path, target: Path) -> None:
    kept, made = source.lstat(), target.lstat()
    if (kept.st_uid, kept.st_gid) != (made.st_uid, made.st_gid):
        with suppress(PermissionError):  # only root may give files away
            os.chown(target, kept.st_uid, kept.st_gid, follow_symlinks=False)


def nearest_directory(path: Path) -> Path:
    """The directory above ``path`` that is there already."""
    return next(parent for parent in path.parents if parent.is_dir())


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the file system refuses into an :class:`~ascendenv.errors.InstallError` that says where."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise
        where = f"{error.filename}: " if error.filename is not None else ""
        raise InstallError(f"{where}{error.strerror}", hint=_advice(error)) from error


def _advice(error: OSError) -> str:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    wanted = "free some space, or choose another place" if full else "choose a place that can be written to"
    return f"{wanted}: --env, ASCENDENV_HOME and ASCENDENV_CACHE_DIR name places"


@contextmanager
def one_at_a_time(path: Path, listener: Listener) -> Iterator[None]:
    """Hold the lock file ``path``; while another process holds it, say so and wait."""
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        listener.line(f"waiting for another ascendenv that is making the same ({path})")
        lock.acquire(timeout=-1)
    try:
        yield
    finally:
        lock.release()


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
