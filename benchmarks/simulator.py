"""What the simulated device costs, as ratios of medians to CPU peers that take turns with it in the same run.

Usage: ``ascendenv run -- python benchmarks/simulator.py`` in an environment installed with ``--simulate``.
A ratio below one is faster than the peer. None of this says anything about an NPU.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed
import torch.multiprocessing
import torch_npu  # noqa: F401  # makes the device "npu"

ROUNDS = 15
LAUNCHES = 500
RANKS = 2
COPIED = 16 << 20  # in float32: 64 MiB
REDUCED = {"4 KiB": 1 << 10, "16 MiB": 4 << 20}


def ratio(ours: Callable[[], object], peer: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median time of ``ours`` over that of ``peer``; they take turns, so that a busy moment hits both."""
    taken: dict[Callable[[], object], list[float]] = {ours: [], peer: []}
    for work in taken:
        work()  # the first run pays for what is set up once
    for _ in range(rounds):
        for work, times in taken.items():
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return statistics.median(taken[ours]) / statistics.median(taken[peer])


def small_adds(device: str) -> Callable[[], object]:
    """Many operators with next to nothing to compute."""
    values = torch.ones(16, device=device)

    def work() -> None:
        for _ in range(LAUNCHES):
            torch.add(values, values)
        torch.npu.synchronize()

    return work


def copy_to(device: str) -> Callable[[], object]:
    """A large copy from host memory; on the CPU it is one ``memcpy``."""
    source = torch.ones(COPIED)
    target = torch.empty(COPIED, device=device)

    def work() -> None:
        target.copy_(source)
        torch.npu.synchronize()

    return work


def matmul(device: str) -> Callable[[], object]:
    """Long enough for the launch not to matter."""
    left, right = torch.randn(1024, 1024, device=device), torch.randn(1024, 1024, device=device)

    def work() -> None:
        torch.mm(left, right)
        torch.npu.synchronize()

    return work


def start(imports: str) -> Callable[[], object]:
    """An interpreter that imports something and ends."""
    # Autoloading would import torch_npu with torch.
    environ = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}

    def work() -> None:
        subprocess.run([sys.executable, "-c", f"import {imports}"], env=environ, check=True)

    return work


def all_reduce(device: str, count: int) -> Callable[[], object]:
    """One reduction over all ranks."""
    values = torch.ones(count, device=device)

    def work() -> None:
        torch.distributed.all_reduce(values)
        torch.npu.synchronize()

    return work


def rank_main(rank: int, port: int) -> None:
    """One rank; the first prints."""
    torch.npu.set_device(rank)
    address = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group(
        "cpu:gloo,npu:hccl", init_method=address, rank=rank, world_size=RANKS
    )
    for size, count in REDUCED.items():
        found = ratio(all_reduce("npu", count), all_reduce("cpu", count))
        if rank == 0:
            show(f"all_reduce of {size} over {RANKS} ranks", found, "gloo")
    torch.distributed.destroy_process_group()


def show(what: str, found: float, peer: str) -> None:
    """One line."""
    print(f"{what:<42} {found:6.2f} x the time of {peer}", flush=True)


def main() -> None:
    """All of it."""
    show(f"{LAUNCHES} adds of 16 numbers", ratio(small_adds("npu"), small_adds("cpu")), "CPU torch")
    show("copy of 64 MiB to the device", ratio(copy_to("npu"), copy_to("cpu")), "a copy in host memory")
    show("1024x1024 matmul", ratio(matmul("npu"), matmul("cpu")), "CPU torch")
    show(
        "import of torch and torch_npu",
        ratio(start("torch, torch_npu"), start("torch"), rounds=5),
        "torch alone",
    )
    port = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False).port
    torch.multiprocessing.spawn(rank_main, args=(port,), nprocs=RANKS)


if __name__ == "__main__":
    main()
