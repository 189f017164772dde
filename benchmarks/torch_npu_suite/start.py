"""Ways to start the process of a file: fresh, or a fork of one that has imported the suite's helpers."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, NamedTuple, Protocol, cast

from ascendenv.process import run

SERVER = Path(__file__).with_name("prefork_server.py")
COMMON = ("torch_npu.testing.testcase", "torch.testing._internal.common_utils")


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, none if out of time; and what it printed."""

    code: int | None
    said: str


class Start(Protocol):
    """Runs `python ARGUMENTS` in a folder to its end."""

    def __call__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
        """Run it; ``seconds`` is its time limit."""
        ...


@dataclass(frozen=True)
class Fresh:
    """A new process of this Python each time."""

    python: str

    def __call__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
        """Run it."""
        try:
            done = run([self.python, *arguments], env=env, cwd=cwd, timeout=seconds, check=False)
        except subprocess.TimeoutExpired as expired:
            return Ended(None, _text(expired.stdout) + _text(expired.stderr))
        return Ended(done.returncode, done.stdout + done.stderr)


@contextmanager
def preforked(python: str, imports: Sequence[str] = COMMON) -> Iterator[Start]:
    """A fork each time, for `-m pytest ...` only. Calls at the same time have a server each."""
    idle: SimpleQueue[_Server] = SimpleQueue()
    with ExitStack() as servers:

        def start(arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
            try:
                server = idle.get_nowait()
            except Empty:
                server = servers.enter_context(_server([python, str(SERVER), *imports], env))
            ended = _ask(
                server, {"arguments": arguments[2:], "env": env, "cwd": str(cwd), "seconds": seconds}
            )
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
    with subprocess.Popen(
        command, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield _Server(cast("IO[str]", process.stdin), cast("IO[str]", process.stdout))


def _ask(server: _Server, request: Mapping[str, object]) -> Ended:
    with tempfile.NamedTemporaryFile("r", errors="replace") as output:
        print(json.dumps({**request, "output": output.name}), file=server.requests, flush=True)
        code = int(server.answers.readline())
        return Ended(None if code == -signal.SIGALRM else code, output.read())


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""
