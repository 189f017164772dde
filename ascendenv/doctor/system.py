"""Checks of the system underneath: processor, C library, Python, compiler, pip's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ascendenv.compatibility.model import Matrix, WheelSupport
from ascendenv.doctor.finding import finding, ok
from ascendenv.doctor.model import Finding, Fix
from ascendenv.host.model import Host, PipConfiguration
from ascendenv.host.urls import redact_url
from ascendenv.vocabulary import Severity

_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)")
_VERSION = re.compile(r"(\d+)\.(\d+)")


def host_arch(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Hold the processor against those that Ascend software exists for."""
    arch = host.cpu.arch
    if arch is not None:
        yield ok("host.arch", str(arch), str(arch), seen=[(host.cpu.machine, host.cpu.where)])
        return
    yield finding(
        "host.arch",
        Severity.ERROR,
        f"{host.cpu.machine} is not an architecture that Ascend supports",
        f"昇腾不支持 {host.cpu.machine} 架构",
        seen=[(host.cpu.machine, host.cpu.where)],
        why="CANN and torch_npu are built for aarch64 and x86_64 Linux only",
        fix=[
            Fix(
                command="ascendenv resolve --arch aarch64",
                safe=True,
                note="plan for another machine from here",
            )
        ],
    )


def host_libc(host: Host, matrix: Matrix) -> Iterator[Finding]:
    """Hold the C library against what the published torch_npu wheels need."""
    name = f"{host.os.libc} {host.os.libc_version}".strip()
    seen = [(name, host.os.where)]
    if host.os.libc == "musl":
        yield finding(
            "host.libc",
            Severity.ERROR,
            "this system's C library is musl; Ascend software needs glibc",
            "本系统使用 musl C 库,昇腾软件需要 glibc",
            seen=seen,
            why="CANN and the wheels of torch and torch_npu are linked against glibc",
            fix=[
                Fix(note="use a glibc distribution, for a container a Debian, Ubuntu or openEuler base image")
            ],
        )
        return
    here, needs = _pair(_VERSION, host.os.libc_version), _glibc_needs(host, matrix)
    if here is None or not needs:
        return
    newest = max(needs)
    if here >= newest:
        yield ok("host.libc", name, name, seen=seen)
        return
    yield finding(
        "host.libc",
        Severity.WARNING if here >= min(needs) else Severity.ERROR,
        f"{name} is older than current torch_npu wheels need (glibc {_dotted(newest)})",
        f"{name} 低于当前 torch_npu 安装包的要求(glibc {_dotted(newest)})",
        seen=[*seen, (f"wheels for glibc {', '.join(map(_dotted, sorted(needs)))}", "matrix/torch_npu.toml")],
        why="a wheel made for a newer glibc is not installed, or fails to load",
        fix=[Fix(note="use a newer distribution or a container; or an old torch_npu whose wheels still fit")],
    )


def python_supported(host: Host, matrix: Matrix) -> Iterator[Finding]:
    """Find a Python that torch_npu has wheels for."""
    wanted = sorted(
        {python for wheels in _wheels(host, matrix) for python in wheels.pythons}, key=_python_key
    )
    if not wanted:
        return
    seen = [(f"Python {found.version}", str(found.path)) for found in host.interpreters]
    fitting = list(dict.fromkeys(found.short for found in host.interpreters if found.short in wanted))
    if fitting:
        names = f"Python {', '.join(fitting)}"
        yield ok("python.supported", names, names, seen=seen)
        return
    yield finding(
        "python.supported",
        Severity.ERROR,
        "no Python on this machine has a torch_npu wheel",
        "本机没有 torch_npu 支持的 Python",
        seen=seen or [("no Python 3", "$PATH")],
        why=f"torch_npu has wheels for CPython {', '.join(wanted)}",
        fix=[Fix(note=f"install one of them and put it on PATH ({wanted[-1]} is the newest)")],
    )


def build_compiler(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find the compiler that the device-runtime probe and the simulated CANN are built with."""
    if host.compiler is not None:
        name = f"{host.compiler.path.name} {host.compiler.version}"
        yield ok("build.compiler", name, name, seen=[(name, str(host.compiler.path))])
        return
    yield finding(
        "build.compiler",
        Severity.WARNING,
        "there is no C++ compiler",
        "没有 C++ 编译器",
        seen=[("not found", "$CXX, c++, g++, clang++")],
        why="`ascendenv install` builds its device probe here, and with --simulate the simulated CANN",
        fix=[Fix(command="apt-get install g++", note="or `dnf install gcc-c++`, as root")],
    )


def pip_config(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Show where packages come from, and settings that cannot work."""
    pip = host.pip
    seen = _sources(pip)
    if pip.no_index and not pip.find_links:
        yield finding(
            "pip.config",
            Severity.WARNING,
            "pip is told to use no index, and no other place either",
            "pip 被设置为不使用任何索引,也没有其他来源",
            seen=[("no-index without find-links", pip.where)],
            why="nothing can be installed this way",
            fix=[Fix(command="pip config debug", safe=True, note="shows which file or variable sets it")],
        )
    elif seen:
        yield ok("pip.config", "pip's configuration is followed", "遵循 pip 的配置", seen=seen)


def host_probes(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Pass on what could not be examined."""
    for warning in host.warnings:
        yield finding(
            "host.probes",
            Severity.WARNING,
            warning,
            f"未能检查:{warning}",
            why="other findings may be incomplete because of it",
        )


def _sources(pip: PipConfiguration) -> list[tuple[str, str]]:
    places = [
        *([f"index {redact_url(pip.index_url)}"] if pip.index_url else []),
        *(f"extra index {redact_url(url)}" for url in pip.extra_index_urls),
        *(f"find-links {redact_url(url)}" for url in pip.find_links),
        *(f"constraint {redact_url(url)}" for url in pip.constraints),
        *([f"proxy {redact_url(pip.proxy)}"] if pip.proxy else []),
    ]
    return [(place, pip.where) for place in places]


def _wheels(host: Host, matrix: Matrix) -> list[WheelSupport]:
    arch = host.cpu.arch
    return [] if arch is None else [row.wheels[arch] for row in matrix.torch_npu if arch in row.wheels]


def _glibc_needs(host: Host, matrix: Matrix) -> set[tuple[int, int]]:
    """The glibc of each release's least demanding wheel."""
    needs = (
        [pair for platform in wheels.platforms if (pair := _pair(_MANYLINUX, platform))]
        for wheels in _wheels(host, matrix)
    )
    return {min(pairs) for pairs in needs if pairs}


def _pair(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    found = pattern.match(text)
    return (int(found[1]), int(found[2])) if found else None


def _dotted(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"


def _python_key(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
