"""``ascendenv simulate`` with the real wheels: any CANN and SoC on the one build of the main job."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from e2e.main_job import Installed, outer_environ, run

PROGRAM = """
import json, torch, torch_npu
from torch_npu.utils.collect_env import get_cann_version
left, right = torch.randn(64, 64), torch.randn(64, 64)
device = torch.npu.get_device_properties(0)
print(json.dumps({
    "runtime": torch_npu.npu.utils.get_cann_version("CANN"),
    "files": get_cann_version(),
    "count": torch.npu.device_count(),
    "soc": device.name,
    "memory": device.total_memory,
    "cores": [device.cube_core_num, device.vector_core_num],
    "correct": torch.allclose((left.npu() @ right.npu()).cpu(), left @ right, atol=1e-4),
}))
"""


def simulated(installed: Installed, *options: str) -> tuple[str, ...]:
    return ("simulate", *options[:1], "--env", str(installed.path), *options[1:])


@pytest.mark.parametrize(
    ("cann", "soc", "cores"),
    [
        ("8.1.RC1", "Ascend910B4", [20, 40]),
        ("8.3.RC2", "Ascend910B1", [24, 48]),
        ("8.5.0", "Ascend310P3", [8, 7]),
        ("9.0.0-beta.2", "Ascend910_9391", [24, 48]),
        ("9.2.0", "Ascend950PR_9589", [32, 64]),
    ],
)
def test_torch_npu_reads_it_as_it_would_the_real_one(
    cann: str, soc: str, cores: list[int], installed: Installed
) -> None:
    options = ("--cann", cann, "--soc", soc, "--devices", "3", "--memory", "2GiB")
    done = installed.cli(*simulated(installed, "run", *options, "--", "python", "-c", PROGRAM))
    assert done.stderr.startswith("SIMULATED  this is not an NPU"), "nothing was compiled for it"
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "runtime": cann.replace("-beta.", ".beta"),
        "files": cann,
        "count": 3,
        "soc": soc,
        "memory": 2 << 30,
        "cores": cores,
        "correct": True,
    }


@pytest.mark.parametrize("cann", ["8.2.RC1", "9.1.0"])
def test_doctor_sees_the_cann_in_effect_and_says_that_it_is_simulated(
    cann: str, installed: Installed
) -> None:
    doctor = (str(installed.checkout / "bin" / "ascendenv"), "doctor", "--format", "json")
    done = installed.cli(*simulated(installed, "run", "--cann", cann, "--", *doctor), check=False)
    diagnosis = json.loads(done.stdout)["result"]
    assert diagnosis["simulated"] is True
    assert f"CANN {cann} (simulated, in effect)" in diagnosis["stack"]


def test_a_tree_in_ones_own_place_needs_nothing_but_its_script(installed: Installed, tmp_path: Path) -> None:
    place = tmp_path / "Ascend"
    done = installed.cli(*simulated(installed, "build", "--to", str(place), "--format", "json"))
    made = json.loads(done.stdout)["result"]
    assert made["built"] is False
    script = f'. "{place}/ascend-toolkit/set_env.sh"; "{installed.python}" -c "$0"'
    ran = run(["bash", "-c", script, PROGRAM], outer_environ(installed.home))
    assert json.loads(ran.stdout.splitlines()[-1])["files"] == made["cann"]


def test_the_exit_code_and_the_signal_are_the_programs_own(installed: Installed) -> None:
    killed = f"import os; os.kill(os.getpid(), {signal.SIGTERM:d})"
    for command, code in (("import sys; sys.exit(5)", 5), (killed, -signal.SIGTERM)):
        words = simulated(installed, "run", "--", "python", "-c", f"import torch_npu; {command}")
        assert installed.cli(*words, check=False).returncode == code
