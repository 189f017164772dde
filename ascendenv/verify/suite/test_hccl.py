"""Layer hccl: processes on different devices exchange what they should, through torch.distributed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from suite_checks import check
from suite_ranks import Ranks

WORLD = 2
COUNT = 1027
LINKS = (
    "Look at the links and addresses of the devices (`hccn_tool -i 0 -link -g`), at HCCL_IF_IP and "
    "HCCL_SOCKET_IFNAME when the host has several networks, and at the firewall on the HCCL ports."
)


@pytest.fixture(scope="module")
def ranks(torch: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ranks]:
    """Two processes, on npu:0 and npu:1. Skips where there is one device."""
    count = torch.npu.device_count()
    if count < WORLD:
        pytest.skip(f"needs {WORLD} devices, {count} visible")
    group = Ranks(WORLD, Path(tmp_path_factory.mktemp("ranks")))
    yield group
    group.close()


def contributed(rank: int, count: int = COUNT) -> list[float]:
    """What a rank brings to a collective; see ``rank_worker.values``."""
    return [1000.0 * rank + position for position in range(count)]


def assert_equal(rank: int, got: list[float], expected: list[float]) -> None:
    """Compare what one rank ended up with."""
    assert len(got) == len(expected), f"rank {rank} has {len(got)} values, expected {len(expected)}"
    wrong = [position for position, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b]
    first = wrong[0] if wrong else 0
    assert not wrong, (
        f"rank {rank}: {len(wrong)} of {len(got)} values are wrong; "
        f"at {first} it has {got[first]}, expected {expected[first]}"
    )


@check(id="hccl.init", title="a process group starts on two devices", advice=LINKS)
def test_init(ranks: Ranks, limit: float) -> None:
    """Two processes find each other, each on its own device, with HCCL as the backend."""
    described = ranks.ask("describe", limit)
    assert described == [[rank, WORLD, "hccl", rank] for rank in range(WORLD)], f"the ranks say {described}"


@check(id="hccl.all_reduce.sum", title="all_reduce adds up", advice=LINKS)
def test_all_reduce_sum(ranks: Ranks, limit: float) -> None:
    """Every rank ends up with the sum over all ranks."""
    expected = [sum(column) for column in zip(*(contributed(rank) for rank in range(WORLD)), strict=True)]
    for rank, got in enumerate(ranks.ask("all_reduce_sum", limit)):
        assert_equal(rank, got, expected)


@check(id="hccl.all_reduce.max", title="all_reduce finds the maximum", advice=LINKS)
def test_all_reduce_max(ranks: Ranks, limit: float) -> None:
    """Every rank ends up with the largest value over all ranks, wherever it was."""
    brought = [[v if v % WORLD == rank else -v for v in contributed(rank)] for rank in range(WORLD)]
    expected = [max(column) for column in zip(*brought, strict=True)]
    for rank, got in enumerate(ranks.ask("all_reduce_max", limit)):
        assert_equal(rank, got, expected)


@check(id="hccl.broadcast", title="broadcast reaches every rank", advice=LINKS)
def test_broadcast(ranks: Ranks, limit: float) -> None:
    """Every rank ends up with the values of the last one."""
    for rank, got in enumerate(ranks.ask("broadcast", limit)):
        assert_equal(rank, got, contributed(WORLD - 1))


@check(id="hccl.all_gather", title="all_gather collects in rank order", advice=LINKS)
def test_all_gather(ranks: Ranks, limit: float) -> None:
    """Every rank ends up with the values of each rank, in order."""
    for rank, parts in enumerate(ranks.ask("all_gather", limit)):
        assert len(parts) == WORLD, f"rank {rank} has {len(parts)} parts"
        for source, part in enumerate(parts):
            assert_equal(rank, part, contributed(source))


@check(id="hccl.reduce_scatter", title="reduce_scatter adds up and deals out", advice=LINKS)
def test_reduce_scatter(ranks: Ranks, limit: float) -> None:
    """Each rank ends up with its own part of the sum."""
    brought = [contributed(rank, COUNT * WORLD) for rank in range(WORLD)]
    total = [sum(column) for column in zip(*brought, strict=True)]
    for rank, got in enumerate(ranks.ask("reduce_scatter", limit)):
        assert_equal(rank, got, total[rank * COUNT : (rank + 1) * COUNT])


@check(id="hccl.all_to_all", title="all_to_all exchanges the right parts", advice=LINKS)
def test_all_to_all(ranks: Ranks, limit: float) -> None:
    """Each rank ends up with the parts that were meant for it, in rank order."""
    brought = [contributed(rank, COUNT * WORLD) for rank in range(WORLD)]
    for rank, got in enumerate(ranks.ask("all_to_all", limit)):
        mine = slice(rank * COUNT, (rank + 1) * COUNT)
        assert_equal(rank, got, [value for source in brought for value in source[mine]])


@check(id="hccl.send_recv", title="send and recv go around the ring", advice=LINKS)
def test_send_recv(ranks: Ranks, limit: float) -> None:
    """Values that start at rank 0 come by every rank and back, each having added one."""
    for rank, got in enumerate(ranks.ask("send_recv", limit)):
        added = WORLD - 1 if rank == 0 else rank - 1
        assert_equal(rank, got, [value + added for value in contributed(0)])


@check(id="hccl.barrier", title="a barrier holds until all have come", advice=LINKS)
def test_barrier(ranks: Ranks, limit: float) -> None:
    """No rank leaves the barrier before the last one, which is late, has come to it."""
    came, left = zip(*ranks.ask("barrier", limit), strict=True)
    assert min(left) >= max(came), f"a rank left {max(came) - min(left):.3f} s before the last one came"


@check(
    id="hccl.ddp",
    title="data-parallel gradients are the average",
    advice="If the collectives pass, DDP itself is at fault: compare torch and torch_npu on all hosts.",
)
def test_ddp(torch: ModuleType, ranks: Ranks, limit: float) -> None:
    """A step of DistributedDataParallel has on each rank the mean of the gradients that the CPU computes."""
    from rank_worker import batch, small_model  # noqa: PLC0415  # it imports torch, which may fail

    alone = []
    for rank in range(WORLD):
        model, (inputs, targets) = small_model(), batch(rank)
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        alone.append([parameter.grad for parameter in model.parameters()])
    expected = [torch.stack(gradients).mean(dim=0) for gradients in zip(*alone, strict=True)]
    for rank, got in enumerate(ranks.ask("ddp_gradients", limit)):
        assert len(got) == len(expected), (
            f"rank {rank} has gradients of {len(got)} parameters, not {len(expected)}"
        )
        for number, (gradient, wanted) in enumerate(zip(got, expected, strict=True)):
            error = float((torch.tensor(gradient) - wanted).abs().max())
            allowed = 1e-4 * float(wanted.abs().max())
            assert error <= allowed, (
                f"rank {rank}, parameter {number}: off by {error:.2g}, {allowed:.2g} is allowed"
            )
