"""The user's pip configuration: where people keep their mirrors, and where uv does not look.

The order is pip's own (`pip config debug` prints it): global files, the user's files, the environment's file,
the file of ``PIP_CONFIG_FILE``, and last the ``PIP_*`` variables. Over all files a ``[install]`` section
wins over ``[global]``, and a later value replaces an earlier one as a whole, lists included.
"""

from __future__ import annotations

import configparser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ascendenv.guard_files import without_guards
from ascendenv.host.files import exists, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import PipConfiguration

_SECTIONS = ("global", "install")
_ENVIRONMENT = "environment"
_OPTIONS = frozenset(
    {"index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "constraint", "cert", "proxy"}
)
_TRUE = frozenset({"y", "yes", "t", "true", "on", "1"})


@dataclass(frozen=True)
class _Told:
    """An option's text and the file or variable that it stands in."""

    text: str
    source: str


def pip_configuration(
    machine: Machine,
    environment: Path | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> PipConfiguration:
    """What ``pip install`` would go by in ``environment`` (the active virtual environment by default).

    ``warn`` is told about files that cannot be read; pip itself would stop at them.
    """
    told = _in_effect(machine, environment, warn)
    sources = dict.fromkeys(entry.source for option, entry in told.items() if option in _OPTIONS)
    return PipConfiguration(
        where=", ".join(sources) or "no pip configuration",
        index_url=_one(told, "index-url"),
        extra_index_urls=_many(told, "extra-index-url"),
        find_links=_many(told, "find-links"),
        no_index=(_one(told, "no-index") or "").lower() in _TRUE,
        trusted_hosts=_many(told, "trusted-host"),
        constraints=without_guards(_many(told, "constraint")),
        cert=_one(told, "cert"),
        proxy=_one(told, "proxy"),
    )


def configuration_files(machine: Machine, environment: Path | None = None) -> tuple[Path, ...]:
    """The files that pip reads if they are there, the weakest first."""
    chosen = machine.environ.get("PIP_CONFIG_FILE", "")
    if chosen == "/dev/null":
        return ()
    user_files = () if chosen and exists(machine, Path(chosen)) else _user_files(machine)
    active = machine.environ.get("VIRTUAL_ENV") or machine.environ.get("CONDA_PREFIX") or ""
    site = environment or _path(active)
    return (
        *_global_files(machine),
        *user_files,
        *([site / "pip.conf"] if site else []),
        *([Path(chosen)] if chosen else []),
    )


def _global_files(machine: Machine) -> Iterator[Path]:
    directories = machine.environ.get("XDG_CONFIG_DIRS", "").strip() or "/etc/xdg"
    yield from (Path(directory) / "pip" / "pip.conf" for directory in directories.split(":") if directory)
    yield Path("/etc/pip.conf")


def _user_files(machine: Machine) -> Iterator[Path]:
    home = _path(machine.environ.get("HOME", ""))
    config = _path(machine.environ.get("XDG_CONFIG_HOME", "").strip()) or (home / ".config" if home else None)
    if home is not None:
        yield home / ".pip" / "pip.conf"
    if config is not None:
        yield config / "pip" / "pip.conf"


def _in_effect(machine: Machine, environment: Path | None, warn: Callable[[str], None]) -> dict[str, _Told]:
    """The options that count. An empty value counts for nothing, but it has replaced what stood before it."""
    told: dict[tuple[str, str], _Told] = {}
    for path in configuration_files(machine, environment):
        told |= _file_options(path, read(machine, path) or "", warn)
    told |= {
        (_ENVIRONMENT, _option(name.removeprefix("PIP_"))): _Told(value.strip(), f"${name}")
        for name, value in machine.environ.items()
        if name.startswith("PIP_")
    }
    return {
        option: entry
        for wanted in (*_SECTIONS, _ENVIRONMENT)
        for (section, option), entry in told.items()
        if section == wanted and entry.text
    }


def _file_options(path: Path, text: str, warn: Callable[[str], None]) -> dict[tuple[str, str], _Told]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        # The error's own text quotes the line, and that line may hold a password.
        warn(f"{path} is not a configuration file that pip can read ({type(error).__name__})")
        return {}
    return {
        (section, _option(name)): _Told(value.strip(), str(path))
        for section in _SECTIONS
        if parser.has_section(section)
        for name, value in parser.items(section)
    }


def _option(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _path(text: str) -> Path | None:
    return Path(text) if text.startswith("/") else None


def _one(told: Mapping[str, _Told], option: str) -> str | None:
    return told[option].text if option in told else None


def _many(told: Mapping[str, _Told], option: str) -> tuple[str, ...]:
    return tuple(told[option].text.split()) if option in told else ()
