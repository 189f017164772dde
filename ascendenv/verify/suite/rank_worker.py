"""One rank of a process group: ``rank_worker.py RANK WORLD STORE``, driven by :mod:`suite_ranks`.

It reads the names of operations from standard input and answers each with one line of JSON. What the
operations return is raw; whether it is right is judged by the checks, from values computed elsewhere.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend

COUNT = 1027  # odd, so that no rank's part falls on a convenient boundary
BARRIER_DELAY_SECONDS = 0.3


def own_device() -> str:
    """The device of this rank."""
    return f"npu:{dist.get_rank()}"


def values(count: int = COUNT) -> torch.Tensor:
    """What a rank contributes: ``1000 * rank + i`` at position ``i``."""
    return torch.arange(count, dtype=torch.float32, device=own_device()) + 1000 * dist.get_rank()


def describe() -> object:
    """Who this rank is."""
    return [dist.get_rank(), dist.get_world_size(), dist.get_backend(), torch.npu.current_device()]


def all_reduce_sum() -> object:
    """The sum over the ranks."""
    tensor = values()
    dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    return tensor.tolist()


def all_reduce_max() -> object:
    """The maximum over the ranks, where the rank that has it changes from element to element."""
    mine = values() % dist.get_world_size() == dist.get_rank()
    tensor = torch.where(mine, values(), -values())
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.tolist()


def broadcast() -> object:
    """The last rank's values."""
    tensor = values()
    dist.broadcast(tensor, src=dist.get_world_size() - 1)
    return tensor.tolist()


def all_gather() -> object:
    """The values of each rank."""
    tensors = [torch.zeros(COUNT, device=own_device()) for _ in range(dist.get_world_size())]
    dist.all_gather(tensors, values())
    return [tensor.tolist() for tensor in tensors]


def reduce_scatter() -> object:
    """This rank's part of the sum over the ranks."""
    part = torch.zeros(COUNT, device=own_device())
    dist.reduce_scatter_tensor(part, values(COUNT * dist.get_world_size()))
    return part.tolist()


def all_to_all() -> object:
    """The part that each rank has for this one."""
    count = COUNT * dist.get_world_size()
    received = torch.zeros(count, device=own_device())
    dist.all_to_all_single(received, values(count))
    return received.tolist()


def send_recv() -> object:
    """Around the ring: rank 0 sends its values, each rank adds one and passes them on."""
    rank, world, tensor = dist.get_rank(), dist.get_world_size(), values()
    if rank == 0:
        dist.send(tensor, dst=1)
        dist.recv(tensor, src=world - 1)
    else:
        dist.recv(tensor, src=rank - 1)
        dist.send(tensor + 1, dst=(rank + 1) % world)
    return tensor.tolist()


def barrier() -> object:
    """When this rank came to the barrier, the last one late, and when it left, in seconds."""
    if dist.get_rank() == dist.get_world_size() - 1:
        time.sleep(BARRIER_DELAY_SECONDS)
    came = time.monotonic()
    dist.barrier()
    torch.npu.synchronize()
    return [came, time.monotonic()]


def ddp_gradients() -> object:
    """The gradients of one step of DistributedDataParallel, each rank on a batch of its own."""
    rank = dist.get_rank()
    model = small_model().to(own_device())
    wrapped = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    inputs, targets = (tensor.to(own_device()) for tensor in batch(rank))
    torch.nn.functional.mse_loss(wrapped(inputs), targets).backward()
    return [parameter.grad.tolist() for parameter in model.parameters() if parameter.grad is not None]


def small_model() -> torch.nn.Module:
    """The same network in every process."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))


def batch(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch of a rank, on the CPU."""
    generator = torch.Generator().manual_seed(100 + rank)
    return torch.rand(12, 8, generator=generator), torch.rand(12, 1, generator=generator)


OPERATIONS: dict[str, Callable[[], object]] = {
    operation.__name__: operation
    for operation in (
        describe,
        all_reduce_sum,
        all_reduce_max,
        broadcast,
        all_gather,
        reduce_scatter,
        all_to_all,
        send_recv,
        barrier,
        ddp_gradients,
    )
}


def main() -> None:
    """Join the group and serve until standard input ends."""
    rank, world, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    # Libraries print to standard output as they like, so the answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(fields: dict[str, object]) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    try:
        torch.npu.set_device(rank)
        dist.init_process_group("hccl", store=dist.FileStore(store, world), rank=rank, world_size=world)
        answer({"value": "ready"})
        for line in sys.stdin:
            answer({"value": OPERATIONS[line.strip()]()})
        dist.destroy_process_group()
    except Exception as error:  # whatever it is, the check has to name it
        answer({"error": f"{type(error).__name__}: {error}"})
        raise


if __name__ == "__main__":
    main()
