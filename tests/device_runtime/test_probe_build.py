"""What CMake says when the CANN to build the probe against is missing or incomplete."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from device_runtime_builds import SOURCES, build_environment

if TYPE_CHECKING:
    from pathlib import Path

NO_BUILD = 1


def find_cann(directory: Path, cann: Path | None) -> str:
    """What `FindCann.cmake` says about a CANN root, by itself: no compiler takes part."""
    project = directory / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(look NONE)\n"
        f'list(APPEND CMAKE_MODULE_PATH "{SOURCES / "probe" / "cmake"}")\n'
        "find_package(Cann REQUIRED)\n"
    )
    environ = build_environment(**({} if cann is None else {"ASCEND_HOME_PATH": str(cann)}))
    completed = subprocess.run(
        ["cmake", "-S", str(project), "-B", str(directory / "build"), "-G", "Ninja"],
        env=environ,
        text=True,
        capture_output=True,
        check=False,
    )
    assert completed.returncode == NO_BUILD, completed.stdout
    return " ".join(completed.stderr.split())


def test_no_cann_named(tmp_path: Path) -> None:
    message = find_cann(tmp_path, None)
    assert "ASCEND_HOME_PATH is not set" in message
    assert "set_env.sh" in message


def test_cann_that_is_not_there(tmp_path: Path) -> None:
    assert f"{tmp_path / 'nowhere'}, which is not a directory" in find_cann(tmp_path, tmp_path / "nowhere")


def test_cann_without_hccl(tmp_path: Path) -> None:
    cann = tmp_path / "cann"
    (cann / "include" / "acl").mkdir(parents=True)
    (cann / "include" / "acl" / "acl.h").touch()
    (cann / "lib64").mkdir()
    (cann / "lib64" / "libascendcl.so").touch()
    message = find_cann(tmp_path, cann)
    assert f"header hccl/hccl.h, looked for in {cann}/include" in message
    assert f"library libhccl.so, looked for in {cann}/lib64" in message
    assert "acl/acl.h" not in message
    assert "libascendcl" not in message
