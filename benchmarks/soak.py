"""Train on several simulated devices for a while, and fail when memory, handles or threads grow.

    ascendenv run -- python benchmarks/soak.py [--minutes 10] [--ranks 4]

in an environment installed with ``--simulate``. Each rank trains a small transformer in data parallel, feeds
it by a ``DataLoader`` with workers, clips gradients, evaluates, gathers objects, makes a group and gives it
up, and saves a checkpoint, over and over. What a rank uses is looked at once a round. The median of the last
quarter of the rounds must not exceed that of the second quarter by more than the allowance; the first quarter
is for warming up.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # makes the device "npu"
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

MIB = 1 << 20
SHARED = Path("/dev/shm")  # noqa: S108  # what is left there is what is looked for
FEWEST_ROUNDS = 8
# torch_npu gives each new group the next of a pool of streams: all are used before the first look.
STREAMS_OF_GROUPS = 32
WORDS, WIDTH, LENGTH, BATCH, STEPS_OF_A_ROUND = 64, 32, 16, 8, 20
# What may come on top without being growth: the allocator of the host gives back memory when it likes.
ALLOWANCES = {
    "resident MiB": 24.0,
    "descriptors": 0.0,
    "threads": 0.0,
    "device MiB": 0.0,
    "cached MiB": 0.0,
    "shared MiB": 1.0,
}


class Model(nn.Module):  # type: ignore[misc]
    """Words to words by one layer of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.wide, self.head = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """What may follow each word."""
        hidden = self.norm(self.embed(words))
        weights = torch.softmax(self.query(hidden) @ self.key(hidden).transpose(-1, -2) / WIDTH**0.5, dim=-1)
        return self.head(torch.relu(self.wide(hidden + weights @ self.value(hidden))))


class Rank:
    """The training of one rank."""

    def __init__(self, directory: Path) -> None:
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.file = directory / f"checkpoint-{self.rank}.pt"
        torch.npu.set_device(self.rank)
        dist.init_process_group("hccl")
        torch.manual_seed(0)
        self.model = DistributedDataParallel(Model().npu(), device_ids=[self.rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        words = torch.randint(0, WORDS, (BATCH * STEPS_OF_A_ROUND, LENGTH + 1))
        for _ in range(STREAMS_OF_GROUPS):
            self.regroup()
        self.loader = DataLoader(TensorDataset(words), batch_size=BATCH, num_workers=1, pin_memory=True)

    def round(self) -> float:
        """Train, and do once what a program does now and then; the loss all ranks agree on."""
        for (words,) in self.loader:
            self.optimizer.zero_grad()
            loss = self.loss(words.npu(non_blocking=True))
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        with torch.no_grad():
            mean = self.loss(words.npu())
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        seen: list[object] = [None] * self.ranks
        dist.all_gather_object(seen, {"rank": self.rank, "loss": mean.item()})
        self.regroup()
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, self.file)
        return float(mean)

    def loss(self, words: torch.Tensor) -> torch.Tensor:
        """Of guessing each next word."""
        guessed = self.model(words[:, :-1])
        return nn.functional.cross_entropy(guessed.reshape(-1, WORDS), words[:, 1:].reshape(-1))

    def regroup(self) -> None:
        """Make a group, use it and give it up."""
        group = dist.new_group(list(range(self.ranks)))
        value = torch.ones(1024).npu()
        dist.all_reduce(value, group=group)
        torch.npu.synchronize()
        dist.destroy_process_group(group)

    @staticmethod
    def usage() -> dict[str, float]:
        """What this process holds, and what all hold together of its device and of shared memory."""
        free, whole = torch.npu.mem_get_info()
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        shared = os.statvfs(SHARED)
        return {
            "resident MiB": int(status["VmRSS"].split()[0]) / 1024,
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
            "threads": int(status["Threads"]),
            "device MiB": (whole - free) / MIB,
            "cached MiB": torch.npu.memory_reserved() / MIB,
            "shared MiB": (shared.f_blocks - shared.f_bfree) * shared.f_frsize / MIB,
        }


def work(minutes: float, directory: Path) -> None:
    """One rank: a line a round on standard output, until rank 0 says that the time is over."""
    rank = Rank(directory)
    end = time.monotonic() + 60 * minutes
    over = torch.zeros(1).npu()
    while not over.item():
        loss = rank.round()
        told = {"rank": rank.rank, "loss": loss} | rank.usage()
        # At once, as all ranks write into one pipe, and torchrun lets `print` write piece by piece.
        os.write(sys.stdout.fileno(), f"ROUND {json.dumps(told)}\n".encode())
        over.fill_(rank.rank == 0 and time.monotonic() > end)
        dist.broadcast(over, 0)
    dist.destroy_process_group()


def watch(arguments: argparse.Namespace) -> int:
    """Run the ranks, show what they use, and judge."""
    rounds: dict[int, list[dict[str, float]]] = {rank: [] for rank in range(arguments.ranks)}
    with tempfile.TemporaryDirectory() as directory:
        for told in _rounds(arguments, Path(directory)):
            rounds[int(told["rank"])].append(told)
            if told["rank"] == 0:
                _show(len(rounds[0]), told)
    if any(len(of_rank) < FEWEST_ROUNDS for of_rank in rounds.values()):
        print("error: too few rounds for a judgement")
        return 1
    grown = [text for rank, of_rank in rounds.items() for text in _growth(rank, of_rank)]
    losses = [told["loss"] for told in rounds[0]]
    print(f"{len(losses)} rounds of {STEPS_OF_A_ROUND} steps, loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    print("\n".join(grown) if grown else f"nothing grew on {arguments.ranks} ranks")
    return 1 if grown else 0


def _rounds(arguments: argparse.Namespace, directory: Path) -> Iterator[dict[str, float]]:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [
        *torchrun,
        f"--nproc_per_node={arguments.ranks}",
        __file__,
        "--minutes",
        str(arguments.minutes),
    ]
    environ = os.environ | {"ASCENDENV_SIM_DEVICES": str(arguments.ranks)}
    with subprocess.Popen(
        [*command, "--work", str(directory)], env=environ, stdout=subprocess.PIPE, text=True
    ) as ranks:
        for line in ranks.stdout or []:
            if line.startswith("ROUND "):
                yield json.loads(line.removeprefix("ROUND "))
    if ranks.returncode != 0:
        raise SystemExit(f"error: training ended with code {ranks.returncode}")


def _show(number: int, told: dict[str, float]) -> None:
    if number == 1:
        print("rank 0   round", *(f"{name:>13}" for name in ALLOWANCES))
    if number == 1 or number % 10 == 0:
        print(f"{number:14d}", *(f"{told[name]:13.1f}" for name in ALLOWANCES), flush=True)


def _growth(rank: int, rounds: list[dict[str, float]]) -> Iterator[str]:
    quarter = len(rounds) // 4
    for name, allowance in ALLOWANCES.items():
        before = statistics.median(told[name] for told in rounds[quarter : 2 * quarter])
        after = statistics.median(told[name] for told in rounds[-quarter:])
        if after > before + allowance:
            yield f"error: rank {rank}: {name} grew from {before:.1f} to {after:.1f}"


def main() -> int:
    """Watch the ranks, or be one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is not None:
        work(arguments.minutes, arguments.work)
        return 0
    return watch(arguments)


if __name__ == "__main__":
    sys.exit(main())
