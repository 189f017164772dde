"""Runs `python -m MODULE ...` and `python -c SOURCE` in forks of itself, which has imported some modules.

Its arguments name these. A request is a line of JSON on standard input, the answer a line with the exit code,
negative for a signal as subprocess has it. As with multiprocessing, a fork ends without exit handlers and
without taking its modules down: in a copy of so much memory that takes far longer than the program itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any


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
        os._exit(_exit_code(lambda: _become(request)))
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left behind
    return os.waitstatus_to_exitcode(status)


def _exit_code(program: Callable[[], None]) -> int:
    """What the interpreter would exit with, having said why."""
    try:
        program()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever ends a program
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _become(request: dict[str, Any]) -> None:
    """Be what `python ARGUMENTS` would be in that folder with those variables."""
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
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as `python -c` does


if __name__ == "__main__":
    main()
