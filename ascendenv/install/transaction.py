"""All or nothing: an environment is changed wholly or left as it was, whatever interrupts the work.

What is about to happen is written to a journal first. A run that ends normally or with an error cleans up
itself; after a ``kill -9`` the next run finds the journal and does it then. The copy of what was there before
lies inside of the environment: that is the same file system, also where the environment is a mounted one, and
a place that can be written to. Every step is a rename or can be done twice, and undoing takes no disk space.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from ascendenv import interrupts, paths
from ascendenv.errors import InstallError
from ascendenv.install.files import clone, nearest_directory, remove, write_atomically


class Journal(BaseModel):
    """An unfinished change of the directory ``path`` by the process ``pid``.

    ``existed`` says whether there was such a directory; ``above`` is one above it that was there in any case.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    path: Path
    pid: int
    existed: bool
    above: Path
    phase: Literal["preparing", "working", "committed"]

    @property
    def before(self) -> Path:
        """What was there before."""
        return self.path / ".ascendenv-before"

    @property
    def returning(self) -> Path:
        """The same under another name, from the moment on when nothing of the failed change is left."""
        return self.path / ".ascendenv-returning"

    @property
    def failed(self) -> Path:
        """What a failed change left, out of the way until it is removed."""
        return self.path / ".ascendenv-failed"

    @property
    def own(self) -> tuple[Path, Path, Path]:
        """The directories inside of ``path`` that are no part of the environment."""
        return self.before, self.returning, self.failed


@contextmanager
def transaction(path: Path) -> Iterator[None]:
    """Change the directory ``path``: kept when the block ends, put back as it was when it raises.

    Raises :class:`~ascendenv.errors.InstallError` when another installation is working on it.
    """
    with _alone(path):
        recover(path)
        journal = _opened(path)
        try:
            if journal.existed:
                _keep_a_copy(journal)
            _write(journal.model_copy(update={"phase": "working"}))
            yield
        except BaseException:
            recover(path)
            raise
        with interrupts.held():  # what is committed must not be reported as interrupted halfway
            try:
                _write(journal.model_copy(update={"phase": "committed"}))
            finally:
                recover(path)


def recover(path: Path) -> bool:
    """Finish what an interrupted change of ``path`` left; whether there was anything to do.

    Only for who holds the lock of ``path``. Interrupts wait until it is done. Raises
    :class:`~ascendenv.errors.InstallError` when files cannot be put back; a later call goes on from there.
    """
    journal = _read(path)
    if journal is None:
        return False
    try:
        with interrupts.held():
            if journal.phase == "working":
                _put_back(journal)
            for place in journal.own:
                remove(place)
            _journal_file(path).unlink()
    except OSError as error:
        raise InstallError(
            f"{path} could not be put back as it was: {error}",
            hint="when the cause is gone, run `ascendenv install` again: it goes on from there",
        ) from error
    return True


def recover_all() -> tuple[Path, ...]:
    """Recover every environment whose installation was interrupted and is not running now."""
    recovered = []
    for file in sorted(paths.journals_dir().glob("*.json")):
        with suppress(OSError, ValidationError, InstallError):  # whoever uses that environment is told
            path = Journal.model_validate_json(file.read_text(encoding="utf-8")).path
            with _alone(path):
                if recover(path):
                    recovered.append(path)
    return tuple(recovered)


def settle(path: Path) -> None:
    """Make sure that ``path`` is not half changed, before it is used.

    Raises :class:`~ascendenv.errors.InstallError` when an installation is working on it right now.
    """
    if is_unfinished(path):
        with _alone(path):
            recover(path)


def is_unfinished(path: Path) -> bool:
    """Whether a change of ``path`` was begun and neither finished nor undone."""
    return _journal_file(path).exists()


def _opened(path: Path) -> Journal:
    journal = Journal(
        path=path,
        pid=os.getpid(),
        existed=path.exists(),
        above=nearest_directory(path),
        phase="preparing",
    )
    leftover = next((place for place in journal.own if place.exists()), None)
    if leftover is not None:
        raise InstallError(
            f"{leftover} is there: an ascendenv with another ASCENDENV_HOME works on this or was interrupted",
            hint="wait for it, or run `ascendenv install` with that ASCENDENV_HOME; "
            f"when that is lost, {journal.before} holds what was there before",
        )
    _write(journal)
    return journal


def _keep_a_copy(journal: Journal) -> None:
    there = _content(journal)
    journal.before.mkdir()
    for child in there:
        clone(child, journal.before / child.name)


def _put_back(journal: Journal) -> None:
    if not journal.existed:
        _remove_with_parents(journal)
        return
    # Renames only, so that the environment is whole again at once: ascendenv may be running from it.
    if journal.before.exists():
        journal.failed.mkdir(exist_ok=True)
        for child in _content(journal):
            child.rename(journal.failed / child.name)
        journal.before.rename(journal.returning)
    if journal.returning.exists():
        for child in list(journal.returning.iterdir()):
            child.rename(journal.path / child.name)


def _remove_with_parents(journal: Journal) -> None:
    remove(journal.path)
    for parent in journal.path.parents:
        if parent == journal.above:
            break
        with suppress(OSError):  # somebody else has put something there, or nothing was made yet
            parent.rmdir()


def _content(journal: Journal) -> list[Path]:
    return [child for child in journal.path.iterdir() if child not in journal.own]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    paths.journals_dir().mkdir(parents=True, exist_ok=True)
    lock = FileLock(_journal_file(path).with_suffix(".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        journal = _read(path)
        who = "another ascendenv" if journal is None else f"another ascendenv (process {journal.pid})"
        raise InstallError(
            f"{who} is working on {path}", hint="wait for it to end, then run this again"
        ) from None
    try:
        yield
    finally:
        lock.release()


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
