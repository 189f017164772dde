"""Train in data parallel in each of DDP's ways and compare with one process that sees the whole batch.

`torchrun ... data_parallel.py`: rank 0 prints how far each way is from the whole batch on the CPU at most.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS, PER_RANK = 4, 4
Parameters = Iterator[nn.Parameter]


class Model(nn.Module):  # type: ignore[misc]
    """Some layers, one of which can be left out."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.spare, self.last = nn.Linear(12, 24), nn.Linear(24, 24), nn.Linear(24, 3)

    def forward(self, inputs: torch.Tensor, *, spare: bool = True) -> torch.Tensor:
        hidden = torch.tanh(self.first(inputs))
        return self.last(torch.tanh(self.spare(hidden)) if spare else hidden)


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(7)
    for _ in range(STEPS):
        inputs = torch.randn(RANKS * PER_RANK, 12, generator=generator)
        yield inputs, torch.randint(0, 3, (RANKS * PER_RANK,), generator=generator)


def mine(whole: torch.Tensor) -> torch.Tensor:
    return whole[RANK * PER_RANK : (RANK + 1) * PER_RANK].npu()


def whole_batch(start: nn.Module, make: Callable[..., torch.optim.Optimizer], **forward: bool) -> nn.Module:
    """The model after training on the CPU with all of each batch."""
    model = copy.deepcopy(start)
    optimizer = make(model.parameters())
    for inputs, labels in batches():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs, **forward), labels).backward()
        optimizer.step()
    return model


def sgd(parameters: Parameters) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def parallel(
    start: nn.Module,
    make: Callable[..., torch.optim.Optimizer] = sgd,
    hook: Callable[..., Any] | None = None,
    forward: dict[str, bool] | None = None,
    *,
    pieces: int = 1,
    **options: bool | float,
) -> nn.Module:
    """The model after training in parallel; each batch in so many pieces, and reduced with the last."""
    model = DistributedDataParallel(copy.deepcopy(start).npu(), device_ids=[RANK], **options)
    if hook is not None:
        model.register_comm_hook(None, hook)
    optimizer = make(model.parameters())
    for inputs, labels in batches():
        optimizer.zero_grad()
        parts = zip(mine(inputs).chunk(pieces), mine(labels).chunk(pieces), strict=True)
        for piece, (part, label) in enumerate(parts):
            with model.no_sync() if piece < pieces - 1 else nullcontext():
                loss = nn.functional.cross_entropy(model(part, **forward or {}), label)
                (loss / pieces).backward()
        optimizer.step()
    return model.module


def difference(trained: nn.Module, expected: nn.Module) -> float:
    """The largest over all parameters and all ranks."""
    pairs = zip(trained.parameters(), expected.parameters(), strict=True)
    largest = torch.stack([(one.cpu() - other).abs().max() for one, other in pairs]).max().npu()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    return float(largest)


def zero(parameters: Parameters) -> torch.optim.Optimizer:
    return ZeroRedundancyOptimizer(parameters, torch.optim.AdamW, lr=0.01)


def adamw(parameters: Parameters) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=0.01)


def synchronized_batch_norm() -> float:
    """Against batch norm over the whole batch: outputs, running mean and the gradient of the input."""
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randn(RANKS * PER_RANK, 5, 6, generator=generator)
    weights = torch.randn(RANKS * PER_RANK, 5, 6, generator=generator)
    expected, leaf = nn.BatchNorm1d(5), inputs.clone().requires_grad_()
    (expected(leaf) * weights).sum().backward()
    shared = nn.SyncBatchNorm(5).npu()
    own = mine(inputs).detach().requires_grad_()
    (shared(own) * mine(weights)).sum().backward()
    assert leaf.grad is not None
    assert own.grad is not None
    differences = [
        (own.grad.cpu() - mine(leaf.grad).cpu()).abs().max(),
        (shared.running_mean.cpu() - expected.running_mean).abs().max(),
        (shared.running_var.cpu() - expected.running_var).abs().max(),
    ]
    largest = torch.stack(differences).max().npu()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    return float(largest)


def main() -> None:
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    torch.manual_seed(0)
    start = Model()
    expected = whole_batch(start, sgd)
    without_spare = whole_batch(start, sgd, spare=False)
    ways: dict[str, Callable[[], float]] = {
        "plain": lambda: difference(parallel(start), expected),
        "bucket views": lambda: difference(parallel(start, gradient_as_bucket_view=True), expected),
        "small buckets": lambda: difference(parallel(start, bucket_cap_mb=0.0001), expected),
        "no_sync": lambda: difference(parallel(start, pieces=2), expected),
        "static graph": lambda: difference(parallel(start, static_graph=True), expected),
        "unused parameters": lambda: difference(
            parallel(start, forward={"spare": False}, find_unused_parameters=True), without_spare
        ),
        "all-reduce hook": lambda: difference(parallel(start, hook=default_hooks.allreduce_hook), expected),
        "float16 hook": lambda: difference(parallel(start, hook=default_hooks.fp16_compress_hook), expected),
        "ZeRO": lambda: difference(parallel(start, zero), whole_batch(start, adamw)),
        "SyncBatchNorm": synchronized_batch_norm,
    }
    results: dict[str, float | str] = {}
    for name, way in ways.items():
        try:
            results[name] = way()
        except Exception as error:  # noqa: BLE001  # told of at the end, with the others
            results[name] = f"{type(error).__name__}: {error}"
    if RANK == 0:
        print("REPORT", json.dumps(results))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
