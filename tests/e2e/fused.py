"""What the tests of fused operators share: a program's prelude that compares the device with a reference."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Protocol


class Simulated(Protocol):
    """An environment with torch and torch_npu on the simulated CANN."""

    def python(self, source: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


# References compute in float64 on the CPU, from the very values that the device is given.
PRELUDE = """
import itertools, json, math, torch, torch_npu
from torch.nn import functional as F

torch.manual_seed(0)
compared, wrong, refused = 0, [], {}
HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, *HALVES)
TOLERANCE = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float64: 1e-12}


def given(*shape, dtype=torch.float32, low=None, high=None):
    values = torch.randn(shape) if low is None else torch.rand(shape) * (high - low) + low
    return values.to(dtype)


def same(name, result, expected, tolerance=None):
    global compared
    compared += 1
    result, expected = result.cpu(), expected.detach()
    if result.shape != expected.shape:
        wrong.append(f"{name}: shape {tuple(result.shape)} instead of {tuple(expected.shape)}")
        return
    if not result.numel():
        return
    if result.dtype.is_floating_point:
        bound = (tolerance or TOLERANCE[result.dtype]) * (1 + expected.double().abs())
    else:
        bound = torch.full(expected.shape, float(tolerance or 0), dtype=torch.float64)
    difference = (result.double() - expected.double()).abs()
    if not bool((difference <= bound).all()):
        wrong.append(f"{name}: differs by {float(difference.max())}")


def leaf(tensor, device):
    return tensor.detach().to(device, torch.float64 if device == "cpu" else tensor.dtype).requires_grad_()


def same_gradients(name, function, reference, *tensors, tolerance=None):
    '''Results and gradients of function on the device against reference in float64.'''
    ours, theirs = [leaf(t, "npu") for t in tensors], [leaf(t, "cpu") for t in tensors]
    result, expected = function(*ours), reference(*theirs)
    same(name, result.detach(), expected, tolerance)
    grad = torch.randn(expected.shape).to(result.dtype)
    result.backward(grad.npu())
    expected.backward(grad.double())
    for place, (own, their) in enumerate(zip(ours, theirs)):
        same(f"{name}, gradient {place}", own.grad, their.grad, tolerance)


def refuses(name, call):
    try:
        call()
        torch.npu.synchronize()
        refused[name] = ""
    except Exception as error:
        refused[name] = str(error)
"""


def run(simulated: Simulated, source: str, **variables: str) -> dict[str, Any]:
    """Run a program; return how much it compared, what was wrong, and what was refused in which words."""
    report = "\nprint('REPORT', json.dumps(dict(compared=compared, wrong=wrong, refused=refused)))"
    done = simulated.python(PRELUDE + source + report, **variables)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    assert len(lines) == 1, done.stdout
    values: dict[str, Any] = json.loads(lines[0].removeprefix("REPORT "))
    return values


def check(simulated: Simulated, source: str, compared: int, **variables: str) -> None:
    """Run a program that must compare so many tensors and find all of them right."""
    seen = run(simulated, source, **variables)
    assert not seen["wrong"], seen["wrong"]
    assert seen["compared"] == compared
