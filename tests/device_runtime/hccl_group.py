"""Runs a scenario of HCCL as one process a rank."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device_runtime_builds import environment

if TYPE_CHECKING:
    from types import ModuleType

A2, A3, ASCEND_950 = "Ascend910B3", "Ascend910_9391", "Ascend950PR_9589"


class Group:
    """The ranks of one test; each scenario begins with a directory of its own."""

    def __init__(self, cann: Path, directory: Path) -> None:
        self._cann, self._directory, self._runs = cann, directory, 0

    def run(self, module: ModuleType, scenario: str, ranks: int, *, soc: str = A2, **extra: str) -> list[Any]:
        """The outcomes by rank; None for a rank that was killed."""
        self._runs += 1
        directory = self._directory / str(self._runs)
        directory.mkdir()
        processes = [
            subprocess.Popen(
                [sys.executable, str(module.__file__), scenario, str(rank), str(ranks), str(directory)],
                env=environment(self._cann, ASCENDENV_SIM_SOC=soc, **extra),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]
        try:
            return [_outcome(process) for process in processes]
        finally:
            for process in processes:
                process.kill()
                with process:  # waits for it and closes its pipes
                    pass


def _outcome(process: subprocess.Popen[str]) -> object:
    stdout, stderr = process.communicate(timeout=60)
    if process.returncode == -signal.SIGKILL:
        return None
    assert process.returncode == 0, stderr
    return json.loads(stdout)
