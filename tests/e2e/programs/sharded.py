"""Train a small transformer sharded in several ways, and whole on the CPU.

`torchrun ... sharded.py DIRECTORY` prints the losses of each way, by rank 0. DIRECTORY is for a checkpoint.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
WORDS, WIDTH, LENGTH, PER_RANK, STEPS = 32, 16, 8, 2, 5
Losses = list[float]


class Block(nn.Module):  # type: ignore[misc]
    """One layer, its attention written out."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = inputs + self.attend(self.norm(inputs))
        return hidden + self.down(nn.functional.relu(self.up(self.after(hidden))))

    def attend(self, inputs: torch.Tensor) -> torch.Tensor:
        query, key, value = self.query(inputs), self.key(inputs), self.value(inputs)
        weights = torch.softmax(query @ key.transpose(-1, -2) / WIDTH**0.5, dim=-1)
        return self.out(weights @ value)


class Model(nn.Module):  # type: ignore[misc]
    """Words to words."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.embed(words)))


def batch() -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randint(0, WORDS, (RANKS * PER_RANK, LENGTH + 1), generator=generator)


def mine(whole: torch.Tensor) -> torch.Tensor:
    return whole[RANK * PER_RANK : (RANK + 1) * PER_RANK].npu()


def loss_of(model: nn.Module, words: torch.Tensor) -> torch.Tensor:
    guessed = model(words[:, :-1])
    return nn.functional.cross_entropy(guessed.reshape(-1, WORDS), words[:, 1:].reshape(-1))


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.01)


def whole(start: nn.Module) -> Losses:
    """On the CPU, all of each batch."""
    model = copy.deepcopy(start)
    optimizer = adamw(model)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, batch())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def data_parallel(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int = STEPS) -> Losses:
    """Each rank its part of each batch."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, mine(batch()))
        loss.backward()
        if isinstance(model, FullyShardedDataParallel):
            model.clip_grad_norm_(1.0)
        else:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(mean.item())
    return losses


def shard(start: nn.Module, **options: object) -> nn.Module:
    model = copy.deepcopy(start).npu()
    mesh = init_device_mesh("npu", (RANKS,))
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    fully_shard(model, mesh=mesh, **options)
    return model


def fsdp2(start: nn.Module, **options: object) -> Losses:
    model = shard(start, **options)
    return data_parallel(model, adamw(model))


def hybrid(start: nn.Module) -> Losses:
    """Replicated over pairs of ranks, sharded within each."""
    model = copy.deepcopy(start).npu()
    mesh = init_device_mesh("npu", (RANKS // 2, 2), mesh_dim_names=("replicate", "shard"))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return data_parallel(model, adamw(model))


def fsdp1(start: nn.Module) -> Losses:
    model = FullyShardedDataParallel(
        copy.deepcopy(start).npu(), auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=RANK
    )
    return data_parallel(model, adamw(model))


def resumed(start: nn.Module, directory: Path) -> Losses:
    """Stopped in the middle, saved, and gone on with from the checkpoint by a fresh model."""
    first = shard(start)
    optimizer = adamw(first)
    half = STEPS // 2
    losses = data_parallel(first, optimizer, half)
    model_state, optimizer_state = get_state_dict(first, optimizer)
    checkpoint.save({"model": model_state, "optimizer": optimizer_state}, checkpoint_id=directory)
    torch.manual_seed(99)
    second = shard(Model())
    optimizer = adamw(second)
    model_state, optimizer_state = get_state_dict(second, optimizer)
    state = {"model": model_state, "optimizer": optimizer_state}
    checkpoint.load(state, checkpoint_id=directory)
    set_state_dict(second, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    return losses + data_parallel(second, optimizer, STEPS - half)


def tensor_parallel(start: nn.Module, *plans: dict[str, Any]) -> Losses:
    """Every rank sees each whole batch and holds a part of each layer."""
    model = copy.deepcopy(start).npu()
    mesh = init_device_mesh("npu", (RANKS,))
    for block in model.blocks:
        for plan in plans:
            parallelize_module(block, mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, batch().npu())
        loss.backward()
        clip_mixed(model.parameters())
        optimizer.step()
        losses.append(loss.item())
    return losses


def clip_mixed(parameters: Iterable[nn.Parameter]) -> None:
    """clip_grad_norm_ over parameters of which only some are distributed."""
    gradients = [parameter.grad for parameter in parameters]
    squares = [torch.sum(whole_of(gradient) ** 2) for gradient in gradients]
    factor = torch.clamp(1.0 / (torch.stack(squares).sum().sqrt() + 1e-6), max=1.0)
    for gradient in gradients:
        (gradient.to_local() if isinstance(gradient, DTensor) else gradient).mul_(factor)


def whole_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


COLUMNS_AND_ROWS = {"up": ColwiseParallel(), "down": RowwiseParallel()}
# The norm works on a part of each sequence; its input is the same on all ranks.
PARTS_OF_SEQUENCES = {
    "after": PrepareModuleInput(
        input_layouts=Replicate(), desired_input_layouts=Shard(1), use_local_output=True
    ),
}
SEQUENCES = {
    "after": SequenceParallel(use_local_output=True),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Replicate()),
}


def main() -> None:
    directory = Path(sys.argv[1])
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    torch.manual_seed(0)
    start = Model()
    low = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    ways: dict[str, Callable[[], Losses]] = {
        "whole": lambda: whole(start),
        "FSDP2": lambda: fsdp2(start),
        "FSDP2, resharded later": lambda: fsdp2(start, reshard_after_forward=False),
        "FSDP2 in bfloat16": lambda: fsdp2(start, mp_policy=low),
        "HSDP": lambda: hybrid(start),
        "FSDP1": lambda: fsdp1(start),
        "checkpoint": lambda: resumed(start, directory),
        "columns and rows": lambda: tensor_parallel(start, COLUMNS_AND_ROWS),
        "sequences": lambda: tensor_parallel(start, PARTS_OF_SEQUENCES, SEQUENCES),
    }
    results: dict[str, Losses | str] = {}
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
