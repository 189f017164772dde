"""``set_env.sh`` run once in a clean bash, and the difference that it makes kept as data.

The scripts of the vendor work only in bash, fail under ``set -u`` and are lost in every shell that does not
read ``~/.bashrc``. As data the same difference applies anywhere, also on top of variables that are set.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ascendenv import process
from ascendenv.errors import ActivationError

# Variables that hold several entries separated by colons: others' entries must survive.
PATH_VARIABLES = (
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "CMAKE_PREFIX_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "PKG_CONFIG_PATH",
)
# Each names the root of an installation; only one CANN can be in effect.
_ROOT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ATB_HOME_PATH")
# Stands for "whatever was there before", so that entries in front of it and behind it can be told apart.
_BEFORE = "/ascendenv/before"
_CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Set by bash itself, or by us for the clean shell.
_NOT_OURS = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "HOME", "LC_ALL"})
_SECONDS = 120.0


class Activation(BaseModel):
    """What takes a CANN into effect: entries to put in front and behind, and plain values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    scripts: tuple[Path, ...]
    prepend: Mapping[str, tuple[str, ...]]
    append: Mapping[str, tuple[str, ...]]
    values: Mapping[str, str]

    def apply(self, environ: Mapping[str, str]) -> dict[str, str]:
        """``environ`` with the activation on top; applying it twice changes nothing more.

        Entries of another CANN that ``environ`` has in effect are left out, all others kept.
        """
        result = {**environ, **self.values}
        others = self._other_roots(environ)
        for name in PATH_VARIABLES:
            front, behind = self.prepend.get(name, ()), self.append.get(name, ())
            if front or behind or (others and name in environ):
                kept = _without(environ.get(name, ""), {*front, *behind}, others)
                result[name] = ":".join((*front, *kept, *behind))
        # An empty value would stand for the working directory.
        return {name: value for name, value in result.items() if value or name not in PATH_VARIABLES}

    def _other_roots(self, environ: Mapping[str, str]) -> list[str]:
        theirs = [environ[name] for name in _ROOT_VARIABLES if name in environ]
        ours = {self.values.get(name) for name in _ROOT_VARIABLES}
        return [root for root in theirs if len(Path(root).parts) > 1 and root not in ours]


def capture(scripts: Sequence[Path], *, python_dir: Path) -> Activation:
    """Run ``scripts`` in order in a clean bash and keep what they change.

    ``python_dir`` goes first on the ``PATH`` of that shell, because NNAL's script asks Python for torch's
    C++ ABI. Raises :class:`~ascendenv.errors.ActivationError` when a script is missing or fails.
    """
    for script in scripts:
        if not script.is_file():
            raise ActivationError(
                f"{script} does not exist, so this CANN cannot be taken into effect",
                hint="`ascendenv doctor` shows which CANN installations are complete",
            )
    before = _clean_environ(python_dir)
    return _difference(before, _environ_after(scripts, before), tuple(scripts))


def _without(value: str, ours: set[str], other_roots: Sequence[str]) -> list[str]:
    entries = [entry for entry in value.split(":") if entry and entry not in ours]
    return [entry for entry in entries if not any(map(Path(entry).is_relative_to, other_roots))]


def _clean_environ(python_dir: Path) -> dict[str, str]:
    environ = {
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "PATH": f"{_BEFORE}:{python_dir}:{_CLEAN_PATH}",
    }
    return environ | {name: _BEFORE for name in PATH_VARIABLES if name != "PATH"}


def _environ_after(scripts: Sequence[Path], before: Mapping[str, str]) -> dict[str, str]:
    # Each script is sourced as a user would, without arguments; its own output must not mix with the listing.
    # The listing does not depend on the PATH that the scripts have made.
    sourcing = "".join(f"source {shlex.quote(str(script))} 1>&2 || exit\n" for script in scripts)
    command = ["bash", "--noprofile", "--norc", "-c", f"{sourcing}command -p env -0"]
    names = " and ".join(map(str, scripts))
    try:
        done = process.run(command, env=before, check=False, timeout=_SECONDS)
    except FileNotFoundError:
        raise ActivationError(
            "CANN's set_env.sh needs bash, which is not on this machine", hint="install the package bash"
        ) from None
    except subprocess.TimeoutExpired:
        raise ActivationError(f"{names} had not ended after {_SECONDS:g} s", hint=_try(scripts)) from None
    if done.returncode != 0:
        raise ActivationError(
            f"{names} failed with exit code {done.returncode}\n{_indented(done.stderr)}".rstrip(),
            hint=f"it may be incomplete; {_try(scripts)}, and see `ascendenv doctor`",
        )
    if not done.stdout:
        raise ActivationError(
            f"{names} ends the shell that it is sourced in, so nothing it sets has an effect",
            hint=f"a set_env.sh must not call `exit`; {_try(scripts)}",
        )
    after = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    if "ASCEND_HOME_PATH" not in after and "ASCEND_TOOLKIT_HOME" not in after:
        raise ActivationError(
            f"{scripts[0]} ran but set no ASCEND_HOME_PATH, so it is not CANN's script",
            hint="`ascendenv doctor` shows which CANN installations are complete",
        )
    return after


def _difference(before: Mapping[str, str], after: Mapping[str, str], scripts: tuple[Path, ...]) -> Activation:
    prepend, append, values = {}, {}, {}
    for name, value in sorted(after.items()):
        # Exported functions come as BASH_FUNC_name%%: they are for bash alone.
        if name in _NOT_OURS or before.get(name) == value or not name.isidentifier():
            continue
        if name in PATH_VARIABLES:
            front, behind = _around(before[name], value)
            prepend[name], append[name] = front, behind
        else:  # a script may make a variable of its own from one that holds entries
            values[name] = ":".join(part for part in value.split(":") if part != _BEFORE)
    return Activation(
        scripts=scripts,
        prepend={name: entries for name, entries in prepend.items() if entries},
        append={name: entries for name, entries in append.items() if entries},
        values=values,
    )


def _around(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The entries in front of what was there before, and those behind it."""
    old = set(before.split(":"))
    entries = list(dict.fromkeys(entry for entry in after.split(":") if entry))
    start = next((i for i, entry in enumerate(entries) if entry in old), len(entries))
    front = tuple(entries[:start])
    behind = tuple(entry for entry in entries[start:] if entry not in old)
    return front, behind


def _try(scripts: Sequence[Path]) -> str:
    return f"try `bash -c {shlex.quote(f'source {shlex.quote(str(scripts[0]))}')}`"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines()[-10:])
