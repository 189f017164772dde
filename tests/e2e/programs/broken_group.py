"""One rank of a group in which something goes wrong, and what the others are told.

`broken_group.py CASE` in a process for each rank, with the variables of torch's `env://`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def reduce(size: int = 4) -> None:
    tensor = torch.ones(size).npu()
    dist.all_reduce(tensor)
    torch.npu.synchronize()


def killed() -> None:
    """Rank 1 is killed after some collectives."""
    for turn in range(1000):
        if (RANK, turn) == (1, 3):
            os.kill(os.getpid(), signal.SIGKILL)
        reduce()


def mismatched() -> None:
    reduce(4 + RANK)


def unsupported() -> None:
    """What HCCL refuses, and torch_npu does not."""
    tensor = torch.ones(2, dtype=torch.bfloat16).npu()
    dist.all_reduce(tensor, dist.ReduceOp.PRODUCT)
    torch.npu.synchronize()


def late() -> None:
    reduce()
    if RANK == 1:
        time.sleep(6)
    reduce()


def aborted() -> None:
    """The group is destroyed while a collective waits for a rank that never comes."""
    reduce()
    if RANK == 1:
        time.sleep(12)
        return
    dist.all_reduce(torch.ones(4).npu())
    dist.distributed_c10d._abort_process_group()


CASES: list[Callable[[], None]] = [killed, mismatched, unsupported, late, aborted, reduce]


def main() -> None:
    torch.npu.set_device(0 if sys.argv[1] == "shared" else RANK)
    started = time.monotonic()
    error = ""
    try:
        dist.init_process_group("hccl")
        started = time.monotonic()
        {case.__name__: case for case in CASES}.get(sys.argv[1], reduce)()
    except RuntimeError as raised:
        error = str(raised)
    print("REPORT", json.dumps({"error": error, "seconds": time.monotonic() - started}), flush=True)
    os._exit(0)  # what is left of the group must not be waited for


if __name__ == "__main__":
    main()
