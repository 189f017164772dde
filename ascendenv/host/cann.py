"""CANN installations, found by their files alone, in both layouts that CANN has had.

Up to 8.3, ``ascend-toolkit`` holds a directory a version, and ``latest`` with links into one of them; its one
``set_env.sh`` puts ``latest`` into effect. From 8.5 on, each ``cann-<version>`` is complete in itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ascendenv.host.files import children, exists, is_dir, is_file, key_values, read, real
from ascendenv.host.machine import Machine
from ascendenv.host.model import CannInstall
from ascendenv.versions import CannVersion, InvalidCannVersionError
from ascendenv.vocabulary import Arch

SIMULATOR_MARK = "share/info/simulator/version.info"

_ESSENTIAL = ("opp", "runtime", "compiler", "lib64/libascendcl.so", "lib64/libhccl.so")
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
_INTERNAL_TO_PUBLIC = re.compile(r"(\w+)_running_version=\[[^:\]]*:([^\]]+)\]")


@dataclass(frozen=True)
class _Place:
    """``root`` holds ``set_env.sh``, ``home`` is the installation, NNAL is a child of ``above``."""

    root: Path
    home: Path
    above: Path
    where: str


def cann_installs(machine: Machine) -> tuple[CannInstall, ...]:
    """All installations, the one in effect first, then newest first."""
    in_effect = _in_effect(machine)
    found: dict[Path, CannInstall] = {}
    for place in _places(machine):
        key = _own_directory(machine, place)
        if key not in found and _looks_like_cann(machine, place.home):
            found[key] = _describe(machine, place, in_effect=key == in_effect)
    return tuple(sorted(found.values(), key=_newest_first, reverse=True))


def _places(machine: Machine) -> Iterator[_Place]:
    for parent, where in _parents(machine):
        for path in children(machine, parent):
            if path.name.startswith("cann-"):
                yield _Place(path, path, parent, where)
        yield from _old_layout(machine, parent / "ascend-toolkit", where)
    for variable in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        home = Path(machine.environ.get(variable, ""))
        if home.is_absolute():
            yield _place_of_home(machine, home, f"${variable}")


def _parents(machine: Machine) -> Iterator[tuple[Path, str]]:
    yield Path("/usr/local/Ascend"), "/usr/local/Ascend"
    home, conda = machine.environ.get("HOME", ""), machine.environ.get("CONDA_PREFIX", "")
    for directory, where in ((home, "$HOME/Ascend"), (conda, "$CONDA_PREFIX/Ascend")):
        if directory.startswith("/"):
            yield Path(directory) / "Ascend", where
    records = ["/etc/Ascend/ascend_cann_install.info"]
    records += [f"{home}/Ascend/ascend_cann_install.info"] if home.startswith("/") else []
    for record in records:
        fields = key_values(read(machine, record))
        install_path = fields.get("Install_Path", "")
        toolkit_path = fields.get("Toolkit_InstallPath", "")
        if install_path.startswith("/"):
            yield Path(install_path), record
        if toolkit_path.startswith("/"):
            yield Path(toolkit_path).parent, record


def _old_layout(machine: Machine, toolkit: Path, where: str) -> Iterator[_Place]:
    latest = toolkit / "latest"
    if exists(machine, latest):
        yield _place_of_home(machine, latest, where)
    for path in children(machine, toolkit):
        if is_dir(machine, path) and _public_version(path.name) is not None:
            yield _Place(path, path, toolkit.parent, where)


def _place_of_home(machine: Machine, home: Path, where: str) -> _Place:
    """Go through ``ascend-toolkit/latest``, which from 8.5 on is a link to ``cann-<version>``."""
    target = real(machine, home)
    shared_script = target.name == "latest" and not is_file(machine, target / "set_env.sh")
    above = target.parent.parent if target.parent.name == "ascend-toolkit" else target.parent
    return _Place(target.parent if shared_script else target, target, above, where)


def _own_directory(machine: Machine, place: _Place) -> Path:
    """Tell the version directory: the same for an old ``latest`` whose links lead into it."""
    return real(machine, place.home / "runtime").parent


def _in_effect(machine: Machine) -> Path | None:
    home = machine.environ.get("ASCEND_HOME_PATH", "")
    return real(machine, Path(home) / "runtime").parent if home.startswith("/") else None


def _looks_like_cann(machine: Machine, home: Path) -> bool:
    marks = ("set_env.sh", "runtime", "compiler", "opp", "lib64/libascendcl.so", "share/info")
    return is_dir(machine, home) and any(exists(machine, home / mark) for mark in marks)


def _describe(machine: Machine, place: _Place, *, in_effect: bool) -> CannInstall:
    record = _install_record(machine, place.home)
    parts = _parts(machine, place.home)
    version = (
        _public_version(record.get("version", "")) or parts.get("runtime") or _version_by_name(machine, place)
    )
    missing = [name for name in _ESSENTIAL if not exists(machine, place.home / name)]
    missing += [] if is_file(machine, place.root / "set_env.sh") else ["set_env.sh"]
    nnal = place.above / "nnal" / "atb"
    return CannInstall(
        root=place.root,
        home=place.home,
        version=version,
        arch=record.get("arch") or _arch_by_directory(machine, place.home),
        complete=not missing,
        missing=tuple(missing),
        parts=parts,
        operators=_has_operators(machine, place.home),
        simulated=exists(machine, place.home / SIMULATOR_MARK),
        in_effect=in_effect,
        nnal=nnal if is_file(machine, nnal / "set_env.sh") else None,
        where=place.where,
    )


def _install_record(machine: Machine, home: Path) -> dict[str, str]:
    directories = [home, *(home / f"{arch}-linux" for arch in Arch)]
    records = (key_values(read(machine, path / "ascend_toolkit_install.info")) for path in directories)
    return next((record for record in records if record), {})


def _parts(machine: Machine, home: Path) -> dict[str, str]:
    """What the component files state; numbers of CANN's internal counting are left out."""
    parts = dict(_INTERNAL_TO_PUBLIC.findall(read(machine, home / "version.cfg") or ""))
    files = {name: home / name / "version.info" for name in ("runtime", "compiler", "opp")}
    files |= {path.name: path / "version.info" for path in children(machine, home / "share/info")}
    for name, path in files.items():
        version = _public_version(key_values(read(machine, path)).get("Version", ""))
        if version is not None:
            parts[name] = version
    return {
        name: version for name, version in parts.items() if _public_version(version) and name != "simulator"
    }


def _public_version(text: str) -> str | None:
    try:
        return str(CannVersion(text))
    except InvalidCannVersionError:
        return None


def _version_by_name(machine: Machine, place: _Place) -> str | None:
    return _public_version(_own_directory(machine, place).name.removeprefix("cann-"))


def _arch_by_directory(machine: Machine, home: Path) -> str | None:
    return next((arch.value for arch in Arch if is_dir(machine, home / f"{arch}-linux")), None)


def _has_operators(machine: Machine, home: Path) -> bool:
    records = [home / f"{arch}-linux" / "ascend_ops_install.info" for arch in Arch]
    return any(exists(machine, path) for path in records) or bool(children(machine, home / _KERNELS))


def _newest_first(install: CannInstall) -> tuple[bool, bool, CannVersion]:
    version = CannVersion(install.version or "0.0.0")
    return install.in_effect, not install.simulated, version
