"""An environment as shell commands or JSON."""

from __future__ import annotations

import json
import os
import shlex

from ascendenv.install.environment import Environment


def exports(environment: Environment, shell: str) -> str:
    """What ``ascendenv env`` prints: only the variables that change, with the caller's own entries kept.

    The values are complete, so that the lines work under ``set -u`` and may be evaluated again.
    """
    before = dict(os.environ)
    after = environment.environ(before)
    changed = {name: value for name, value in sorted(after.items()) if before.get(name) != value}
    if shell == "json":
        return json.dumps(changed, indent=2, ensure_ascii=False) + "\n"
    line = _fish if shell == "fish" else _bash
    return "".join(f"{line(name, value)}\n" for name, value in changed.items())


def _bash(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _fish(name: str, value: str) -> str:
    # Inside single quotes fish knows only two escapes: a backslash and a quote.
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    if name == "PATH":
        return "set -gx PATH " + " ".join(f"'{entry}'" for entry in quoted.split(":"))
    return f"set -gx {name} '{quoted}'"
