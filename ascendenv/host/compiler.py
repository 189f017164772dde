"""A C++ compiler, which the device-runtime probe and the simulated CANN are built with."""

from __future__ import annotations

import re
import shlex

from ascendenv.host.files import which
from ascendenv.host.machine import Machine
from ascendenv.host.model import Compiler

_NAMES = ("c++", "g++", "clang++")
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc"})
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")


def compiler(machine: Machine) -> Compiler | None:
    """``$CXX`` when it works, else the first of the usual names on ``PATH`` that does."""
    chosen = [word for word in _words(machine.environ.get("CXX", "")) if word not in _LAUNCHERS]
    candidates = [(chosen, "$CXX")] if chosen else []
    candidates += [([name], f"{name} --version") for name in _NAMES]
    for words, where in candidates:
        path = which(machine, words[0])
        answer = machine.run([path, *words[1:], "--version"]) if path is not None else None
        if path is not None and answer is not None and answer.returncode == 0:
            return Compiler(path=path, version=_version(answer.stdout), where=where)
    return None


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unbalanced quote
        return []


def _version(text: str) -> str:
    """Take the last number of the first line; a distribution's own version may stand before it."""
    found = _VERSION.findall(text.partition("\n")[0])
    return found[-1] if found else "unknown"
