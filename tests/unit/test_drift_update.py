"""What the index has becomes rows: in canonical form, with no more said than the index says."""

from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_index import file, recorded

from ascendenv.compatibility.load import load
from ascendenv.drift.compare import compare
from ascendenv.drift.model import Snapshot
from ascendenv.drift.update import updated, write
from ascendenv.paths import resource_dir
from ascendenv.vocabulary import Arch, Evidence

MATRIX = load()
RECORDED = recorded()
NEW = ("2.15.0", "torch_npu-2.15.0-cp311-cp311-manylinux_2_28_{arch}.whl")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(resource_dir("matrix"), tmp_path / "matrix"))


def moved_on() -> Snapshot:
    """A day on which torch_npu 2.15.0, a wheel of 2.10.0.post6 and torch 2.16.0 came, and pins changed."""
    names = [
        NEW[1].format(arch="x86_64"),
        NEW[1].format(arch="aarch64"),
        "torch_npu-2.10.0.post6-cp312-cp312-manylinux_2_28_x86_64.whl",
    ]
    (pinned,) = (n for n in RECORDED.requires if n.startswith("torch_npu-2.13.0-cp310") and "x86_64" in n)
    return replace(
        RECORDED,
        day=dt.date(2026, 12, 25),
        files={
            **RECORDED.files,
            "torch-npu": (*RECORDED.files["torch-npu"], *map(file, names)),
            "torch": (
                *RECORDED.files["torch"],
                file("torch-2.16.0-cp311-cp311-manylinux_2_28_x86_64.whl"),
            ),
        },
        requires={**RECORDED.requires, names[0]: ("torch==2.15.0.*",), pinned: ("torch==2.13.0",)},
    )


def test_an_index_that_has_not_moved_changes_the_day_only(directory: Path) -> None:
    diff = write(updated(MATRIX, RECORDED), directory, dry_run=False).splitlines()
    changed = [line for line in diff if line.startswith(("-", "+")) and not line.startswith(("---", "+++"))]
    assert all('name = "default"' in line for line in changed)
    load(directory)


def test_what_is_new_becomes_rows_that_hold(directory: Path) -> None:
    diff = write(updated(MATRIX, moved_on()), directory, dry_run=False)
    newer = load(directory)
    assert compare(newer, moved_on()).differences == ()
    release = newer.torch_npu[0]
    assert (release.torch_npu, release.torch, release.train) == ("2.15.0", "2.15.0", "unstated")
    assert (release.cann, release.evidence) == (None, Evidence.UNKNOWN)
    assert release.uploaded == dt.date(2026, 12, 24)
    assert release.wheels[Arch.X86_64].requires == ("torch==2.15.0.*",)
    assert release.wheels[Arch.AARCH64].requires == ()
    assert "2.15.0" not in newer.torch_without_npu[0].torch
    assert newer.torch_without_npu[0].torch[0] == "2.16.0"
    assert newer.indexes[0].read == dt.date(2026, 12, 25)
    assert '+torch_npu = "2.15.0"\n' in diff
    assert '+wheels.x86_64 = { pythons = ["3.10", "3.11", "3.12"], platforms' in diff


def test_a_dry_run_writes_nothing(directory: Path) -> None:
    assert write(updated(MATRIX, moved_on()), directory, dry_run=True)
    assert (directory / "torch_npu.toml").read_bytes() == (
        resource_dir("matrix") / "torch_npu.toml"
    ).read_bytes()


def test_what_is_gone_stays_and_an_sdist_makes_no_release() -> None:
    files = tuple(f for f in RECORDED.files["torch-npu"] if str(f.version) != "2.13.0")
    strange = file("torch_npu-2.99.0.tar.gz")
    snapshot = replace(RECORDED, files={**RECORDED.files, "torch-npu": (*files, strange)})
    assert [row.torch_npu for row in updated(MATRIX, snapshot).torch_npu] == [
        row.torch_npu for row in MATRIX.torch_npu
    ]
