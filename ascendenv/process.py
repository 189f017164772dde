"""The one place that runs other programs."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ascendenv.errors import CommandFailedError

TAIL_LINES = 25
# A program in a session of its own would outlive an ascendenv that was killed, and go on writing. So a
# watcher in that session reads a pipe whose other end only ascendenv holds, and ends the session with it.
_ON_A_LEASH = 'exec 9<&0 </dev/null; ({ read -r _ <&9; kill -KILL 0; } >/dev/null 2>&1 &); exec "$@" 9<&-'


@dataclass(frozen=True)
class Completed:
    """A finished program: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
    check: bool = True,
    hint: str | None = None,
) -> Completed:
    """Run ``command`` to its end and return what it printed.

    The program gets a session of its own that ends with this call: neither an interrupt nor a time limit
    (``timeout``, in seconds) nor the end of ascendenv itself leaves a child of it behind. A program that is
    not there raises ``FileNotFoundError``, one that is no program ``PermissionError``. With ``check``, a
    non-zero exit or a time limit raises :class:`~ascendenv.errors.CommandFailedError`; without, the latter
    is ``subprocess.TimeoutExpired``.
    """
    words = [str(word) for word in command]
    with _session(words, env, cwd, stderr=subprocess.PIPE) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as expired:
            if not check:
                raise
            reason = f"  it was given {expired.timeout:g} s and had not ended"
            raise CommandFailedError(words, -signal.SIGKILL, reason, hint=hint) from None
    if check and process.returncode != 0:
        raise CommandFailedError(words, process.returncode, _tail(stdout, stderr), hint=hint)
    return Completed(process.returncode, stdout, stderr)


def stream(
    command: Sequence[str | Path],
    on_line: Callable[[str], None],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> int:
    """Run ``command``, pass each line it prints (both streams) to ``on_line``, return its exit code."""
    words = [str(word) for word in command]
    with _session(words, env, cwd, stderr=subprocess.STDOUT) as process:
        for line in process.stdout or ():
            on_line(line.rstrip("\n"))
        return process.wait()


def replace(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Become ``command``: signals, exit code and terminal are its own from here on."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores these for itself; what is ignored would stay so in the command: `run -- yes | head`.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(command[0], list(command), dict(env))  # noqa: S606  # running the user's command is the purpose


@contextmanager
def _session(
    words: list[str], env: Mapping[str, str] | None, cwd: Path | None, *, stderr: int
) -> Iterator[subprocess.Popen[str]]:
    _require_program(words[0], os.environ if env is None else env)
    leash, held = os.pipe()
    try:
        with subprocess.Popen(
            ["/bin/sh", "-c", _ON_A_LEASH, "sh", *words],
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=leash,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as process:
            os.close(leash)
            leash = -1
            try:
                yield process
            except BaseException:
                _kill_session(process)
                raise
    finally:
        os.close(held)
        if leash >= 0:
            os.close(leash)


def _require_program(name: str, environ: Mapping[str, str]) -> None:
    if shutil.which(name, path=environ.get("PATH", os.defpath)) is None:
        reason = errno.EACCES if "/" in name and Path(name).exists() else errno.ENOENT
        raise OSError(reason, os.strerror(reason), name)


def _kill_session(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tail(stdout: str, stderr: str) -> str:
    lines = (stderr if stderr.strip() else stdout).splitlines()
    return "\n".join(f"  {line}" for line in lines[-TAIL_LINES:])
