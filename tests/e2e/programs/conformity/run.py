"""Compares cases on the device and on the CPU.

Their names come in on standard input, of each goes out one line of JSON. Ends with 3 after a case that the
device does not recover from; whoever runs it goes on with the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from itertools import islice
from typing import Any

import torch
import torch_npu  # noqa: F401  # registers the device
from e2e.programs.conformity.case import Call, Case
from e2e.programs.conformity.cases import all_cases, sampled
from e2e.programs.conformity.compare import difference
from e2e.programs.conformity.transplant import Transplant
from torch.utils._pytree import tree_leaves

DEVICE = "npu:0"
FAULT = re.compile(
    r"200006|507015|507018|507899|107022|device fault|refused [A-Z]"
)  # as of the aclop interface
FAULTED = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    parser.add_argument("--every", action="store_true", help="list all cases, not a sample of them")
    parser.add_argument("--calls", type=int, default=1000, help="compare no more calls of each case")
    options = parser.parse_args()
    known = {case.name: case for case in all_cases()}
    if options.list:
        print("\n".join(known if options.every else sampled(known)))
        return
    for line in sys.stdin:
        problems, compared = run(known[line.strip()], options.calls)
        print(json.dumps({"case": line.strip(), "compared": compared, "problems": problems}), flush=True)
        if any(FAULT.search(problem) for problem in problems):
            os._exit(FAULTED)


def run(case: Case, limit: int) -> tuple[list[str], int]:
    """The distinct problems of a case, and how many calls were compared."""
    torch.manual_seed(0)
    problems: list[str] = []
    compared = 0
    try:
        for call in islice(case.calls(), limit):
            problem = _compared(call, values=case.values)
            if problem is None:
                continue
            compared += 1
            if problem and problem not in problems:
                problems.append(problem)
            if FAULT.search(problem):
                break
    except Exception as error:  # noqa: BLE001  # PyTorch's own samples fail for some
        problems.append(f"sampling: {type(error).__name__}: {first_line(error)}")
    return problems, compared


def _compared(call: Call, *, values: bool) -> str | None:
    """What is wrong with a call; None if the CPU cannot do it and so is no measure."""
    try:
        expected = evaluate(call, "cpu")
    except Exception:  # noqa: BLE001
        return None
    try:
        got = evaluate(call, DEVICE)
        found: str = difference(expected, got, values=values)
    except Exception as error:  # noqa: BLE001
        return first_line(error)
    if found and values and _is_random(call, expected):
        found = difference(expected, got, values=False)
    return found


def _is_random(call: Call, expected: Any) -> bool:
    """Whether other seeds give other results; a few draws of few values may be equal."""
    return any(difference(expected, evaluate(call, "cpu", seed)) for seed in range(1, 10))


def evaluate(call: Call, device: str, seed: int = 0) -> Any:
    """The results on the device, and the gradients of the arguments that want some."""
    move = Transplant(device)
    arguments, named = move(call.arguments), move(call.named)
    torch.manual_seed(seed)
    results = call.finish(call.function(*arguments, **named))
    outputs = [x for x in tree_leaves(results) if _is_graded(x)]
    grads: tuple[Any, ...] = ()
    if outputs and move.leaves:
        grads = torch.autograd.grad(outputs, move.leaves, [_cotangent(x) for x in outputs], allow_unused=True)
    if device != "cpu":
        torch.npu.synchronize()
    return results, grads


def _is_graded(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _cotangent(output: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(output.shape, dtype=output.dtype, generator=generator).to(output.device)


def first_line(error: BaseException) -> str:
    """What an error says, in short: the refusal, or the first line and what the simulated CANN added."""
    text = str(error)
    refused = re.search(
        r"(\w+)(, of the old aclop interface,)? is not implemented by the simulated CANN", text
    )
    if refused:
        return f"refused {refused[1]}"
    said = re.search(r"\[simulated CANN\] (.*)", text)
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    return lines[0][:200] + (f" | {said[1][:200]}" if said else "")


if __name__ == "__main__":
    main()
