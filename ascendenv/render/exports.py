"""An environment as shell commands or JSON."""

from __future__ import annotations

import json
import os
import shlex

from ascendenv.install.environment import Environment

# Variables that fish keeps as lists and joins with colons for programs.
_FISH_LISTS = frozenset({"PATH", "CDPATH", "MANPATH"})


def exports(environment: Environment, shell: str) -> str:
    """What ``ascendenv env`` prints: only the variables that change, with the caller's own entries kept.

    The values are complete, so that the lines work under ``set -u`` and may be evaluated again. In JSON, a
    variable that has to go is ``null``.
    """
    before = dict(os.environ)
    after = environment.environ(before)
    gone = {name: None for name in before if name not in after}
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    lines = sorted({**changed, **gone}.items())
    if shell == "json":
        return json.dumps(dict(lines), indent=2, ensure_ascii=False) + "\n"
    line = _fish if shell == "fish" else _bash
    return "".join(f"{line(name, value)}\n" for name, value in lines)


def _bash(name: str, value: str | None) -> str:
    return f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"


def _fish(name: str, value: str | None) -> str:
    if value is None:
        return f"set -e {name}"
    # Inside single quotes fish knows only two escapes: a backslash and a quote.
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    if name in _FISH_LISTS:
        return f"set -gx {name} " + " ".join(f"'{entry}'" for entry in quoted.split(":"))
    return f"set -gx {name} '{quoted}'"
