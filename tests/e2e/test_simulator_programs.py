"""Programs as users write them, on the real torch and torch_npu wheels and the simulated CANN.

Each does on the NPU what it does on the CPU, and the results are compared.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from e2e.main_job import Simulated, run

PROGRAMS = Path(__file__).parent / "programs"
STEPS = 20


def report(simulated: Simulated, program: str, *arguments: str, **variables: str) -> Any:  # noqa: ANN401  # JSON
    """What a program says in its line that begins with REPORT."""
    command = [simulated.installed.python, *arguments, PROGRAMS / program]
    done = run(command, simulated.installed.environ() | variables)
    return _report(done)


def _report(done: subprocess.CompletedProcess[str]) -> Any:  # noqa: ANN401
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    return json.loads(line.removeprefix("REPORT "))


@pytest.fixture(scope="module")
def snippets(simulated: Simulated) -> Mapping[str, str]:
    """What each snippet of `snippets.py` raised; one process for all."""
    raised: Mapping[str, str] = report(simulated, "snippets.py")
    return raised


@pytest.mark.parametrize(
    "snippet",
    [
        "tensors",
        "inference",
        "training_loop",
        "memory",
        "autocast",
        "checkpointing",
        "saved_state",
        "streams_and_events",
        "compiled",
        "linear_algebra",
        "complex_numbers_and_transforms",
        "seeds",
    ],
)
def test_a_snippet_does_what_it_does_on_the_cpu(snippets: Mapping[str, str], snippet: str) -> None:
    assert snippets[snippet] == ""


@pytest.fixture(scope="module")
def networks(simulated: Simulated) -> Mapping[str, Mapping[str, list[float]]]:
    """Per network and device the losses of each step, then what the trained network gives."""
    numbers: Mapping[str, Mapping[str, list[float]]] = report(simulated, "networks.py")
    return numbers


@pytest.mark.parametrize("network", ["train_transformer", "train_residual_network"])
def test_a_network_learns_as_on_the_cpu(
    networks: Mapping[str, Mapping[str, list[float]]], network: str
) -> None:
    cpu, npu = networks[network]["cpu"], networks[network]["npu:0"]
    assert npu[:STEPS] == pytest.approx(cpu[:STEPS], rel=1e-4, abs=1e-5)
    assert npu[STEPS:] == pytest.approx(cpu[STEPS:], rel=1e-3, abs=1e-3)
    assert npu[STEPS - 1] < npu[0] - 1


TRANSFER = "import torch_npu, runpy; from torch_npu.contrib import transfer_to_npu; "


def test_a_script_for_cuda_runs_on_the_npu(simulated: Simulated) -> None:
    program = PROGRAMS / "cuda_training.py"
    source = f"{TRANSFER}runpy.run_path({str(program)!r}, run_name='__main__')"
    done = simulated.python(source)
    assert done.returncode == 0, done.stderr
    said = _report(done)
    assert said["device"] == said["made"] == "npu:0"
    assert said["name"].startswith("Ascend")
    assert said["milliseconds"] > 0
    assert said["allocated"] > 0
    assert said["losses"][-1] < said["losses"][0]


def test_accelerate_finds_the_npu_by_itself(simulated: Simulated, huggingface: Mapping[str, str]) -> None:
    npu = report(simulated, "accelerate_training.py", **huggingface)
    cpu = report(simulated, "accelerate_training.py", ACCELERATE_USE_CPU="true", **huggingface)
    assert (npu["device"], npu["inputs"], cpu["device"]) == ("npu", "npu:0", "cpu")
    assert npu["losses"] == pytest.approx(cpu["losses"], abs=1e-5)


@pytest.fixture(scope="module")
def transformers_models(simulated: Simulated, huggingface: Mapping[str, str]) -> Mapping[str, Any]:
    """Per model of transformers and device the losses of 5 steps and some of its outputs."""
    numbers: Mapping[str, Any] = report(simulated, "transformers_training.py", **huggingface)
    return numbers


@pytest.mark.parametrize("model", ["llama eager", "llama sdpa", "bert eager", "bert sdpa"])
def test_a_model_of_transformers_learns_as_on_the_cpu(
    transformers_models: Mapping[str, Any], model: str
) -> None:
    cpu, npu = transformers_models[model]["cpu"], transformers_models[model]["npu:0"]
    assert npu == pytest.approx(cpu, rel=1e-3, abs=1e-3)


def test_a_model_of_transformers_says_what_it_says_on_the_cpu(transformers_models: Mapping[str, Any]) -> None:
    said = transformers_models["generate"]
    assert said["npu:0"] == said["cpu"]
    assert len(said["cpu"]) == 13
