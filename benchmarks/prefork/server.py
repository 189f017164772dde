"""Runs `python -m MODULE ...` and `python -c SOURCE` in forks of itself, which has imported some modules.

Its arguments name these. A request is a line of JSON on standard input, the answer a line with the exit code,
negative for a signal as subprocess has it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import signal
import sys
from collections.abc import Callable
from typing import Any


def main() -> Callable[[], None] | None:
    """Serve until standard input ends; in a fork, return what it is to run."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what imports print is no answer
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            return _become(request)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it left behind
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    return None


def _become(request: dict[str, Any]) -> Callable[[], None]:
    """Be in the state in which `python ARGUMENTS` would be in that folder with those variables."""
    os.setsid()
    signal.alarm(max(1, round(request["seconds"])))
    for number, path in enumerate([os.devnull, request["stdout"], request["stderr"]]):
        os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), number)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    given = request["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[0:1] = [request["cwd"], *filter(None, given)]
    option, what, *arguments = request["arguments"]
    sys.argv = [option, *arguments]
    if option == "-m":
        return lambda: _run_module(what)
    return lambda: _run_source(what)


def _run_module(name: str) -> None:
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_source(source: str) -> None:
    exec(compile(source, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as `python -c` does


if __name__ == "__main__":
    run = main()
    if run:
        run()
