"""An aarch64 Python with real wheels on a cross-compiled simulated CANN, run under qemu's user mode.

Nothing is mounted or registered: Debian's aarch64 packages are unpacked into a directory, and qemu looks for
files there first. A program cannot start another one that way.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[3]
SOC, PYTHON = "Ascend910B3", "3.11"
SUITE = "bookworm"  # the Debian release whose Python that is
_PACKAGES = ("libgomp1", "libstdc++6", f"python{PYTHON}")
_SECONDS = 3600


@dataclass(frozen=True)
class Pair:
    """A torch and a torch_npu whose aarch64 wheels are CPU builds, and the CANN that goes with them."""

    cann: str
    torch: str
    torch_npu: str


@dataclass(frozen=True)
class Emulated:
    """Runs aarch64 programs with both wheels on the simulated CANN."""

    system: Path
    packages: Path
    cann: Path

    def python(self, source: str) -> subprocess.CompletedProcess[str]:
        """Run Python source; the caller looks at the exit code."""
        variables = {
            "ASCEND_HOME_PATH": str(self.cann),
            "ASCEND_OPP_PATH": str(self.cann / "opp"),
            "LD_LIBRARY_PATH": f"{self.cann / 'lib64'}:{self.packages / 'torch/lib'}",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(self.packages),
            "PYTHONUNBUFFERED": "1",
        }
        interpreter = self.system / f"usr/bin/python{PYTHON}"
        set_there = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
        return subprocess.run(
            ["qemu-aarch64-static", "-L", str(self.system), *set_there, str(interpreter), "-c", source],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )


def emulated(pair: Pair, cache: Path) -> Emulated:
    """Make what is needed below ``cache``, each part once for each content."""
    packages = _packages(pair, cache)
    return Emulated(_system(cache), packages, _cann(pair.cann, packages / "torch", cache))


def _system(cache: Path) -> Path:
    system = cache / f"{SUITE}-arm64"
    with FileLock(system.with_suffix(".lock")):
        if not system.exists():
            fresh = system.with_suffix(".new")
            # Unpacked only: no package's script runs, so nothing has to be emulated for it.
            wanted = ["--variant=extract", "--architectures=arm64", f"--include={','.join(_PACKAGES)}"]
            _run(["mmdebstrap", *wanted, SUITE, str(fresh)])
            fresh.rename(system)
    return system


def _packages(pair: Pair, cache: Path) -> Path:
    target = ["--arch", "aarch64", "--python", PYTHON, "--chip", "910b"]
    wanted = ["--cann", pair.cann, "--torch", pair.torch, "--torch-npu", pair.torch_npu]
    resolve = [sys.executable, "-m", "ascendenv", "resolve", *target, *wanted, "--format", "json"]
    plan = json.loads(_run(resolve))["result"]["plan"]
    lines = [
        f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}"
        for package in plan["packages"]
    ]
    packages = cache / f"packages-{_digest(lines)}"
    with FileLock(packages.with_suffix(".lock")):
        if not packages.exists():
            requirements = packages.with_suffix(".txt")
            requirements.write_text("\n".join(lines) + "\n")
            fresh = packages.with_suffix(".new")
            foreign = ["--python-platform", "aarch64-manylinux_2_36", "--python-version", PYTHON]
            files = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(requirements)]
            _run(["uv", "pip", "install", *foreign, *files, "--target", str(fresh)])
            fresh.rename(packages)
    return packages


def _cann(version: str, torch: Path, cache: Path) -> Path:
    sources = ROOT / "device_runtime" / "simulator"
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    place = cache / f"simulator-{_digest([version, str(torch), *contents])}"
    definitions = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_INSTALL_PREFIX": str(place / "installed"),
        "ASCENDENV_CANN_VERSION": version,
        "ASCENDENV_SOC": SOC,
        "ASCENDENV_TORCH": str(torch),
    }
    build, done = place / "build", place / "done"
    with FileLock(place.with_suffix(".lock")):
        if not done.exists():
            options = [f"-D{name}={value}" for name, value in definitions.items()]
            _run(["cmake", "-S", str(sources), "-B", str(build), "-G", "Ninja", *options])
            _run(["cmake", "--build", str(build), "--parallel", str(os.cpu_count() or 1)])
            _run(["cmake", "--install", str(build)])
            done.touch()
    return place / "installed" / "ascend-toolkit" / "latest"  # in every layout


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _run(command: Sequence[str]) -> str:
    """What a program prints; its failure is the test's, with all that it said."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=_environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _environ() -> Mapping[str, str]:
    # CMake, Ninja and uv of the tests' own environment come first.
    return os.environ | {"PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"}
