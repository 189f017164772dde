"""Builds the simulated CANN (without torch) and the probe for tests, once for each content.

`ASCENDENV_TEST_CACHE` keeps the builds between sessions; else they last as long as pytest's directories.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

SOURCES = Path(__file__).resolve().parents[2] / "device_runtime"
CANN_VERSION = "9.1.0"


def build_simulator(cache: Path) -> Path:
    """Root of a simulated CANN: the directory with `set_env.sh`."""
    key = _digest(_simulator_sources())
    target = cache / f"simulator-{key}"
    with FileLock(cache / f"simulator-{key}.lock"):
        if not (target / "done").exists():
            shutil.rmtree(target, ignore_errors=True)
            _cmake_build(target)
            (target / "done").touch()
    return target / "installed" / f"cann-{CANN_VERSION}"


def build_sanitized_tests(cache: Path, sanitizers: str, subjects: list[str]) -> Path:
    """Directory of these C++ tests; they and the libraries they use are built with the sanitizers."""
    key = _digest(_simulator_sources("tests"), [sanitizers, *subjects])
    target = cache / f"sanitized-{key}"
    with FileLock(cache / f"sanitized-{key}.lock"):
        if not (target / "done").exists():
            shutil.rmtree(target, ignore_errors=True)
            flags = f"-fsanitize={sanitizers} -fno-sanitize-recover=all -O1 -g1"
            build = _cmake_configure(target, CMAKE_BUILD_TYPE="Sanitized", CMAKE_CXX_FLAGS=flags)
            _cmake_make(build, *subjects)
            (target / "done").touch()
    return target / "build" / "tests"


def build_probe(cache: Path, cann: Path) -> Path:
    """Directory to put on the module path: the probe's wheel, built against `cann` and unpacked."""
    source = SOURCES / "probe"
    key = _digest([source, cann / "include" / "acl", cann / "include" / "hccl"], [sys.version])
    target = cache / f"probe-{key}"
    with FileLock(cache / f"probe-{key}.lock"):
        if not (target / "done").exists():
            shutil.rmtree(target, ignore_errors=True)
            copied = target / "source"
            shutil.copytree(source, copied)
            run_build(_wheel_command(target), cwd=copied, ASCEND_HOME_PATH=str(cann))
            (wheel,) = target.glob("*.whl")
            zipfile.ZipFile(wheel).extractall(target / "modules")
            (target / "done").touch()
    return target / "modules"


def cache_directory(factory: pytest.TempPathFactory) -> Path:
    """Where builds are kept; workers of one session share it."""
    chosen = os.environ.get("ASCENDENV_TEST_CACHE")
    if chosen:
        directory = Path(chosen)
    elif "PYTEST_XDIST_WORKER" in os.environ:
        directory = factory.getbasetemp().parent / "device-runtime"
    else:
        directory = factory.getbasetemp() / "device-runtime"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def environment(cann: Path, **extra: str) -> dict[str, str]:
    """The process environment with this CANN in effect, and without settings that would change results."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HCCL_", "ASCEND_", "ASCENDENV_SIM"))
    }
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return kept | {
        "ASCEND_HOME_PATH": str(cann),
        "LD_LIBRARY_PATH": f"{cann / 'lib64'}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":"),
        "ASCENDENV_SIMULATED": "1",
        # A simulated machine for each worker: its devices have their memory once for all processes.
        "ASCENDENV_SIM_STATE": str(cann.parents[1] / f"machine-{worker}"),
        **extra,
    }


def build_environment(**extra: str) -> dict[str, str]:
    """The process environment for builds: CMake and Ninja of the tests' own environment come first."""
    kept = {name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"}
    return kept | {"PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}", **extra}


def run_build(command: list[str], *, cwd: Path | None = None, **extra: str) -> None:
    """Run a build command; its output is the test's failure."""
    completed = subprocess.run(
        command, cwd=cwd, env=build_environment(**extra), text=True, capture_output=True, check=False
    )
    assert completed.returncode == 0, f"{' '.join(command)}\n{completed.stdout}\n{completed.stderr}"


def _cmake_build(target: Path) -> None:
    build = _cmake_configure(target, CMAKE_BUILD_TYPE="Release")
    _cmake_make(build)
    run_build(["cmake", "--install", str(build)])


def _cmake_configure(target: Path, **chosen: str) -> Path:
    build = target / "build"
    definitions = {
        "CMAKE_INSTALL_PREFIX": str(target / "installed"),
        "ASCENDENV_CANN_VERSION": CANN_VERSION,
        "ASCENDENV_SOC": "Ascend910B3",
        "ASCENDENV_DEVICES": "4",
        "ASCENDENV_MEMORY": "1GiB",
    } | chosen
    run_build(
        ["cmake", "-S", str(SOURCES / "simulator"), "-B", str(build), "-G", "Ninja"]
        + [f"-D{name}={value}" for name, value in definitions.items()]
    )
    return build


def _cmake_make(build: Path, *targets: str) -> None:
    jobs = str(os.cpu_count() or 1)
    run_build(["cmake", "--build", str(build), "--parallel", jobs, "--target", *(targets or ("all",))])


def _simulator_sources(*more: str) -> list[Path]:
    # The operators come from the tables of others and are of no use here, so they are no part of a key.
    simulator = SOURCES / "simulator"
    rooms = sorted(room for room in (simulator / "src").iterdir() if room.name != "operators")
    parts = ("CMakeLists.txt", "include", "package", *more)
    return [*(simulator / part for part in parts), *rooms]


def _wheel_command(target: Path) -> list[str]:
    # The build backend's own entry point: neither pip nor an isolated environment is needed.
    program = f"from scikit_build_core.build import build_wheel; build_wheel({str(target)!r})"
    return [sys.executable, "-c", program]


def _digest(roots: Iterable[Path], parts: Iterable[str] = ()) -> str:
    state = hashlib.sha256("\0".join(parts).encode())
    for root in roots:
        files = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
        for file in files:
            if "__pycache__" not in file.parts:
                state.update(str(file.relative_to(root.parent)).encode() + b"\0" + file.read_bytes())
    return state.hexdigest()[:20]
