"""Where an environment may be made or changed."""

from __future__ import annotations

import os
from pathlib import Path

from ascendenv import paths
from ascendenv.errors import InstallError, UsageError
from ascendenv.install import transaction
from ascendenv.install.files import explained

_ELSEWHERE = "name another place with --env PATH, or leave it out for a managed environment"

_ELSEWHERE_MANAGED = "name another place with --env PATH, or for all managed environments with ASCENDENV_HOME"


def resolved(path: Path) -> Path:
    """``path`` with ``~``, ``..`` and links followed: one environment, one name.

    Raises ``UsageError`` for a path that no environment can have.
    """
    try:
        place = path.expanduser().resolve()
        str(place).encode()
    except (RuntimeError, OSError, ValueError) as error:  # no such user, a loop of links, not UTF-8
        raise UsageError(f"{str(path)!r} is not a path that can be used: {error}", hint=_ELSEWHERE) from None
    if ":" in str(place) or "\n" in str(place):
        raise UsageError(
            f"{str(place)!r} cannot hold an environment: PATH separates its entries with colons, scripts "
            "name their Python in one line",
            hint=_ELSEWHERE,
        )
    return place


def require_place(path: Path) -> None:
    """Make sure that ``path`` is free or an environment of its own, can be written to, and is not in use.

    Raises ``UsageError`` for what is something else, ``InstallError`` for the rest. Changes nothing but what
    an interrupted installation has left there.
    """
    with explained():
        transaction.settle(path)
        if path.exists():
            _require_environment_or_nothing(path)
        managed = path.is_relative_to(resolved(paths.environments_dir()))
        there = next(place for place in (path, *path.parents) if place.exists())
        _require_writable(there, _ELSEWHERE_MANAGED if managed else _ELSEWHERE)


def _require_environment_or_nothing(path: Path) -> None:
    if not path.is_dir():
        raise UsageError(f"{path} is a file, not a directory", hint=_ELSEWHERE)
    if not any(path.iterdir()):
        return
    python = path / "bin" / "python"
    own = any((path / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))
    if own and not python.exists():
        raise UsageError(
            f"{path} is an environment whose Python is gone ({python}{_led_to(python)})",
            hint="make that environment anew, or name another with --env PATH",
        )
    if not own and python.exists():
        raise UsageError(
            f"{path} is a Python installation, not a virtual or conda environment", hint=_ELSEWHERE
        )
    if not own:
        raise UsageError(f"{path} is neither an empty place nor a Python environment", hint=_ELSEWHERE)


def _led_to(link: Path) -> str:
    return f" led to {link.readlink()}" if link.is_symlink() else ""


def _require_writable(directory: Path, elsewhere: str) -> None:
    if not directory.is_dir():
        raise UsageError(f"{directory} is a file, so nothing can be below it", hint=elsewhere)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise InstallError(f"{directory} cannot be written to", hint=elsewhere)
