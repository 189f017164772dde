"""The machine to plan for: what the host is, as far as the user does not say otherwise."""

from __future__ import annotations

import re

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix
from ascendenv.errors import UsageError
from ascendenv.host.model import Host
from ascendenv.resolve.model import Target
from ascendenv.vocabulary import Arch

# What every torch_npu wheel since 2.7.1 asks for; stands in for a machine that nothing is known of.
OTHER_MACHINE_GLIBC = "2.28"
_PYTHON = re.compile(r"3\.\d+")
_GLIBC = re.compile(r"2\.\d+")


def target(
    host: Host,
    matrix: Matrix,
    *,
    arch: str | None = None,
    python: str | None = None,
    chip: str | None = None,
    glibc: str | None = None,
    default_python: str,
) -> Target:
    """The target from the host and the user's options. Raises ``UsageError`` for names nobody knows."""
    chosen_arch = parse_arch(arch) if arch else _own_arch(host)
    same_machine = chosen_arch is host.cpu.arch and host.os.libc == "glibc"
    own_glibc = host.os.libc_version if same_machine else OTHER_MACHINE_GLIBC
    return Target(
        arch=chosen_arch,
        python=parse_python(matrix, python) if python else default_python,
        chip=query.parse_chip(matrix, chip) if chip else host.chip,
        glibc=parse_glibc(glibc) if glibc else own_glibc,
    )


def _own_arch(host: Host) -> Arch:
    if host.cpu.arch is None:
        raise UsageError(
            f"this machine's architecture, {host.cpu.machine}, is not one that Ascend supports",
            hint="plan for another machine with --arch aarch64 or --arch x86_64",
        )
    if host.os.libc == "musl":
        raise UsageError(
            f"this machine ({host.os.name}) has musl as its C library; torch_npu has wheels for glibc only",
            hint="use a machine or a container with glibc, or plan for one with --arch",
        )
    return host.cpu.arch


def parse_arch(text: str) -> Arch:
    """The architecture that ``text`` names. Raises ``UsageError`` for one that Ascend does not have."""
    aliases = {"arm64": "aarch64", "amd64": "x86_64", "x86-64": "x86_64"}
    name = aliases.get(text.lower(), text.lower())
    if name not in {str(arch) for arch in Arch}:
        raise query.unknown("architecture", text, map(str, Arch))
    return Arch(name)


def parse_python(matrix: Matrix, text: str) -> str:
    """``3.11`` for ``3.11`` or ``3.11.7``. Raises ``UsageError`` for what is no Python version."""
    known = pythons_with_wheels(matrix)[::-1]
    match = _PYTHON.match(text)
    if match is None or (match.group() not in known and not _plausible(match.group())):
        guess = query.did_you_mean(text, known)
        raise UsageError(
            f"unknown Python version `{text}`",
            hint=f"did you mean {guess}?" if guess else f"torch_npu has wheels for {', '.join(known)}",
        )
    return match.group()


def pythons_with_wheels(matrix: Matrix, arch: Arch | None = None) -> tuple[str, ...]:
    """The Pythons that torch_npu has wheels for (on ``arch``), newest first."""
    wheels = (w for row in matrix.torch_npu for name, w in row.wheels.items() if arch in {None, name})
    return tuple(sorted({p for support in wheels for p in support.pythons}, key=_minor, reverse=True))


def parse_glibc(text: str) -> str:
    """A glibc version such as ``2.28``. Raises ``UsageError`` for anything else."""
    if _GLIBC.fullmatch(text) is None:
        raise UsageError(
            f"`{text}` is no version of glibc", hint="such as --glibc 2.28; `ldd --version` prints it"
        )
    return text


def _minor(python: str) -> int:
    return int(python.split(".")[1])


def _plausible(version: str) -> bool:
    """Whether this may be a Python that exists, though torch_npu has no wheel for it."""
    return _minor(version) < 20  # noqa: PLR2004  # far beyond any released Python
