"""What programs do with groups beside plain collectives, each compared with what it must give.

`torchrun ... sundries.py` prints what went wrong by name, by rank 0; an empty object when nothing did.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch_npu  # noqa: F401  # registers the device and the backend
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.nn.functional import all_reduce as differentiable_all_reduce
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
SUM = RANKS * (RANKS + 1) // 2  # of RANK + 1 over the ranks


def own(size: int = 4) -> torch.Tensor:
    return torch.full((size,), RANK + 1.0).npu()


def expect(got: torch.Tensor, expected: torch.Tensor | float) -> None:
    wanted = torch.as_tensor(expected, dtype=got.dtype).expand(got.shape)
    assert torch.equal(got.detach().cpu(), wanted), f"got {got}, expected {expected}"


def handles() -> None:
    """Waited for in another order than they were made, and by their futures."""
    tensors = [own() * (index + 1) for index in range(5)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    futures = [works[index].get_future() for index in (1, 3)]
    for index in (4, 2, 0):
        works[index].wait()
    for future in futures:
        future.wait()
    for index, tensor in enumerate(tensors):
        expect(tensor, SUM * (index + 1.0))
    torch.npu.synchronize()
    assert all(work.is_completed() for work in works)


def side_stream() -> None:
    """A collective comes after what was given to its stream, and before what is given later."""
    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        tensor = own(1 << 16)
        for _ in range(10):
            tensor.add_(1)
        dist.all_reduce(tensor)
        tensor.mul_(2)
    torch.npu.current_stream().wait_stream(stream)
    expect(tensor, 2.0 * (SUM + 10 * RANKS))


def many_groups() -> None:
    """Made, used and given up, some of them at once."""
    for _ in range(3):
        groups = [dist.new_group(list(range(first, RANKS))) for first in range(RANKS - 1)]
        for first, group in enumerate(groups):
            if first <= RANK:
                tensor = own()
                dist.all_reduce(tensor, group=group)
                expect(tensor, float(sum(range(first + 1, RANKS + 1))))
        for first, group in enumerate(groups):
            if first <= RANK:
                dist.destroy_process_group(group)


def mesh() -> None:
    """Rows and columns of ranks."""
    both = init_device_mesh("npu", (2, RANKS // 2), mesh_dim_names=("row", "column"))
    for name, members in (("column", own_row()), ("row", own_column())):
        tensor = own()
        dist.all_reduce(tensor, group=both[name].get_group())
        expect(tensor, float(sum(rank + 1 for rank in members)))


def own_row() -> list[int]:
    first = RANK // (RANKS // 2) * (RANKS // 2)
    return list(range(first, first + RANKS // 2))


def own_column() -> list[int]:
    return [RANK % (RANKS // 2), RANK % (RANKS // 2) + RANKS // 2]


def functionals() -> None:
    """The functional collectives, and one that gradients go through."""
    group = dist.group.WORLD
    expect(functional.all_reduce(own(), "sum", group), float(SUM))
    gathered = functional.all_gather_tensor(own(2), 0, group)
    expect(gathered, torch.arange(1.0, RANKS + 1).repeat_interleave(2))
    expect(functional.reduce_scatter_tensor(own(2 * RANKS), "sum", 0, group), float(SUM))
    leaf = own().requires_grad_()
    differentiable_all_reduce(leaf).pow(2).sum().backward()
    assert leaf.grad is not None
    expect(leaf.grad, 2.0 * SUM * RANKS)


def graph() -> None:
    """A collective captured with what is around it, and replayed."""
    tensor = own()
    dist.all_reduce(tensor.clone())  # makes the communicator, which cannot be made while capturing
    torch.npu.synchronize()
    captured = torch.npu.NPUGraph()
    with torch.npu.graph(captured):
        tensor.add_(1)
        dist.all_reduce(tensor)
    expected = torch.full((4,), RANK + 1.0)
    expect(tensor, expected)  # nothing has run yet
    total = float(SUM)
    for _ in range(3):
        captured.replay()
        torch.npu.synchronize()
        total = total + RANKS if _ == 0 else (total + 1) * RANKS
        expect(tensor, total)


def barriers() -> None:
    dist.barrier()
    dist.barrier(device_ids=[RANK])
    gloo = dist.new_group(backend="gloo")
    dist.monitored_barrier(gloo)
    refused = ""
    try:
        dist.monitored_barrier()
    except ValueError as error:
        refused = str(error)
    assert "monitored_barrier is only implemented for GLOO" in refused, refused


def pipeline() -> None:
    """A stage of the model on each rank, against the whole model on the CPU."""
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(RANKS)]
    whole = nn.Sequential(*copy.deepcopy(layers))
    inputs, targets = torch.randn(8, 8), torch.randn(8, 8)
    expected = nn.functional.mse_loss(whole(inputs), targets)
    expected.backward()
    stage = PipelineStage(layers[RANK].npu(), RANK, RANKS, torch.device("npu", RANK))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    losses: list[torch.Tensor] = []
    last = RANK == RANKS - 1
    first_arguments = (inputs.npu(),) if RANK == 0 else ()
    last_arguments = {"target": targets.npu(), "losses": losses} if last else {}
    schedule.step(*first_arguments, **last_arguments)
    if last:
        loss = torch.stack(losses).mean().cpu()
        assert torch.allclose(loss, expected, rtol=1e-5), (loss, expected)
    for parameter, other in zip(layers[RANK].parameters(), whole[RANK].parameters(), strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad.cpu(), other.grad, rtol=1e-4, atol=1e-6)


CHECKS: list[Callable[[], None]] = [
    handles, side_stream, many_groups, mesh, functionals, graph, barriers, pipeline,
]  # fmt: skip


def main() -> None:
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    wrong: dict[str, str] = {}
    for check in CHECKS:
        try:
            check()
        except Exception as error:  # noqa: BLE001  # told of at the end, with the others
            wrong[check.__name__] = f"{type(error).__name__}: {error}"
    if RANK == 0:
        print("REPORT", json.dumps(wrong))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
