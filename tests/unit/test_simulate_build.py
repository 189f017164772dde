"""The kept build of the simulated CANN: done once for each torch, and independent of where it came from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascendenv import paths
from ascendenv.host.compiler import compiler
from ascendenv.host.machine import LocalMachine
from ascendenv.install.progress import Silent
from ascendenv.simulate.build import InstalledTorch, Libraries, built_libraries

PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(tiny LANGUAGES NONE)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/built/lib64/libascendcl.so "for ${ASCENDENV_TORCH}")
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


def build(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, torch: str = "2.13.0", told: Lines | None = None
) -> tuple[Libraries, list[str]]:
    monkeypatch.setattr(paths, "resource_dir", lambda name: root / name)
    found, told = compiler(LocalMachine()), told or Lines()
    assert found is not None
    made = built_libraries(InstalledTorch(root / "torch", torch), found.path, told)
    assert (made.source / "include" / "acl.h").read_text() == "// what a checkout brings\n"
    assert made.there
    assert (made.built / "lib64" / "libascendcl.so").is_file()
    return made, told.lines


def configured(lines: list[str]) -> bool:
    return any("Configuring" in line for line in lines)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_CACHE_DIR", str(tmp_path / "cache"))


def test_a_kept_build_outlives_the_checkout_that_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = checkout(tmp_path / "first"), checkout(tmp_path / "second")
    made, lines = build(first, monkeypatch)
    assert configured(lines)
    shutil.rmtree(first)
    again, lines = build(second, monkeypatch)
    assert again == made
    assert not configured(lines)


def test_each_torch_has_a_build_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = checkout(tmp_path / "project")
    made, _ = build(project, monkeypatch)
    other, lines = build(project, monkeypatch, torch="2.12.0")
    assert configured(lines)
    assert other.kept != made.kept


def test_a_build_that_was_partly_cleaned_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = checkout(tmp_path / "project")
    made, _ = build(project, monkeypatch)
    shutil.rmtree(made.built)
    assert configured(build(project, monkeypatch)[1])
    shutil.rmtree(made.kept)
    assert configured(build(project, monkeypatch)[1])


def test_an_interrupted_build_is_not_taken_for_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = checkout(tmp_path / "project")

    class CtrlC(Lines):
        def line(self, text: str) -> None:
            raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt):
        build(project, monkeypatch, told=CtrlC())
    (kept,) = (path for path in (tmp_path / "cache" / "builds").iterdir() if path.is_dir())
    assert not Libraries(kept, "2.13.0").there
    made, lines = build(project, monkeypatch)
    assert made.kept == kept
    assert configured(lines)
