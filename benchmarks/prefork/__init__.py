"""Processes of another Python that start in no time: forks of one that has imported what they need."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, NamedTuple, Protocol, cast

SERVER = Path(__file__).with_name("server.py")


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, none if out of time; and what it printed."""

    code: int | None
    stdout: str
    stderr: str


class Start(Protocol):
    """Runs `python ARGUMENTS` in a folder to its end."""

    def __call__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
        """Run it; ``seconds`` is its time limit."""
        ...


@contextmanager
def preforked(python: str, imports: Sequence[str]) -> Iterator[Start]:
    """A fork each time, for ``-m MODULE ...`` and ``-c SOURCE``. Calls at the same time have a server each.

    What the variables of a call change in the imports has no effect: they were those of the first.
    """
    idle: SimpleQueue[_Server] = SimpleQueue()
    with ExitStack() as servers:

        def start(arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
            try:
                server = idle.get_nowait()
            except Empty:
                server = servers.enter_context(_server([python, str(SERVER), *imports], env))
            ended = _ask(server, {"arguments": arguments, "env": env, "cwd": str(cwd), "seconds": seconds})
            idle.put(server)
            return ended

        yield start


class _Server(NamedTuple):
    requests: IO[str]
    answers: IO[str]


@contextmanager
def _server(command: Sequence[str], env: Mapping[str, str]) -> Iterator[_Server]:
    """It ends when the requests do."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True) as process:
        yield _Server(cast("IO[str]", process.stdin), cast("IO[str]", process.stdout))


def _ask(server: _Server, request: Mapping[str, object]) -> Ended:
    with (
        tempfile.NamedTemporaryFile("r", errors="replace") as stdout,
        tempfile.NamedTemporaryFile("r", errors="replace") as stderr,
    ):
        whole = {**request, "stdout": stdout.name, "stderr": stderr.name}
        with suppress(BrokenPipeError):
            print(json.dumps(whole), file=server.requests, flush=True)
        answer = server.answers.readline()
        if not answer:
            raise RuntimeError("the process that was to be forked has ended; it said why on standard error")
        code = int(answer)
        return Ended(None if code == -signal.SIGALRM else code, stdout.read(), stderr.read())
