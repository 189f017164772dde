"""Keeps later `pip install` and `uv pip install` from taking an environment's stack apart.

The constraints of the plan stand in a file of the environment, and each installer is told of it where it
looks: pip in the environment's own ``pip.conf``, which counts whenever that pip runs; uv, which knows no
configuration of an environment, in variables that the environment's activation sets.
"""

from __future__ import annotations

import configparser
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendenv.guard_files import CONSTRAINTS, EXCLUDES, FOLDER, NEVER, reference, without_guards
from ascendenv.host.model import PipConfiguration
from ascendenv.install.files import remove, write_atomically
from ascendenv.resolve.model import Plan

_MARK = "# ascendenv guard"
_BEGIN, _END = f"{_MARK}: begin", f"{_MARK}: end"
_SECTION = "[install]"
_HEADING = "# What later installations have to keep to; `ascendenv guard off` takes it out of effect.\n"


@dataclass(frozen=True)
class Guard:
    """The guard of the environment at ``path``."""

    path: Path

    @property
    def constraints(self) -> Path:
        """The constraint file, for pip and uv."""
        return self.path / CONSTRAINTS

    @property
    def excludes(self) -> Path:
        """What uv has to do without: packages that would overwrite others. pip cannot leave any out."""
        return self.path / EXCLUDES

    @property
    def is_on(self) -> bool:
        """Whether it is in effect."""
        return self.constraints.is_file()

    @property
    def pip_conf(self) -> Path:
        """The configuration that pip reads in this environment, whoever calls it."""
        return self.path / "pip.conf"

    @property
    def covers_pip(self) -> bool:
        """Whether the environment's ``pip.conf`` has it: not when that has constraints of somebody's own."""
        return _MARK in _text(self.pip_conf)

    def put(self, lines: Sequence[str], pip: PipConfiguration) -> None:
        """Take it into effect; what was there of an earlier one is replaced."""
        self.lift()
        kept_out = [line.partition(NEVER)[0] for line in lines if NEVER in line]
        (self.path / FOLDER).mkdir(parents=True, exist_ok=True)
        write_atomically(self.constraints, _HEADING + "".join(f"{line}\n" for line in lines))
        if kept_out:
            write_atomically(self.excludes, "".join(f"{name}\n" for name in kept_out))
        self._tell_pip(pip)
        self._tell_shells()

    def lift(self) -> None:
        """Take it out of effect."""
        for file in (self.pip_conf, self._script):
            text = _text(file)
            kept = _without_ours(text)
            if kept.strip() in {"", _SECTION} and kept != text:
                file.unlink()
            elif kept != text:
                _rewrite(file, kept)
        remove(self.path / FOLDER)

    def variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What ``environ`` has to be given for pip and uv: the user's own constraints, and these."""
        given = {name: without_guards(environ.get(name, "").split()) for name in _VARIABLES}
        if not self.is_on:
            return {name: " ".join(entries) for name, entries in given.items() if name in environ}
        ours = self._files_for_uv
        if given["PIP_CONSTRAINT"] or not self.covers_pip:  # the variable replaces what pip.conf says
            ours["PIP_CONSTRAINT"] = self.constraints
        return {
            name: " ".join((*entries, *([reference(ours[name])] if name in ours else [])))
            for name, entries in given.items()
            if name in ours or name in environ
        }

    @property
    def _files_for_uv(self) -> dict[str, Path]:
        there = {"UV_EXCLUDE": self.excludes} if self.excludes.is_file() else {}
        return {"UV_CONSTRAINT": self.constraints, **there}

    @property
    def _script(self) -> Path:
        return self.path / "bin" / "activate"

    def _tell_pip(self, pip: PipConfiguration) -> None:
        text = _text(self.pip_conf)
        if _has_constraints(text):
            return
        files = (*pip.constraints, reference(self.constraints))
        block = f"{_BEGIN}\nconstraint = {' '.join(files)}\n{_END}\n"
        head, section, rest = text.partition(f"{_SECTION}\n")
        _rewrite(self.pip_conf, f"{head}{section}{block}{rest}" if section else f"{text}{_SECTION}\n{block}")

    def _tell_shells(self) -> None:
        """Have the scripts for bash and zsh set the variables, and set them back."""
        folder = self.path / FOLDER
        write_atomically(folder / "activate.sh", "".join(self._setting()))
        write_atomically(folder / "deactivate.sh", "".join(_setting_back()))
        text = _text(self._script)
        definition = next((line for line in text.splitlines() if line.startswith("deactivate ()")), None)
        if definition is None:
            return
        back, on = (f". {shlex.quote(str(folder / name))}" for name in ("deactivate.sh", "activate.sh"))
        hooked = text.replace(definition, f"{definition}\n    {back} {_MARK}", 1)
        _rewrite(self._script, f"{hooked.rstrip()}\n{on} {_MARK}\n")

    def _setting(self) -> Iterator[str]:
        yield "_ASCENDENV_GUARD=1\n"
        for name, file in self._files_for_uv.items():
            yield f'_ASCENDENV_{name}="${{{name}-}}"\n'
            yield f'export {name}="${{{name}:+${name} }}"{shlex.quote(reference(file))}\n'
        yield '_ASCENDENV_PIP_CONSTRAINT="${PIP_CONSTRAINT-}"\n'
        own = shlex.quote(reference(self.constraints))
        if self.covers_pip:
            yield f'[ -z "${{PIP_CONSTRAINT-}}" ] || export PIP_CONSTRAINT="$PIP_CONSTRAINT "{own}\n'
        else:
            yield f'export PIP_CONSTRAINT="${{PIP_CONSTRAINT:+$PIP_CONSTRAINT }}"{own}\n'


_VARIABLES = ("PIP_CONSTRAINT", "UV_CONSTRAINT", "UV_EXCLUDE")


def _setting_back() -> Iterator[str]:
    yield 'if [ -n "${_ASCENDENV_GUARD-}" ]; then\n'
    for name in _VARIABLES:
        old = f"_ASCENDENV_{name}"
        yield f'    if [ -n "${{{old}-}}" ]; then {name}="${old}"; else unset {name}; fi\n'
        yield f"    unset {old}\n"
    yield "    unset _ASCENDENV_GUARD\nfi\n"


def lines_of(plan: Plan) -> tuple[str, ...]:
    """The constraints of a plan; of one that was made before plans had any, the stack itself."""
    stack = (f"{p.name}=={p.version}" for p in plan.packages if p.name in {"torch", "torch-npu"})
    return plan.constraints or tuple(stack)


def _has_constraints(pip_conf: str) -> bool:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(pip_conf)
    except configparser.Error:
        return True  # pip stops at it anyway; it is not ours to mend
    return parser.has_option("install", "constraint")


def _without_ours(text: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _BEGIN in line or _END in line:
            inside = _BEGIN in line
        elif not inside and _MARK not in line:
            kept.append(line)
    return "".join(kept)


def _rewrite(file: Path, text: str) -> None:
    """Write it with the rights that it has: a pip.conf may hold passwords."""
    write_atomically(file, text, mode=file.stat().st_mode & 0o777 if file.exists() else None)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
