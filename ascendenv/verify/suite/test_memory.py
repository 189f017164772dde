"""Layer memory: the caching allocator over the device's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from suite_checks import check

if TYPE_CHECKING:
    from conftest import Told
    from torch import Tensor

MIB = 1 << 20
DEVICE = "npu:0"
HELD = "Memory may be held by other processes: `npu-smi info` lists them."


@pytest.fixture(autouse=True)
def emptied(torch: ModuleType) -> Iterator[None]:
    """Begin and end without cached memory."""
    torch.npu.synchronize()
    torch.npu.empty_cache()
    yield
    torch.npu.synchronize()
    torch.npu.empty_cache()


def block(torch: ModuleType, mib: int) -> Tensor:
    """``mib`` MiB on the device, filled, so that the memory is really there."""
    return torch.ones(mib * MIB, dtype=torch.uint8, device=DEVICE)


def allocate(torch: ModuleType, nbytes: int) -> Tensor:
    """Bytes on the device that nothing is written to."""
    return torch.empty(nbytes, dtype=torch.uint8, device=DEVICE)


def assert_out_of_memory(what: str, request: Callable[[], object]) -> None:
    """Expect an error for want of memory; its class has changed over the versions of torch_npu."""
    try:
        request()
    except RuntimeError as error:
        answer = str(error)
    else:
        answer = "it was granted"
    assert "out of memory" in answer, f"asked for {what}: {answer}"


@check(id="memory.statistics", title="allocator statistics follow allocations", advice=HELD)
def test_statistics(torch: ModuleType) -> None:
    """allocated, reserved and their maxima move by what is allocated and freed."""
    before = torch.npu.memory_allocated(DEVICE)
    torch.npu.reset_peak_memory_stats(DEVICE)
    held = block(torch, 32)
    grown = torch.npu.memory_allocated(DEVICE) - before
    assert 32 * MIB <= grown < 33 * MIB, f"allocating 32 MiB raised memory_allocated by {grown} bytes"
    assert torch.npu.memory_reserved(DEVICE) >= torch.npu.memory_allocated(DEVICE), (
        "less is reserved than allocated"
    )
    del held
    torch.npu.synchronize()
    left = torch.npu.memory_allocated(DEVICE) - before
    assert left == 0, f"{left} bytes stay allocated after freeing"
    peak = torch.npu.max_memory_allocated(DEVICE) - before
    assert 32 * MIB <= peak < 33 * MIB, f"the maximum rose by {peak} bytes, 32 MiB were allocated"


@check(id="memory.empty_cache", title="empty_cache gives memory back", advice=HELD)
def test_empty_cache(torch: ModuleType) -> None:
    """Freed memory stays in the cache, and empty_cache returns it to the device."""
    reserved = torch.npu.memory_reserved(DEVICE)
    held = block(torch, 256)
    del held
    torch.npu.synchronize()
    cached = torch.npu.memory_reserved(DEVICE) - reserved
    assert cached >= 256 * MIB, f"only {cached} bytes stay in the cache after freeing 256 MiB"
    free_before = torch.npu.mem_get_info(DEVICE)[0]
    torch.npu.empty_cache()
    left = torch.npu.memory_reserved(DEVICE) - reserved
    assert left == 0, f"{left} bytes stay reserved after empty_cache"
    gained = torch.npu.mem_get_info(DEVICE)[0] - free_before
    assert gained >= 128 * MIB, f"256 MiB went back to the device, its free memory rose by {gained} bytes"


@check(id="memory.out_of_memory", title="out of memory is an error, and not the end", advice=HELD)
def test_out_of_memory(torch: ModuleType, tell: Told) -> None:
    """Asking for more than the device has raises an error that says so, and the device works on."""
    total = torch.npu.mem_get_info(DEVICE)[1]
    assert_out_of_memory("twice the device's memory", lambda: allocate(torch, 2 * total))
    held: list[Tensor] = []

    def fill() -> None:
        for _ in range(9):
            held.append(allocate(torch, total // 8))  # noqa: PERF401  # what was had before the end counts

    assert_out_of_memory("nine eighths of the device's memory", fill)
    assert held, f"not even an eighth of {total / 2**30:.1f} GiB could be allocated"
    count = len(held)
    held.clear()
    torch.npu.empty_cache()
    again = allocate(torch, count * (total // 8) // 2)
    assert again.is_npu, "what was freed cannot be allocated again"
    result = (torch.ones(1000, device=DEVICE) * 2).sum().item()
    assert result == 2000.0, f"after running out of memory a sum is {result}, expected 2000"
    tell.seen(f"{count} eighths of {total / 2**30:.1f} GiB")


@check(id="memory.fraction", title="the memory fraction is respected", advice=HELD)
def test_fraction(torch: ModuleType) -> None:
    """set_per_process_memory_fraction limits this process, and lifting the limit frees it."""
    total = torch.npu.mem_get_info(DEVICE)[1]
    limit = torch.npu.memory_reserved(DEVICE) + 256 * MIB
    torch.npu.set_per_process_memory_fraction(limit / total, DEVICE)
    try:
        within = block(torch, 128)
        assert within[-1].item() == 1, "memory within the limit does not hold its value"
        assert_out_of_memory("twice the limit", lambda: block(torch, 512))
    finally:
        torch.npu.set_per_process_memory_fraction(1.0, DEVICE)
    beyond = block(torch, 512)
    assert beyond[-1].item() == 1, "memory beyond the lifted limit does not hold its value"


@check(
    id="memory.growth",
    title="repeated work does not grow memory",
    advice="A leak in torch_npu or CANN: compare with the newest patch release of this torch_npu.",
)
def test_growth(torch: ModuleType) -> None:
    """After two cycles of forward, backward and freeing, eighteen more use no more memory."""
    used = []
    for _ in range(20):
        weight = torch.ones(512, 512, device=DEVICE, requires_grad=True)
        (torch.ones(256, 512, device=DEVICE) @ weight).relu().sum().backward()
        del weight
        torch.npu.synchronize()
        used.append((torch.npu.memory_allocated(DEVICE), torch.npu.memory_reserved(DEVICE)))
    assert len(set(used[2:])) == 1, (
        f"(allocated, reserved) went from {used[2]} to {used[-1]} bytes in 18 cycles"
    )


@check(
    id="memory.pinned",
    title="pinned host memory copies asynchronously",
    advice="`ulimit -l` (locked memory) may be too small, in containers above all.",
)
def test_pinned(torch: ModuleType) -> None:
    """Page-locked memory can be had, and what is copied from and to it without blocking arrives unchanged."""
    original = torch.arange(1 << 20, dtype=torch.int32)
    pinned = original.pin_memory()
    assert pinned.is_pinned(), "pin_memory() gave memory that is not pinned"
    there = pinned.to(DEVICE, non_blocking=True) + 1
    back = torch.empty_like(original).pin_memory()
    back.copy_(there, non_blocking=True)
    torch.npu.synchronize()
    wrong = int((back != original + 1).sum())
    assert wrong == 0, f"{wrong} of {original.numel()} values are wrong after an asynchronous round trip"
