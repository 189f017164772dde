"""`torch.distributed` of the real wheels over the simulated HCCL, compared with gloo and with the CPU.

A process of a rank takes seconds to import torch, so each launch makes many checks.
"""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from e2e.main_job import Simulated, run

PROGRAMS = Path(__file__).parent / "programs"
ROUNDING = 2e-6  # of float32, after some steps of training


def launch(
    simulated: Simulated, program: str, ranks: int, *arguments: object, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with `torchrun` on so many devices."""
    torchrun = [simulated.installed.python, "-m", "torch.distributed.run", "--standalone"]
    command = [*torchrun, f"--nproc_per_node={ranks}", PROGRAMS / program, *arguments]
    environ = simulated.installed.environ() | {"ASCENDENV_SIM_DEVICES": str(ranks)} | variables
    return run(command, environ, check=False)


def report(done: subprocess.CompletedProcess[str]) -> Any:  # noqa: ANN401  # what JSON holds
    """What rank 0 reported."""
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    return json.loads(line.removeprefix("REPORT "))


@pytest.mark.parametrize(("ranks", "seed", "cases"), [(2, 1, 60), (4, 2, 150), (8, 3, 40)])
def test_collectives(simulated: Simulated, ranks: int, seed: int, cases: int) -> None:
    told = report(launch(simulated, "collectives.py", ranks, seed, cases))
    assert sum(told["tried"].values()) > cases // 4  # rank 0 is in two of the four groups
    refused = told["refused"]
    assert "Cannot use ReduceOp.BAND with HCCL" in refused["BAND"]
    assert "HCCL allreduce: Unsupported data type at::kDouble" in refused["float64"]


@pytest.mark.parametrize("ranks", [2, 8])
def test_data_parallel(simulated: Simulated, ranks: int) -> None:
    told = report(launch(simulated, "data_parallel.py", ranks))
    exact = {name: value for name, value in told.items() if name != "float16 hook"}
    assert all(value < ROUNDING for value in exact.values()), told
    assert ROUNDING < told["float16 hook"] < 1e-3


def test_sharded(simulated: Simulated, tmp_path: Path) -> None:
    told = report(launch(simulated, "sharded.py", 4, tmp_path))
    expected = told.pop("whole")
    low = told.pop("FSDP2 in bfloat16")
    assert expected[-1] < 0.95 * expected[0]
    for name, losses in told.items():
        assert losses == pytest.approx(expected, rel=1e-5), name
    assert low == pytest.approx(expected, rel=0.02)
    assert low != pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("ranks", [4])
def test_sundries(simulated: Simulated, ranks: int) -> None:
    assert report(launch(simulated, "sundries.py", ranks)) == {}


def test_ranks_that_are_spawned(simulated: Simulated, tmp_path: Path) -> None:
    command = [simulated.installed.python, PROGRAMS / "spawned.py", tmp_path]
    environ = simulated.installed.environ() | {"ASCENDENV_SIM_DEVICES": "2"}
    assert report(run(command, environ, check=False)) == [11.0, 11.0]


def test_a_restart_by_torchrun(simulated: Simulated, tmp_path: Path) -> None:
    torchrun = [simulated.installed.python, "-m", "torch.distributed.run", "--standalone"]
    options = ["--nproc_per_node=2", "--max-restarts=1", "--monitor-interval=0.1"]
    # In a store that is shared with the attempt before, a fast rank still finds that one's root of the group.
    own_store = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    environ = simulated.installed.environ() | {"ASCENDENV_SIM_DEVICES": "2"} | own_store
    told = report(run([*torchrun, *options, PROGRAMS / "restarted.py", tmp_path], environ, check=False))
    assert told["attempt"] == 1
    assert len(told["losses"]) == 6
    assert told["losses"] == sorted(told["losses"], reverse=True)


class Broken:
    """The ranks of a group in which something goes wrong; torchrun would end them all with the first."""

    def __init__(self, simulated: Simulated, directory: Path) -> None:
        self._simulated, self._directory = simulated, directory

    def ranks(self, case: str, **variables: str) -> list[dict[str, Any]]:
        """What each rank was told; nothing of one that was killed."""
        store = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": "2"}
        environ = self._simulated.installed.environ() | store | {"ASCENDENV_SIM_DEVICES": "2"} | variables
        command = [str(self._simulated.installed.python), str(PROGRAMS / "broken_group.py"), case]
        files = [self._directory / f"{case}-{rank}" for rank in range(2)]
        processes = []
        for rank, file in enumerate(files):
            with file.open("w") as output:
                processes.append(
                    subprocess.Popen(
                        command, env=environ | {"RANK": str(rank)}, stdout=output, stderr=subprocess.STDOUT
                    )
                )
        for process in processes:
            process.wait(timeout=300)
        return [_told(file.read_text()) for file in files]


def _told(output: str) -> dict[str, Any]:
    reports = [line for line in output.splitlines() if line.startswith("REPORT ")]
    told: dict[str, Any] = json.loads(reports[0].removeprefix("REPORT ")) if reports else {}
    return told | {"output": output}


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def test_what_a_broken_group_tells(simulated: Simulated, tmp_path: Path) -> None:
    broken = Broken(simulated, tmp_path)
    survivor, killed = broken.ranks("killed", ASCENDENV_SIM_HCCL_HEARTBEAT="1")
    assert "error" not in killed
    assert "EI0002" in survivor["output"]
    assert "Heartbeat Lost Occurred" in survivor["output"]
    for rank in broken.ranks("mismatched"):
        assert "EI0005" in rank["output"] or "broken since an earlier failure" in rank["output"]
    for rank in broken.ranks("unsupported"):
        assert "Value bfloat16 for parameter dataType is invalid" in rank["error"]
    waiting, _ = broken.ranks("late", HCCL_EXEC_TIMEOUT="2")
    assert "EI0002" in waiting["output"]
    for rank in broken.ranks("shared"):
        assert "EI0015" in rank["error"]
        assert "has the same physical device ID 0" in rank["error"]
    root, _ = broken.ranks("reduce", HCCL_CONNECT_TIMEOUT="60")
    assert "Value 60 for environment variable HCCL_CONNECT_TIMEOUT is invalid" in root["error"]
    for rank in broken.ranks("reduce", ASCENDENV_SIM_FAULT="link-down"):
        assert "EI0006" in rank["output"] or "broken since an earlier failure" in rank["output"]
    first, _ = broken.ranks("aborted")
    assert first["seconds"] < 10
