"""The operating system and its C library."""

from __future__ import annotations

import re
from pathlib import Path

from ascendenv.host.files import children, key_values, on_disk, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import OperatingSystem

UNKNOWN = "unknown"
_RELEASE_FILES = ("/etc/os-release", "/usr/lib/os-release")
_LIBC_DIRECTORIES = ("/lib64", "/lib", "/usr/lib64", "/usr/lib")
_GLIBC_BANNER = re.compile(rb"GNU C Library [^\0]*?version (\d+\.\d+)")


def operating_system(machine: Machine) -> OperatingSystem:
    """Name and kernel by their files, the C library by ``getconf`` or else by its own file."""
    libc, libc_version = _libc(machine)
    return OperatingSystem(
        where=next((path for path in _RELEASE_FILES if read(machine, path)), "no os-release file"),
        name=_name(machine),
        kernel=(read(machine, "/proc/sys/kernel/osrelease") or UNKNOWN).strip(),
        libc=libc,
        libc_version=libc_version,
    )


def _name(machine: Machine) -> str:
    for path in _RELEASE_FILES:
        fields = key_values(read(machine, path))
        if "NAME" in fields:
            return f"{fields['NAME']} {fields.get('VERSION_ID', '')}".strip()
    return UNKNOWN


def _libc(machine: Machine) -> tuple[str, str]:
    answer = machine.run(["getconf", "GNU_LIBC_VERSION"])
    words = answer.stdout.split() if answer is not None else []
    if len(words) == 2:  # noqa: PLR2004  # "glibc 2.36"
        return words[0], words[1]
    if any(path.name.startswith("ld-musl-") for path in children(machine, "/lib")):
        return "musl", UNKNOWN
    return _glibc_by_file(machine)


def _glibc_by_file(machine: Machine) -> tuple[str, str]:
    for directory in _LIBC_DIRECTORIES:
        for place in (Path(directory), *_multiarch(machine, directory)):
            version = _glibc_banner(on_disk(machine, place / "libc.so.6"))
            if version is not None:
                return "glibc", version
    return UNKNOWN, UNKNOWN


def _multiarch(machine: Machine, directory: str) -> list[Path]:
    return [path for path in children(machine, directory) if path.name.endswith("-linux-gnu")]


def _glibc_banner(path: Path) -> str | None:
    try:
        found = _GLIBC_BANNER.search(path.read_bytes())
    except OSError:
        return None
    return found[1].decode() if found else None
