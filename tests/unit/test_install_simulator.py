"""The kept build of the simulated CANN: done once for each content, and independent of where it came from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascendenv import paths
from ascendenv.host.compiler import compiler
from ascendenv.host.machine import LocalMachine
from ascendenv.install import simulator
from ascendenv.install.progress import Silent
from ascendenv.install.simulator import SimulatedCann

PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(tiny LANGUAGES NONE)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/configured "once\\n")
install(DIRECTORY include DESTINATION cann-${ASCENDENV_CANN_VERSION})
"""


class Lines(Silent):
    """Keeps what the build prints."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


def checkout(root: Path) -> Path:
    source = root / "device_runtime" / "simulator"
    (source / "include").mkdir(parents=True)
    (source / "include" / "acl.h").write_text("// what a checkout brings\n")
    (source / "CMakeLists.txt").write_text(PROJECT)
    return root


def build(root: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(paths, "resource_dir", lambda name: root / name)
    found, told = compiler(LocalMachine()), Lines()
    assert found is not None
    wanted = SimulatedCann(cann="9.1.0", soc="Ascend910B3")
    made = simulator.build_and_install(wanted, root, "2.13.0", found.path, target, told)
    assert (made / "include" / "acl.h").read_text() == "// what a checkout brings\n"
    return told.lines


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_CACHE_DIR", str(tmp_path / "cache"))


def test_a_kept_build_outlives_the_checkout_that_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = checkout(tmp_path / "first"), checkout(tmp_path / "second")
    assert any("Configuring" in line for line in build(first, tmp_path / "a", monkeypatch))
    shutil.rmtree(first)
    assert not any("Configuring" in line for line in build(second, tmp_path / "b", monkeypatch))


def test_a_build_that_was_partly_cleaned_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = checkout(tmp_path / "project")
    build(project, tmp_path / "a", monkeypatch)
    (kept,) = (path for path in (tmp_path / "cache" / "builds").iterdir() if path.is_dir())
    shutil.rmtree(kept)
    assert any("Configuring" in line for line in build(project, tmp_path / "b", monkeypatch))
