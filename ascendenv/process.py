"""The one place that runs other programs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendenv.errors import CommandFailedError

TAIL_LINES = 25


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

    The program gets a session of its own, so that neither an interrupt nor a time limit (``timeout``, in
    seconds) leaves a child of it behind. With ``check``, a non-zero exit raises
    :class:`~ascendenv.errors.CommandFailedError`; a program that is not there raises ``FileNotFoundError``,
    one that takes too long ``subprocess.TimeoutExpired``.
    """
    words = [str(word) for word in command]
    with subprocess.Popen(
        words,
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
            _kill_session(process)
            raise
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
    with subprocess.Popen(
        [str(word) for word in command],
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            for line in process.stdout or ():
                on_line(line.rstrip("\n"))
            return process.wait()
        except BaseException:
            _kill_session(process)
            raise


def replace(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Become ``command``: signals, exit code and terminal are its own from here on."""
    os.execvpe(command[0], list(command), dict(env))  # noqa: S606  # running the user's command is the purpose


def _kill_session(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tail(stdout: str, stderr: str) -> str:
    lines = (stderr if stderr.strip() else stdout).splitlines()
    return "\n".join(f"  {line}" for line in lines[-TAIL_LINES:])
