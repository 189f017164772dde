"""``set_env.sh`` run once in a clean bash, and the difference that it makes kept as data.

The scripts of the vendor work only in bash, fail under ``set -u`` and are lost in every shell that does not
read ``~/.bashrc``. As data the same difference applies anywhere, also on top of variables that are set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ascendenv import process
from ascendenv.errors import ActivationError

# Variables that hold several entries separated by colons: others' entries must survive.
PATH_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CMAKE_PREFIX_PATH")
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
        """``environ`` with the activation on top; applying it twice changes nothing more."""
        result = {**environ, **self.values}
        for name in sorted({*self.prepend, *self.append}):
            front, behind = self.prepend.get(name, ()), self.append.get(name, ())
            ours = {*front, *behind}
            kept = [entry for entry in environ.get(name, "").split(":") if entry and entry not in ours]
            result[name] = ":".join((*front, *kept, *behind))
        return result


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


def _clean_environ(python_dir: Path) -> dict[str, str]:
    environ = {
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "PATH": f"{_BEFORE}:{python_dir}:{_CLEAN_PATH}",
    }
    return environ | {name: _BEFORE for name in PATH_VARIABLES if name != "PATH"}


def _environ_after(scripts: Sequence[Path], before: Mapping[str, str]) -> dict[str, str]:
    # Each script is sourced as a user would; its own output must not mix with the listing.
    sourcing = "".join('source "$1" 1>&2 || exit 97; shift; ' for _ in scripts)
    command = ["bash", "--noprofile", "--norc", "-c", f"{sourcing} env -0", "ascendenv", *map(str, scripts)]
    try:
        done = process.run(command, env=before, check=False, timeout=_SECONDS)
    except FileNotFoundError:
        raise ActivationError(
            "CANN's set_env.sh needs bash, which is not on this machine", hint="install the package bash"
        ) from None
    if done.returncode != 0:
        names = " and ".join(map(str, scripts))
        raise ActivationError(
            f"{names} failed with exit code {done.returncode}\n{_indented(done.stderr)}",
            hint=f"it may be incomplete; try `bash -c 'source {scripts[0]}'` and see `ascendenv doctor`",
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
        if name in _NOT_OURS or before.get(name) == value:
            continue
        if name in PATH_VARIABLES:
            front, behind = _around(before[name], value)
            prepend[name], append[name] = front, behind
        else:
            values[name] = value
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


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines()[-10:])
