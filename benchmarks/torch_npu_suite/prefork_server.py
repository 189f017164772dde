"""Runs pytest in forks of a process that has already imported what nearly every file of the suite imports.

Its arguments name these modules; it runs in the environment under test. A request is a line of JSON on
standard input, the answer a line with the exit code, negative for a signal as subprocess has it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
from typing import Any

import pytest


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what imports print is no answer
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        print(_serve(json.loads(line)), file=answers, flush=True)


def _serve(request: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        try:
            _become(request)
        finally:
            os._exit(pytest.ExitCode.INTERNAL_ERROR)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left behind
    return os.waitstatus_to_exitcode(status)


def _become(request: dict[str, Any]) -> None:
    """As `python -m pytest` would be in that folder with those variables."""
    os.setsid()
    signal.alarm(max(1, round(request["seconds"])))
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.path[0:1] = [request["cwd"], *request["env"]["PYTHONPATH"].split(os.pathsep)]
    code = pytest.main(request["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
