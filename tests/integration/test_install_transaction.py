"""All or nothing: whatever interrupts a change of an environment, it is whole afterwards."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trees import exact_tree, tree

from ascendenv import paths
from ascendenv.errors import InstallError
from ascendenv.install import files, transaction
from ascendenv.install.transaction import is_unfinished, recover_all, settle

# The programs that are killed lie beside what they share with the quick tests.
DRIVERS = Path(__file__).parents[1] / "unit"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_HOME", str(tmp_path / "home"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An environment of the user's own, with everything that a copy may lose."""
    place = tmp_path / "env"
    (place / "bin").mkdir(parents=True)
    script = place / "bin" / "tool"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    (place / "lib" / "empty").mkdir(parents=True)
    (place / "lib" / "empty").chmod(0o700)
    (place / "lib" / "large.so").write_bytes(b"\x7fELF" + bytes(files._LINKED_FROM))
    (place / "lib64").symlink_to("lib")
    (place / "dead").symlink_to("/nowhere/at/all")
    os.mkfifo(place / "pipe")
    os.utime(script, ns=(1_000_000_000, 1_234_567_890))
    return place


@pytest.mark.parametrize("state", ["new", "existing"])
@pytest.mark.parametrize("end", ["commit", "fail"])
def test_killed_at_any_line(state: str, end: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVERS / "kill_everywhere.py"), str(tmp_path / "work"), state, end],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(DRIVERS.parents[1])},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["lines"] > 50, "the tracing has not seen the transaction"


def test_a_failed_change_leaves_no_trace(place: Path) -> None:
    before = exact_tree(place)
    _fail_after_damage(place)
    assert exact_tree(place) == before
    assert not is_unfinished(place)


def _fail_after_damage(place: Path) -> None:
    with pytest.raises(ZeroDivisionError), transaction.transaction(place):
        _damage(place)


def _damage(place: Path) -> None:
    (place / "bin" / "tool").write_text("written in place")
    (place / "lib" / "large.so").unlink()
    (place / "lib" / "large.so").write_text("replaced")
    files.remove(place / "lib" / "empty")
    (place / "new").mkdir()
    raise ZeroDivisionError


def test_a_change_keeps_what_it_does_not_touch(place: Path) -> None:
    before = exact_tree(place)
    with transaction.transaction(place):
        (place / "added").write_text("new")
    after = exact_tree(place)
    assert after.pop("added")[0] == "new"
    assert after == before


def test_a_directory_whose_parent_cannot_be_written_to(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what a mounted directory is like: it cannot be renamed."""
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        if place in {path, Path(target)}:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    before = exact_tree(place)
    _fail_after_damage(place)
    assert exact_tree(place) == before


def test_undoing_needs_no_disk_space(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = exact_tree(place)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill_the_disk() -> None:
        with transaction.transaction(place):
            monkeypatch.setattr(transaction, "write_atomically", full)
            (place / "bin" / "tool").unlink()

    with pytest.raises(OSError, match="No space left"):
        fill_the_disk()
    assert exact_tree(place) == before


def test_an_empty_directory_stays_and_a_new_one_goes_with_those_above(tmp_path: Path) -> None:
    empty, new = tmp_path / "empty", tmp_path / "a" / "b" / "new"
    empty.mkdir()
    for place in (empty, new):
        _fail_in_new(place)
    assert tree(empty) == {}
    assert empty.is_dir()
    assert not (tmp_path / "a").exists()


def _fail_in_new(place: Path) -> None:
    def make() -> None:
        with transaction.transaction(place):
            (place / "bin").mkdir(parents=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make()


def test_what_somebody_put_beside_a_new_environment_stays(tmp_path: Path) -> None:
    def make() -> None:
        with transaction.transaction(tmp_path / "a" / "new"):
            (tmp_path / "a" / "new").mkdir(parents=True)
            (tmp_path / "a" / "theirs").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make()
    assert tree(tmp_path / "a") == {"theirs": ""}


def test_a_second_interrupt_does_not_stop_the_undoing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = exact_tree(place)
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return real(path, target)

    def change() -> None:
        with transaction.transaction(place):
            (place / "bin" / "tool").unlink()
            monkeypatch.setattr(Path, "rename", rename)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        change()
    assert exact_tree(place) == before
    assert not is_unfinished(place)


def test_two_at_once_are_told_of_each_other(place: Path) -> None:
    with transaction.transaction(place):
        for attempt in (_enter, settle):
            with pytest.raises(InstallError, match=rf"\(process {os.getpid()}\) is working on {place}"):
                attempt(place)
        assert recover_all() == ()
        assert (place / ".ascendenv-before").is_dir()


def _enter(place: Path) -> None:
    with transaction.transaction(place):
        pass


def test_a_stale_lock_file_is_no_lock(place: Path) -> None:
    _enter(place)
    (lock,) = paths.journals_dir().glob("*.lock")
    lock.write_text("12345")
    _enter(place)


def test_an_installation_with_another_home_is_seen(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction.transaction(place):
        with monkeypatch.context() as patched:
            patched.setenv("ASCENDENV_HOME", str(tmp_path / "other"))
            with pytest.raises(InstallError, match="another ASCENDENV_HOME"):
                _enter(place)
            assert list(paths.journals_dir().glob("*.json")) == []
        assert (place / ".ascendenv-before").is_dir()


def test_what_cannot_be_put_back_is_told_and_tried_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = exact_tree(place)

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "somewhere")

    def change() -> None:
        with transaction.transaction(place):
            (place / "bin" / "tool").unlink()
            patched.setattr(Path, "rename", refused)
            raise ZeroDivisionError

    with monkeypatch.context() as patched, pytest.raises(InstallError, match="could not be put back"):
        change()
    assert is_unfinished(place)
    assert recover_all() == (place,)
    assert exact_tree(place) == before


def test_a_journal_that_nobody_can_read_does_not_stop_the_others(place: Path) -> None:
    paths.journals_dir().mkdir(parents=True)
    (paths.journals_dir() / "0.json").write_text("{")
    assert recover_all() == ()
    _enter(place)


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    files.write_atomically(file, "one")
    assert file.stat().st_mode & 0o777 == 0o666 & ~_umask(), "others may read what they could read before"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomically(file, "two")
    assert tree(tmp_path) == {"file": "one"}


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def test_what_the_file_system_refuses_is_explained() -> None:
    for number, word in ((errno.EROFS, "ASCENDENV_HOME"), (errno.ENOSPC, "free some space")):
        with pytest.raises(InstallError, match="/place: ") as refused, files.explained():
            raise OSError(number, os.strerror(number), "/place")
        assert word in (refused.value.hint or "")
    with pytest.raises(BrokenPipeError), files.explained():
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
