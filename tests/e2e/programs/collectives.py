"""Random collectives over HCCL, each beside the same over gloo.

`torchrun ... collectives.py SEED CASES` compares bit by bit. Rank 0 prints how often each was tried.
All ranks draw the same cases. Operands are such that every sum and product is exact, in whatever order.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
MOVED = [
    torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int32,
    torch.int64, torch.uint8, torch.bool,
]  # fmt: skip
REDUCED = [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64]
# Types that torch_npu reduces as int32.
CAST = [torch.uint8, torch.bool]
SHAPES = [(1,), (7,), (3, 5), (2, 3, 4), (33, 65), (1025,), (0,), (4, 0, 2)]
ROWS = 3  # of what is divided among ranks


@dataclass(frozen=True)
class Group:
    """The same ranks over both backends."""

    ranks: list[int]
    hccl: dist.ProcessGroup
    gloo: dist.ProcessGroup

    @property
    def size(self) -> int:
        return len(self.ranks)

    @property
    def index(self) -> int:
        return self.ranks.index(RANK)


@dataclass(frozen=True)
class Case:
    """One draw: everything that all ranks know of it."""

    number: int
    seed: int
    group: Group
    dtype: torch.dtype
    shape: tuple[int, ...]
    root: int  # a global rank
    reduction: str
    asynchronous: bool

    def tensor(self, rank: int, shape: tuple[int, ...] | None = None, part: int = 0) -> torch.Tensor:
        """What a rank puts in, on the CPU."""
        generator = torch.Generator().manual_seed(hash((self.seed, self.number, rank, part)) % 2**31)
        values = torch.randint(-2, 3, self.shape if shape is None else shape, generator=generator)
        return values.bool() if self.dtype == torch.bool else values.to(self.dtype)

    def mine(self, shape: tuple[int, ...] | None = None, part: int = 0) -> torch.Tensor:
        return self.tensor(RANK, shape, part)

    def uneven(self, source: int, target: int) -> int:
        """Rows that one rank of the group gives another."""
        return (source * 2 + target + self.number) % 4


def finish(work: dist.Work | None) -> None:
    if work is not None:
        work.wait()


def raw(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes, which gloo moves for every type."""
    return tensor.contiguous().view(-1).view(torch.uint8).clone()


def like(content: torch.Tensor, example: torch.Tensor) -> torch.Tensor:
    return content.view(example.dtype).view(example.shape)


def by_gloo(group: Group, tensor: torch.Tensor, reduction: str) -> torch.Tensor:
    """The tensors of all ranks, reduced by gloo in a type that holds the result exactly."""
    wide = tensor.to(torch.float64 if tensor.is_floating_point() else torch.int64)
    average = reduction == "AVG"
    dist.all_reduce(wide, getattr(dist.ReduceOp, "SUM" if average else reduction), group=group.gloo)
    if average:
        return wide.to(tensor.dtype) / group.size
    return wide.to(tensor.dtype)


def all_reduce(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tensor = case.mine().npu()
    operation = getattr(dist.ReduceOp, case.reduction)
    finish(dist.all_reduce(tensor, operation, group=case.group.hccl, async_op=case.asynchronous))
    return [(tensor, by_gloo(case.group, case.mine(), case.reduction))]


def all_reduce_coalesced(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tensors = [case.mine(part=part).npu() for part in range(3)]
    with dist._coalescing_manager(group=case.group.hccl, device=torch.device("npu"), async_ops=True) as works:
        for tensor in tensors:
            dist.all_reduce(tensor, getattr(dist.ReduceOp, case.reduction), group=case.group.hccl)
    works.wait()
    expected = [by_gloo(case.group, case.mine(part=part), case.reduction) for part in range(3)]
    return list(zip(tensors, expected, strict=True))


def premultiplied(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tensor = case.mine().npu()
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(0.5), group=case.group.hccl)
    return [(tensor, by_gloo(case.group, case.mine() * 0.5, "SUM"))]


def reduce(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tensor = case.mine().npu()
    operation = getattr(dist.ReduceOp, case.reduction)
    finish(dist.reduce(tensor, case.root, operation, group=case.group.hccl, async_op=case.asynchronous))
    expected = by_gloo(case.group, case.mine(), case.reduction)
    return [(tensor, expected)] if case.root == RANK else []


def broadcast(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tensor, content = case.mine().npu(), raw(case.mine())
    finish(dist.broadcast(tensor, case.root, group=case.group.hccl, async_op=case.asynchronous))
    dist.broadcast(content, case.root, group=case.group.gloo)
    return [(tensor, like(content, tensor))]


def all_gather(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    gathered = [torch.empty_like(case.mine()).npu() for _ in case.group.ranks]
    mine = case.mine()
    finish(dist.all_gather(gathered, mine.npu(), group=case.group.hccl, async_op=case.asynchronous))
    contents = [raw(mine) for _ in case.group.ranks]
    dist.all_gather(contents, raw(mine), group=case.group.gloo)
    return [(got, like(content, got)) for got, content in zip(gathered, contents, strict=True)]


def all_gather_uneven(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    sizes = [case.uneven(index, 0) + 1 for index in range(case.group.size)]
    gathered = [torch.empty(size, 3, dtype=case.dtype).npu() for size in sizes]
    dist.all_gather(gathered, case.mine((sizes[case.group.index], 3)).npu(), group=case.group.hccl)
    expected = [case.tensor(rank, (size, 3)) for rank, size in zip(case.group.ranks, sizes, strict=True)]
    return list(zip(gathered, expected, strict=True))


def all_gather_into_tensor(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    mine = case.mine((ROWS, 4))
    whole = torch.empty(ROWS * case.group.size, 4, dtype=case.dtype)
    gathered, content = whole.npu(), raw(whole)
    work = dist.all_gather_into_tensor(
        gathered, mine.npu(), group=case.group.hccl, async_op=case.asynchronous
    )
    finish(work)
    dist.all_gather_into_tensor(content, raw(mine), group=case.group.gloo)
    return [(gathered, like(content, whole))]


def gather(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    mine, is_root = case.mine(), case.root == RANK
    gathered = [torch.empty_like(mine).npu() for _ in case.group.ranks] if is_root else None
    dist.gather(mine.npu(), gathered, case.root, group=case.group.hccl)
    contents = [raw(mine) for _ in case.group.ranks] if is_root else None
    dist.gather(raw(mine), contents, case.root, group=case.group.gloo)
    pairs = zip(gathered or [], contents or [], strict=True)
    return [(got, like(content, got)) for got, content in pairs]


def scatter(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    received, is_root = torch.empty_like(case.mine()), case.root == RANK
    parts = [case.mine(part=part) for part in range(case.group.size)]
    on_device, content = received.npu(), raw(received)
    sent = [part.npu() for part in parts] if is_root else None
    finish(dist.scatter(on_device, sent, case.root, group=case.group.hccl, async_op=case.asynchronous))
    contents = [raw(part) for part in parts] if is_root else None
    dist.scatter(content, contents, case.root, group=case.group.gloo)
    return [(on_device, like(content, received))]


def reduce_scatter(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    parts = [case.mine(part=part) for part in range(case.group.size)]
    received = torch.empty_like(parts[0]).npu()
    operation = getattr(dist.ReduceOp, case.reduction)
    sent = [part.npu() for part in parts]
    work = dist.reduce_scatter(received, sent, operation, group=case.group.hccl, async_op=case.asynchronous)
    finish(work)
    reduced = [by_gloo(case.group, part, case.reduction) for part in parts]
    return [(received, reduced[case.group.index])]


def reduce_scatter_tensor(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    mine = case.mine((ROWS * case.group.size, 4))
    received = torch.empty(ROWS, 4, dtype=case.dtype).npu()
    operation = getattr(dist.ReduceOp, case.reduction)
    work = dist.reduce_scatter_tensor(
        received, mine.npu(), operation, group=case.group.hccl, async_op=case.asynchronous
    )
    finish(work)
    return [(received, by_gloo(case.group, mine, case.reduction).chunk(case.group.size)[case.group.index])]


def all_to_all(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    me, size = case.group.index, case.group.size
    sent = [case.mine((case.uneven(me, target) + 1, 2), part=target) for target in range(size)]
    received = [torch.empty(case.uneven(source, me) + 1, 2, dtype=case.dtype) for source in range(size)]
    on_device, contents = [tensor.npu() for tensor in received], [raw(tensor) for tensor in received]
    dist.all_to_all(on_device, [tensor.npu() for tensor in sent], group=case.group.hccl)
    whole = torch.cat(contents)  # the list form of gloo wants parts of one size
    takes, gives = [content.numel() for content in contents], [raw(tensor).numel() for tensor in sent]
    dist.all_to_all_single(
        whole, torch.cat([raw(part) for part in sent]), takes, gives, group=case.group.gloo
    )
    contents = list(whole.split(takes))
    return [(got, like(content, got)) for got, content in zip(on_device, contents, strict=True)]


def all_to_all_single(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    mine = case.mine((ROWS * case.group.size, 2))
    received = torch.empty_like(mine)
    on_device, content = received.npu(), raw(received)
    dist.all_to_all_single(on_device, mine.npu(), group=case.group.hccl)
    dist.all_to_all_single(content, raw(mine), group=case.group.gloo)
    return [(on_device, like(content, received))]


def all_to_all_single_uneven(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    me, size = case.group.index, case.group.size
    gives = [case.uneven(me, target) for target in range(size)]
    takes = [case.uneven(source, me) for source in range(size)]
    mine, received = case.mine((sum(gives), 2)), torch.empty(sum(takes), 2, dtype=case.dtype)
    on_device, content = received.npu(), raw(received)
    work = dist.all_to_all_single(
        on_device, mine.npu(), takes, gives, group=case.group.hccl, async_op=case.asynchronous
    )
    finish(work)
    row = 2 * mine.element_size()
    in_bytes = ([row * count for count in takes], [row * count for count in gives])
    dist.all_to_all_single(content, raw(mine), *in_bytes, group=case.group.gloo)
    return [(on_device, like(content, received))]


def around_the_ring(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """By a batch: each rank sends to the next one."""
    ranks, me = case.group.ranks, case.group.index
    if len(ranks) == 1:
        return []
    after, before = ranks[(me + 1) % len(ranks)], ranks[me - 1]
    sent, received = case.mine().npu(), torch.empty_like(case.mine()).npu()
    operations = [
        dist.P2POp(dist.isend, sent, after, case.group.hccl),
        dist.P2POp(dist.irecv, received, before, case.group.hccl),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return [(received, case.tensor(before))]


def there_and_back(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """By single calls: the first rank of the group sends to the root, which answers."""
    first, group = case.group.ranks[0], case.group.hccl
    received = torch.empty_like(case.mine()).npu()
    if case.root == first or RANK not in {first, case.root}:
        return []
    if first == RANK:
        dist.send(case.mine().npu(), case.root, group=group)
        dist.recv(received, case.root, group=group)
        return [(received, case.tensor(case.root))]
    dist.recv(received, first, group=group)
    dist.send(case.mine().npu(), first, group=group)
    return [(received, case.tensor(first))]


def objects(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The object collectives, over what a rank thinks of itself."""
    group, ranks = case.group.hccl, case.group.ranks
    thought = {"rank": RANK, "case": case.number, "tensor": case.mine()}
    everybody: list[object] = [None] * len(ranks)
    dist.all_gather_object(everybody, thought, group=group)
    assert [one["rank"] for one in everybody] == ranks, everybody  # type: ignore[index]
    told = [thought if case.root == RANK else None]
    dist.broadcast_object_list(told, case.root, group=group)
    assert told[0]["rank"] == case.root, told  # type: ignore[index]
    collected = [None] * len(ranks) if case.root == RANK else None
    dist.gather_object(RANK, collected, case.root, group=group)
    assert collected is None or collected == ranks, collected
    received: list[object] = [None]
    dist.scatter_object_list(received, [f"for {rank}" for rank in ranks], case.root, group=group)
    assert received == [f"for {RANK}"], received
    return [(told[0]["tensor"].npu(), case.tensor(case.root))]  # type: ignore[index]


REDUCING = [all_reduce, all_reduce_coalesced, reduce, reduce_scatter, reduce_scatter_tensor]
MOVING = [
    broadcast, all_gather, all_gather_uneven, all_gather_into_tensor, gather, scatter, all_to_all,
    all_to_all_single, all_to_all_single_uneven, around_the_ring, there_and_back, objects,
]  # fmt: skip
Operation = Callable[[Case], list[tuple[torch.Tensor, torch.Tensor]]]
OPERATIONS: list[Operation] = [*REDUCING, *MOVING, premultiplied]


def draw(number: int, seed: int, groups: list[Group]) -> tuple[Operation, Case]:
    """One case; the first cases take each operation in turn."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311  # the same for everybody, not secret
    operation = OPERATIONS[number] if number < len(OPERATIONS) else chance.choice(OPERATIONS)
    group = chance.choice(groups)
    dtype = chance.choice(MOVED)
    reduction = "SUM"
    if operation in REDUCING:
        dtype = chance.choice(REDUCED + CAST * (operation in {all_reduce, reduce}))
        reduction = chance.choice(reductions_of(dtype))
    elif operation is premultiplied:
        dtype = chance.choice([torch.float32, torch.float16, torch.bfloat16])
    shape, root = chance.choice(SHAPES), chance.choice(group.ranks)
    return operation, Case(number, seed, group, dtype, shape, root, reduction, chance.random() < 0.5)


def reductions_of(dtype: torch.dtype) -> list[str]:
    """What torch_npu reduces a type with on this chip."""
    if dtype in {torch.bool, torch.uint8}:
        return ["SUM", "MAX"]
    names = ["SUM", "MAX", "MIN"]
    if dtype not in {torch.int16, torch.bfloat16}:
        names.append("PRODUCT")
    if dtype.is_floating_point:
        names.append("AVG")
    return names


def both(ranks: list[int]) -> Group:
    return Group(ranks, dist.new_group(ranks, backend="hccl"), dist.new_group(ranks, backend="gloo"))


def main() -> None:
    seed, cases = int(sys.argv[1]), int(sys.argv[2])
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    subsets = [list(range(RANKS)), list(range(0, RANKS, 2)), list(range(1, RANKS)), [RANKS - 1]]
    groups = [both(ranks) for ranks in subsets if ranks]
    tried: Counter[str] = Counter()
    for number in range(cases):
        operation, case = draw(number, seed, groups)
        if RANK not in case.group.ranks:
            continue
        where = f"case {number} of seed {seed}: {operation.__name__} {case} on rank {RANK}"
        try:
            pairs = operation(case)
        except Exception as error:
            raise RuntimeError(where) from error
        for got, expected in pairs:
            same = got.cpu()
            assert same.dtype == expected.dtype, where
            assert torch.equal(same, expected), f"{where}: got {same}, expected {expected}"
        tried[operation.__name__] += 1
    dist.barrier()
    if RANK == 0:
        print("REPORT", json.dumps({"tried": tried, "refused": refusals()}))
    dist.destroy_process_group()


def refusals() -> dict[str, str]:
    """What is refused, by its message; by this rank alone."""
    calls: dict[str, Callable[[], object]] = {
        "BAND": lambda: dist.all_reduce(torch.ones(2, dtype=torch.int32).npu(), dist.ReduceOp.BAND),
        "float64": lambda: dist.all_reduce(torch.ones(2, dtype=torch.float64).npu()),
    }
    messages = {}
    for name, call in calls.items():
        try:
            call()
            torch.npu.synchronize()
            messages[name] = ""
        except RuntimeError as error:
            messages[name] = str(error)
    return messages


if __name__ == "__main__":
    main()
