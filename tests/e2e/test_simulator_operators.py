"""Operators of the simulated CANN under the real torch and torch_npu wheels, compared with the CPU.

The fixture `simulated` gives an environment with both wheels on the simulated CANN; its `python(source)` runs
a program there. Each program checks itself against CPU torch and prints what the test then reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Protocol

import pytest
from e2e.main_job import ROOT, Installed


class Simulated(Protocol):
    """An environment with torch and torch_npu on the simulated CANN."""

    def python(self, source: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


HEADER = """
import json, torch, torch_npu
from torch import nn
def report(**values): print("REPORT", json.dumps(values))
def failure(call):
    try: call()
    except Exception as error: return str(error)
    return ""
"""


def run(simulated: Simulated, source: str, **variables: str) -> dict[str, Any]:
    """Run `source` with these environment variables and return what it reported."""
    done = simulated.python(HEADER + source, **variables)
    assert done.returncode == 0, done.stderr
    reports = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    assert len(reports) == 1, done.stdout
    values: dict[str, Any] = json.loads(reports[0].removeprefix("REPORT "))
    return values


def test_a_printed_tensor_names_its_device(simulated: Simulated) -> None:
    done = simulated.python("import torch, torch_npu\nprint(torch.randn(2, 2).npu())")
    assert done.returncode == 0, done.stderr
    assert "device='npu:0'" in done.stdout


OPTIMIZERS = [
    "torch.optim.SGD(parameters, lr=0.1, momentum=0.9)",
    "torch.optim.AdamW(parameters, lr=1e-2)",
    "torch.optim.AdamW(parameters, lr=1e-2, foreach=True)",
    "torch.optim.AdamW(parameters, lr=1e-2, fused=True)",
]


@pytest.fixture(scope="module")
def mlp_losses(simulated: Simulated) -> dict[str, Any]:
    """Per optimizer the losses of 20 steps on the CPU and on the device; one process for all."""
    return run(
        simulated,
        f"""
def losses(device, make):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    inputs, targets = torch.randn(128, 32).to(device), torch.randint(0, 10, (128,)).to(device)
    optimizer = eval(make, {{"torch": torch, "parameters": list(model.parameters())}})
    seen = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen
report(**{{make: [losses("cpu", make), losses("npu:0", make)] for make in {OPTIMIZERS!r}}})
""",
    )


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_an_mlp_gives_the_losses_of_the_cpu(mlp_losses: dict[str, Any], optimizer: str) -> None:
    cpu, npu = mlp_losses[optimizer]
    assert npu == pytest.approx(cpu, abs=1e-5)
    assert npu[-1] < npu[0]


def test_training_a_convolutional_network_gives_the_losses_of_the_cpu(simulated: Simulated) -> None:
    losses = run(
        simulated,
        """
def losses(device):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2), nn.GroupNorm(4, 16), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 10)).to(device)
    inputs, targets = torch.randn(8, 3, 16, 16).to(device), torch.randint(0, 10, (8,)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    seen = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen.append(loss.item())
    model.eval()
    return seen + [model(inputs).mean().item()]
report(cpu=losses("cpu"), npu=losses("npu:0"))
""",
    )
    assert losses["npu"] == pytest.approx(losses["cpu"], abs=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-2), ("bfloat16", 1e-1)])
def test_autocast_multiplies_in_half_precision(simulated: Simulated, dtype: str, tolerance: float) -> None:
    seen = run(
        simulated,
        f"""
left, right = torch.randn(8, 16), torch.randn(16, 4)
with torch.autocast("npu", dtype=torch.{dtype}):
    product = left.npu() @ right.npu()
report(dtype=str(product.dtype), error=(product.float().cpu() - left @ right).abs().max().item())
""",
    )
    assert seen["dtype"] == f"torch.{dtype}"
    assert seen["error"] < tolerance


def test_a_missing_operator_is_refused_by_name_every_time_and_harms_nothing(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
parts, counts = torch.ones(8).npu(), torch.ones(256, dtype=torch.int32).npu()
missing = lambda: torch_npu.npu_hans_decode(parts, parts, parts, counts, out=torch.ones(4).npu())
first = failure(missing)
total = (torch.ones(3).npu() + 1).sum().item()
report(first=first, total=total, second=failure(missing))
""",
    )
    for refusal in (seen["first"], seen["second"]):
        assert "aclnnHansDecode is not implemented by the simulated CANN" in refusal
    assert seen["total"] == 6


# `npu_ifmr` goes through the old aclop interface with every CANN, which refuses it at the launch: with a task
# queue that is on another thread, and the stream fails.
OLD_INTERFACE = """
import os
torch.npu.set_device(0)
data, right = torch.ones(1).npu(), torch.ones(5, 3).npu()
counts = torch.ones(128, dtype=torch.int32).npu()
calibrate = lambda: torch_npu.npu_ifmr(data, data, data, counts, 0.9, 0.9, 0.7, 1.3, 0.1, False)
def waits_for_an_event():
    event = torch.npu.Event()
    event.record()
    event.synchronize()
refusal = failure(lambda: calibrate()[0].sum().item())
later = [lambda: right.cpu(), lambda: right.sum().item(), torch.npu.synchronize, waits_for_an_event]
report(refusal=refusal, later=[failure(call) for call in later])
os._exit(0)  # a failed stream says so again at exit
"""
REFUSAL = "operator IFMR, of the old aclop interface, is not implemented by the simulated CANN"


def test_a_refusal_of_the_old_interface_is_raised_where_the_operator_is_called(simulated: Simulated) -> None:
    seen = run(simulated, OLD_INTERFACE, TASK_QUEUE_ENABLE="0")
    assert REFUSAL in seen["refusal"]
    assert seen["later"] == [""] * 4


@pytest.mark.parametrize("queue", ["1", "2"])
def test_a_refusal_of_the_old_interface_on_the_task_queue_lets_no_later_result_out(
    simulated: Simulated, queue: str
) -> None:
    seen = run(simulated, OLD_INTERFACE, TASK_QUEUE_ENABLE=queue)
    assert REFUSAL in seen["refusal"]
    assert all("200006" in failure for failure in seen["later"])
    # Of a failed copy torch_npu prints the reason and raises the code alone.
    for failure in seen["later"][1:]:
        assert REFUSAL in failure


def test_every_name_without_an_implementation_is_refused(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
import ctypes, os, pathlib
home = pathlib.Path(os.environ["ASCEND_HOME_PATH"])
library = ctypes.CDLL(str(home / "lib64/libopapi.so"))
implemented = (home / "share/info/simulator/operators.txt").read_text().split()
refused = [library[name + "GetWorkspaceSize"]() for name in implemented]
report(implemented=len(implemented), distinct=len(set(implemented)), codes=sorted(set(refused)))
""",
    )
    assert seen["implemented"] == seen["distinct"] > 0
    assert seen["codes"] == [561112]


def test_the_table_of_operators_is_that_of_the_build(installed: Installed) -> None:
    home = installed.environ()["ASCEND_HOME_PATH"]
    program = ROOT / "device_runtime" / "simulator" / "operator_table.py"
    done = subprocess.run(
        [sys.executable, program, home, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_shapes_that_do_not_match_are_refused_before_anything_runs(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
left, right = torch.ones(1, 2, 3).npu(), torch.ones(1, 4, 5).npu()
refusals = [failure(lambda: torch.bmm(left, right)), failure(lambda: torch.cat([left, right]))]
report(refusals=refusals, total=left.sum().item())
""",
    )
    for name, refusal in zip(("aclnnBatchMatMul", "aclnnCat"), seen["refusals"], strict=True):
        assert f"call {name} failed, error code is 161002" in refusal
    assert seen["total"] == 6


def test_an_index_out_of_range_is_a_device_fault_that_names_the_operator(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
import os
values, index = torch.ones(3, 4).npu(), torch.tensor([1, 7]).npu()
picked = values[index]
fault = failure(torch.npu.synchronize)
report(fault=fault)
os._exit(0)  # the device does not recover from a fault, and says so again at exit
""",
    )
    assert "507015" in seen["fault"]
    assert "aclnnIndex: index 7 is out of bounds" in seen["fault"]


def test_random_numbers_depend_on_the_seed_alone(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
def draw(seed):
    torch.manual_seed(seed)
    return [torch.randn(1000, device="npu"), torch.rand(1000, device="npu"), torch.randperm(50, device="npu"),
            nn.functional.dropout(torch.ones(1000, device="npu"), 0.25)]
first, again, other = draw(1), draw(1), draw(2)
report(same=[torch.equal(a, b) for a, b in zip(first, again)],
       different=[not torch.equal(a, b) for a, b in zip(first, other)],
       mean=first[0].mean().item(), deviation=first[0].std().item(),
       permutation=torch.equal(first[2].sort()[0].cpu(), torch.arange(50)),
       dropped=(first[3] == 0).float().mean().item(), kept=first[3].max().item())
""",
    )
    assert all(seen["same"])
    assert all(seen["different"])
    assert seen["mean"] == pytest.approx(0, abs=0.15)
    assert seen["deviation"] == pytest.approx(1, abs=0.15)
    assert seen["permutation"]
    assert seen["dropped"] == pytest.approx(0.25, abs=0.08)
    assert seen["kept"] == pytest.approx(1 / 0.75)


def test_a_gradient_scaler_skips_a_step_with_infinite_gradients(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
weight = torch.ones(4, device="npu", requires_grad=True)
optimizer, scaler = torch.optim.SGD([weight], lr=0.5), torch.amp.GradScaler("npu", init_scale=8.0)
def step(factor):
    optimizer.zero_grad()
    scaler.scale((weight * factor).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return weight.detach().cpu().tolist(), scaler.get_scale()
report(infinite=step(float("inf")), finite=step(1.0))
""",
    )
    assert seen["infinite"] == [[1.0] * 4, 4.0]
    assert seen["finite"] == [[0.5] * 4, 4.0]


EXPRESSIONS = [
    "x.t().contiguous()",
    "x[::2, 1:].clone()",
    "x.to(torch.bfloat16).to(torch.float32)",
    "x[x > 0]",
    "x.nonzero()",
    "x.var(0, correction=2)",
    "x.std(unbiased=False)",
    "torch.sort(x, dim=1, descending=True)[1]",
    "torch.topk(x, 2)[0]",
    "torch.unique((x * 2).int())",
    "x.index_put((torch.tensor([0, 2]).to(x.device),), torch.ones(2, 5).to(x.device), accumulate=True)",
    "torch.einsum('ij,kj->ik', x, x)",
    "nn.functional.interpolate(x[None, None], scale_factor=2, mode='bilinear')",
    "nn.functional.one_hot(torch.tensor([0, 3]).to(x.device), 5)",
    "torch.where(x > 0, x, torch.zeros_like(x)).cumsum(1)",
    "nn.functional.layer_norm(x, (5,))",
    "torch.complex(x, x).abs()",
    "torch.stack([x, x]).amax((0, 2))",
]


@pytest.fixture(scope="module")
def expressions(simulated: Simulated) -> dict[str, Any]:
    """Per expression where it was computed and how it differs from the CPU; one process for all."""
    return run(
        simulated,
        f"""
torch.manual_seed(0)
here = torch.randn(4, 5)
def compare(expression):
    expected, got = [eval(expression, {{"torch": torch, "nn": nn, "x": x}}) for x in (here, here.npu())]
    difference = failure(lambda: torch.testing.assert_close(got.cpu(), expected))
    return {{"device": str(got.device), "difference": difference, "elements": expected.numel()}}
report(**{{expression: compare(expression) for expression in {EXPRESSIONS!r}}})
""",
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_value_of_the_cpu(expressions: dict[str, Any], expression: str) -> None:
    assert expressions[expression]["difference"] == ""
    assert expressions[expression]["device"] == "npu:0"
    assert expressions[expression]["elements"] > 0
