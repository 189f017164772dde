"""All or nothing: an environment is changed wholly or left as it was, whatever interrupts the work.

What is about to happen is written to a journal first. A run that ends normally or with an error cleans up
itself; after a ``kill -9`` or a power cut the next run finds the journal and does it then.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from ascendenv import paths
from ascendenv.errors import InstallError
from ascendenv.install.files import clone_tree, remove, write_atomically


class Journal(BaseModel):
    """An unfinished change of ``path``. ``had_previous`` says whether something was there to be kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    path: Path
    had_previous: bool
    phase: Literal["preparing", "working", "committed"]

    @property
    def backup(self) -> Path:
        """What was there before; on the same file system, so that putting it back is a rename."""
        return self.path.with_name(f"{self.path.name}.before-ascendenv")

    @property
    def discarded(self) -> Path:
        """What a failed change left, out of the way until it is removed."""
        return self.path.with_name(f"{self.path.name}.failed-ascendenv")


@contextmanager
def transaction(path: Path) -> Iterator[None]:
    """Change the directory ``path``: kept when the block ends, put back as it was when it raises.

    Raises :class:`~ascendenv.errors.InstallError` when another installation is working on it.
    """
    with _alone(path):
        recover(path)
        journal = Journal(path=path, had_previous=path.exists(), phase="preparing")
        _write(journal)
        try:
            if journal.had_previous:
                clone_tree(path, journal.backup)
            _write(journal.model_copy(update={"phase": "working"}))
            yield
            _write(journal.model_copy(update={"phase": "committed"}))
        finally:
            recover(path)


def recover(path: Path) -> bool:
    """Finish what an interrupted change of ``path`` left; whether there was anything to do."""
    journal = _read(path)
    if journal is None:
        return False
    if journal.phase == "working":
        _put_back(journal)
    remove(journal.backup)
    remove(journal.discarded)
    _journal_file(path).unlink()
    return True


def recover_all() -> tuple[Path, ...]:
    """Recover every environment whose installation was interrupted and is not running now."""
    recovered = []
    for file in sorted(paths.journals_dir().glob("*.json")):
        try:
            path = Journal.model_validate_json(file.read_text(encoding="utf-8")).path
            with _alone(path):
                if recover(path):
                    recovered.append(path)
        except (OSError, ValidationError, InstallError):
            continue
    return tuple(recovered)


def _put_back(journal: Journal) -> None:
    if not journal.had_previous:
        remove(journal.path)
    elif journal.backup.exists():  # otherwise an earlier recovery was interrupted after it had put it back
        # Two renames, so that the environment is never seen half removed: ascendenv may be running from it.
        if journal.path.exists():
            journal.path.rename(journal.discarded)
        journal.backup.rename(journal.path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    paths.journals_dir().mkdir(parents=True, exist_ok=True)
    lock = FileLock(_journal_file(path).with_suffix(".lock"), timeout=0)
    try:
        with lock:
            yield
    except Timeout:
        raise InstallError(
            f"another ascendenv is working on {path}", hint="wait for it to end, then run this again"
        ) from None


def _write(journal: Journal) -> None:
    write_atomically(_journal_file(journal.path), journal.model_dump_json() + "\n")


def _read(path: Path) -> Journal | None:
    try:
        return Journal.model_validate_json(_journal_file(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def _journal_file(path: Path) -> Path:
    name = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return paths.journals_dir() / f"{name}.json"
