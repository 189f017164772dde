"""Ranks made by `torch.multiprocessing.spawn`, which share a tensor with the process that made them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing
import torch_npu  # noqa: F401  # registers the device and the backend

RANKS = 2


def rank_of(rank: int, store: str, shared: torch.Tensor) -> None:
    """One rank: the sum over all goes to its place in the tensor of the parent."""
    torch.npu.set_device(rank)
    dist.init_process_group("hccl", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    value = torch.tensor([10.0**rank]).npu()
    dist.all_reduce(value)
    shared[rank] = value.cpu()
    dist.destroy_process_group()


def main() -> None:
    shared = torch.zeros(RANKS).share_memory_()
    torch.multiprocessing.spawn(rank_of, (str(Path(sys.argv[1]) / "store"), shared), nprocs=RANKS)
    print("REPORT", json.dumps(shared.tolist()))


if __name__ == "__main__":
    main()
