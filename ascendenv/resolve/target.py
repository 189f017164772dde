"""The machine to plan for: what the host is, as far as the user does not say otherwise."""

from __future__ import annotations

import re

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix
from ascendenv.errors import UsageError
from ascendenv.host.model import Host
from ascendenv.resolve.model import Target
from ascendenv.versions import HdkVersion, InvalidHdkVersionError
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
    driver: str | None = None,
    default_python: str,
) -> Target:
    """The target from the host and the user's options. Raises ``UsageError`` for names nobody knows."""
    chosen_arch = parse_arch(arch) if arch else _own_arch(host)
    same_machine = chosen_arch is host.cpu.arch and host.os.libc == "glibc"
    own_glibc = host.os.libc_version if same_machine else OTHER_MACHINE_GLIBC
    family = query.parse_chip(matrix, chip) if chip else host.chip
    known = _own_driver(host) if same_machine and family is host.chip else None
    return Target(
        arch=chosen_arch,
        python=parse_python(matrix, python) if python else default_python,
        chip=family,
        glibc=parse_glibc(glibc) if glibc else own_glibc,
        driver=_parse_driver(driver) if driver else known,
        driver_from="--driver" if driver else host.driver.where if known and host.driver else "",
    )


def _own_driver(host: Host) -> str | None:
    """The driver of this machine; one that a simulated CANN claims says nothing."""
    return None if host.driver is None or any(npu.simulated for npu in host.npus) else host.driver.version


def _parse_driver(text: str) -> str | None:
    """A driver version such as ``25.5.1``, or ``any``. Raises ``UsageError`` for anything else."""
    try:
        return None if text == "any" else str(HdkVersion(text))
    except InvalidHdkVersionError as error:
        raise UsageError(str(error), hint="such as --driver 25.5.1, or `any`") from None


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
