"""Shares a tensor on the NPU with a spawned process, which adds one to it in place."""

from __future__ import annotations

import sys

import torch
import torch.multiprocessing as mp


def add_one(tensors: mp.Queue, sums: mp.Queue) -> None:
    """Change what the other process made, and say what it adds up to now."""
    tensor = tensors.get()
    tensor += 1
    torch.npu.synchronize()
    sums.put(tensor.sum().item())


if __name__ == "__main__":
    spawn = mp.get_context("spawn")
    tensors, sums = spawn.Queue(), spawn.Queue()
    process = spawn.Process(target=add_one, args=(tensors, sums))
    process.start()
    tensor = torch.ones(1000, device="npu")
    tensors.put(tensor)
    there = sums.get(timeout=600)
    torch.npu.synchronize()
    process.join(600)
    sys.stdout.write(f"{there} {tensor.sum().item()} {process.exitcode}\n")
