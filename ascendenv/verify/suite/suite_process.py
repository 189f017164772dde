"""Child processes of checks: limited in time, and never outliving the suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

# Asks the kernel to kill this process when its parent ends, however that happens: PR_SET_PDEATHSIG, SIGKILL.
# The child does so itself, because code between fork and exec is not safe in a process with torch's threads.
_DIE_WITH_PARENT = "import ctypes; ctypes.CDLL(None).prctl(1, 9)"


def start(script: str, *arguments: str, stderr: IO[str]) -> subprocess.Popen[str]:
    """Start ``script``, a file of this suite, in the environment's Python, with pipes to talk to it."""
    path = Path(__file__).parent / script
    code = f"{_DIE_WITH_PARENT}; import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def answer(
    doing: str, code: str, seconds: float, variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object in the last line that ``code`` prints in a Python of its own, with ``variables`` set.

    Fails with the child's own error, or after ``seconds`` without an end; ``doing`` names it in either case.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"{_DIE_WITH_PARENT}\n{code}"],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env={**os.environ, **(variables or {})},
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{doing}: no answer within {seconds:g} s") from None
    if done.returncode != 0:
        raise AssertionError(f"{doing}: Python {describe_exit(done.returncode)}: {last_words(done.stderr)}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def describe_exit(returncode: int) -> str:
    """How a process ended, in words."""
    return f"exited with {returncode}" if returncode >= 0 else f"was killed by signal {-returncode}"


def last_words(stderr: str, lines: int = 6) -> str:
    """The end of what a process printed, where its error is."""
    return "\n".join(stderr.strip().splitlines()[-lines:]) or "it printed nothing"
