"""Starts a file's process afresh, which can always be."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefork import Ended

from ascendenv.process import run


@dataclass(frozen=True)
class Fresh:
    """A new process of this Python each time."""

    python: str

    def __call__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float) -> Ended:
        """Run it."""
        try:
            done = run([self.python, *arguments], env=env, cwd=cwd, timeout=seconds, check=False)
        except subprocess.TimeoutExpired as expired:
            return Ended(None, _text(expired.stdout), _text(expired.stderr))
        return Ended(done.returncode, done.stdout, done.stderr)


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""
