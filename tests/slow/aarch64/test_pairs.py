"""Real pairs on the simulated CANN on aarch64; run by ``bin/test-aarch64`` alone.

There the default index has CPU builds up to torch 2.10.0. On x86_64 all are CUDA builds, beside which
torch_npu refuses to run.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from slow.aarch64.emulated import Pair, emulated

PAIRS = [
    Pair(cann="8.3.RC1", torch="2.7.1", torch_npu="2.7.1"),
    Pair(cann="9.1.0", torch="2.7.1", torch_npu="2.7.1.post8"),  # what guides use
    Pair(cann="9.2.0", torch="2.10.0", torch_npu="2.10.0.post7"),
]

# One process for all: an import takes minutes of emulated time.
PROGRAM = """
import json, platform, torch, torch_npu
from torch import nn

def losses(device, make):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    inputs, targets = torch.randn(32, 16).to(device), torch.randint(0, 4, (32,)).to(device)
    optimizer = make(model.parameters())
    seen = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen

def error(compute, *operands):
    there = compute(*(operand.npu() for operand in operands))
    return (there.cpu() - compute(*operands)).abs().max().item()

makes = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.01),
}
square, row = torch.randn(8, 8), torch.randn(8)
print("REPORT", json.dumps(dict(
    machine=platform.machine(),
    torch=torch.__version__,
    torch_npu=torch_npu.__version__,
    device=torch.npu.get_device_name(0),
    count=torch.npu.device_count(),
    copied=torch.equal(square.npu().cpu(), square),
    half=error(lambda left: (left.half() @ left.half()).float(), square),
    errors={
        "matmul": error(torch.matmul, square, square),
        "add": error(torch.add, square, row),
        "softmax": error(lambda left: left.softmax(1), square),
        "layer norm": error(lambda left: nn.functional.layer_norm(left, (8,)), square),
        "gelu": error(nn.functional.gelu, square),
        "sum": error(torch.sum, square),
    },
    losses={name: [losses("cpu", make), losses("npu:0", make)] for name, make in makes.items()},
)))
"""


@pytest.fixture(scope="module", params=PAIRS, ids=[pair.torch_npu for pair in PAIRS])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Both tests and what they share are for one pair after the other."""
    chosen: Pair = request.param
    return chosen


@pytest.fixture(scope="module")
def ran(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The program's run."""
    kept = os.environ.get("ASCENDENV_TEST_CACHE")
    cache = Path(kept) if kept else tmp_path_factory.mktemp("aarch64")
    cache.mkdir(parents=True, exist_ok=True)
    return emulated(pair, cache).python(PROGRAM)


@pytest.fixture(scope="module")
def seen(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What the program reported."""
    assert ran.returncode == 0, ran.stderr
    reports = [line for line in ran.stdout.splitlines() if line.startswith("REPORT ")]
    assert len(reports) == 1, ran.stdout
    values: dict[str, Any] = json.loads(reports[0].removeprefix("REPORT "))
    return values


def test_the_wheels_are_those_of_aarch64(seen: dict[str, Any], pair: Pair) -> None:
    assert seen["machine"] == "aarch64"
    assert seen["torch"].split("+")[0] == pair.torch
    assert seen["torch_npu"] == pair.torch_npu


def test_the_simulated_devices_are_found(seen: dict[str, Any]) -> None:
    assert (seen["device"], seen["count"]) == ("Ascend910B3", 2)


def test_copies_are_exact(seen: dict[str, Any]) -> None:
    assert seen["copied"]


@pytest.mark.parametrize("operator", ["matmul", "add", "softmax", "layer norm", "gelu", "sum"])
def test_an_operator_gives_the_result_of_the_cpu(seen: dict[str, Any], operator: str) -> None:
    assert seen["errors"][operator] < 1e-5


def test_half_precision_is_rounded_as_on_the_cpu(seen: dict[str, Any]) -> None:
    assert seen["half"] < 1e-2


@pytest.mark.parametrize("optimizer", ["SGD", "momentum", "AdamW"])
def test_training_gives_the_losses_of_the_cpu(seen: dict[str, Any], optimizer: str) -> None:
    cpu, npu = seen["losses"][optimizer]
    assert npu == pytest.approx(cpu, abs=1e-5)
    assert npu[-1] < npu[0]
