"""The ordinary ways to install the package."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest
from e2e.main_job import ROOT, copy_checkout, outer_environ, run

MATRIX_FILES = sorted(path.name for path in (ROOT / "matrix").glob("*.toml"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("checkout"))


def test_wheel_carries_everything_that_is_used(checkout: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, checkout], os.environ)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    resources = "ascendenv/_resources"
    assert {f"{resources}/matrix/{name}" for name in MATRIX_FILES} <= names
    assert f"{resources}/device_runtime/simulator/CMakeLists.txt" in names
    assert f"{resources}/device_runtime/probe/pyproject.toml" in names
    assert "ascendenv/verify/suite/conftest.py" in names
    assert not [name for name in names if name.startswith(("tests/", "matrix/"))]


def test_pip_install_into_a_fresh_virtual_environment(checkout: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run([sys.executable, "-m", "venv", venv], os.environ)
    run([venv / "bin" / "pip", "install", "-qq", checkout], os.environ)
    environ = outer_environ(tmp_path / "home")
    assert run([venv / "bin" / "ascendenv", "--version"], environ).stdout.startswith("ascendenv ")
    listed = run([venv / "bin" / "python", "-m", "ascendenv", "matrix", "show", "torch_npu==2.13.0"], environ)
    assert "26.2.0" in listed.stdout


def test_uv_tool_install(checkout: Path, tmp_path: Path) -> None:
    environ = outer_environ(tmp_path / "home") | {
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
    }
    run([Path(sys.executable).parent / "uv", "tool", "install", "-q", checkout], environ)
    assert run([tmp_path / "bin" / "ascendenv", "--version"], environ).stdout.startswith("ascendenv ")


def test_pipx(checkout: Path, tmp_path: Path) -> None:
    environ = outer_environ(tmp_path / "home") | {
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
    }
    uvx = [Path(sys.executable).parent / "uv", "tool", "run", "-q", "pipx", "install", "-q"]
    run([*uvx, "--python", sys.executable, checkout], environ)
    assert run([tmp_path / "bin" / "ascendenv", "--version"], environ).stdout.startswith("ascendenv ")
