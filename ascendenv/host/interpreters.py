"""Python interpreters that environments can be made from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ascendenv.host.files import children, is_file, key_values, read, real, search_path, which
from ascendenv.host.machine import Machine
from ascendenv.host.model import Interpreter

_NAME = re.compile(r"python3(?:\.\d+)?")
_QUESTION = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
_AT_ONCE = 8


def interpreters(machine: Machine) -> tuple[Interpreter, ...]:
    """CPython 3 interpreters, each once, newest first; each has been asked for its version.

    A virtual environment's Python counts as the one that it was made from. Version managers that put *shims*
    on ``PATH`` (pyenv) are looked through to the interpreters behind: a shim takes long and may refuse.
    """
    candidates: dict[Path, tuple[Path, str]] = {}
    for path, where in _candidates(machine):
        base = _base_of(machine, path)
        candidates.setdefault(real(machine, base), (base, where))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda item: _ask(machine, *item), candidates.values())
    return tuple(sorted(filter(None, found), key=_version_key, reverse=True))


def _candidates(machine: Machine) -> Iterator[tuple[Path, str]]:
    if machine.python is not None:
        yield machine.python, "the Python that runs ascendenv"
    for directory in search_path(machine):
        if directory.name == "shims":
            for version in children(machine, directory.parent / "versions"):
                yield from _named(machine, version / "bin", str(directory))
        else:
            yield from _named(machine, directory, "$PATH")


def _named(machine: Machine, directory: Path, where: str) -> Iterator[tuple[Path, str]]:
    for path in reversed(children(machine, directory)):  # python3.11 before python3, for it says more
        if _NAME.fullmatch(path.name) and which(machine, str(path)) is not None:
            yield path, where


def _base_of(machine: Machine, python: Path) -> Path:
    """Follow ``pyvenv.cfg`` out of a virtual environment: its ``home`` is the base's directory."""
    settings = key_values(read(machine, python.parent.parent / "pyvenv.cfg"))
    home = settings.get("home", "")
    for name in (python.name, "python3"):
        if home.startswith("/") and is_file(machine, Path(home) / name):
            return Path(home) / name
    return python


def _ask(machine: Machine, path: Path, where: str) -> Interpreter | None:
    answer = machine.run([path, "-I", "-S", "-c", _QUESTION])
    match answer.stdout.split() if answer is not None and answer.returncode == 0 else []:
        case ["cpython", major, minor, micro]:
            return Interpreter(path=path, version=f"{major}.{minor}.{micro}", where=where)
        case _:
            return None


def _version_key(interpreter: Interpreter) -> tuple[int, ...]:
    return tuple(int(number) for number in interpreter.version.split("."))
