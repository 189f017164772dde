"""What C++ builds need, and which package brings what is missing."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from ascendenv import process
from ascendenv.errors import BuildToolMissingError, CommandFailedError, InstallError
from ascendenv.host.model import Host
from ascendenv.install.progress import Listener

_BUILD_JOBS = str(os.cpu_count() or 1)
_TAIL = 25
_OTHER_BUILDS = frozenset(
    {
        "CFLAGS",
        "CPPFLAGS",
        "CXXFLAGS",
        "LDFLAGS",
        "DESTDIR",
        "PYTHONHOME",
        "PYTHONPATH",
        "MAKEFLAGS",
        "NINJAFLAGS",
    }
)
# Substrings of os-release names, and how a C++ compiler is installed there.
_COMPILER_PACKAGES = {
    ("debian", "ubuntu", "kylin desktop", "uos", "deepin"): "apt-get install g++",
    (
        "openeuler",
        "centos",
        "red hat",
        "rhel",
        "kylin",
        "fedora",
        "rocky",
        "alma",
        "culinux",
        "bclinux",
    ): "dnf install gcc-c++",
    ("suse",): "zypper install gcc-c++",
    ("alpine",): "apk add g++",
}


def require_compiler(host: Host) -> Path:
    """The C++ compiler. Raises :class:`~ascendenv.errors.BuildToolMissingError` naming the package."""
    if host.compiler is not None:
        return host.compiler.path
    name = host.os.name.lower()
    command = next(
        (how for words, how in _COMPILER_PACKAGES.items() if any(word in name for word in words)), None
    )
    raise BuildToolMissingError(
        "there is no C++ compiler on this machine (looked for $CXX, c++, g++ and clang++)",
        hint=f"as root: {command}"
        if command
        else "install a C++17 compiler, such as the package g++ or gcc-c++",
    )


def environ(compiler: Path, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The process environment for builds: our CMake and Ninja first, the compiler that was found.

    What the caller has set for other builds would change what is built here, and what the cache keeps.
    """
    everything = os.environ if base is None else base
    result = {name: value for name, value in everything.items() if not _for_other_builds(name)}
    result["PATH"] = f"{sysconfig.get_path('scripts')}:{result.get('PATH', os.defpath)}"
    result["CXX"] = str(compiler)
    return result


def _for_other_builds(name: str) -> bool:
    return name in _OTHER_BUILDS or (name.startswith(("CMAKE_", "SKBUILD_")) and name != "CMAKE_PREFIX_PATH")


def cmake_build(
    source: Path, build: Path, definitions: Mapping[str, str], compiler: Path, listener: Listener
) -> None:
    """Configure and build a CMake project with Ninja. Raises ``InstallError`` with its last lines."""
    configure = [
        "cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        *(f"-D{name}={value}" for name, value in definitions.items()),
    ]  # fmt: skip
    for command in (configure, ["cmake", "--build", str(build), "--parallel", _BUILD_JOBS]):
        run_build(command, compiler, listener)


def run_build(
    command: list[str], compiler: Path, listener: Listener, *, env: Mapping[str, str] | None = None
) -> None:
    """Run one build command and pass its lines on."""
    lines: list[str] = []

    def keep(line: str) -> None:
        lines.append(line)
        listener.line(line)

    code = process.stream(command, keep, env=environ(compiler, env))
    if code != 0:
        failed = CommandFailedError(command, code, "\n".join(f"  {line}" for line in lines[-_TAIL:]))
        raise InstallError(f"a build failed: {failed.message}", hint="`ascendenv doctor` checks the compiler")


def compiler_identity(compiler: Path) -> str:
    """What a cached build depends on of the compiler: the first line of its ``--version``."""
    return process.run([compiler, "--version"], timeout=30).stdout.split("\n", 1)[0]
