"""Memory of the simulated device as torch and torch_npu use it: between processes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from e2e.main_job import Simulated

PROGRAMS = Path(__file__).with_name("programs")


@pytest.mark.parametrize("expandable", ["True", "False"])
def test_processes_share_a_tensor(simulated: Simulated, expandable: str) -> None:
    """What one process writes, the other reads: the memory is one, by key and by shareable handle."""
    installed = simulated.installed
    done = subprocess.run(
        [installed.python, PROGRAMS / "share_tensor.py"],
        env=installed.environ() | {"PYTORCH_NPU_ALLOC_CONF": f"expandable_segments:{expandable}"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2000.0 2000.0 0"
