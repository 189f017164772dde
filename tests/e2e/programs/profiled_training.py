"""Trains a little under the profilers of torch_npu and torch, and prints where each left its results.

`profiled_training.py FOLDER PROFILE...`
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch_npu
from torch import nn
from torch_npu import profiler

FOLDER = Path(sys.argv[1])
ACTIVITIES = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU]
LEVELS = profiler.ProfilerLevel

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(16, 32).npu(), torch.randint(0, 10, (16,)).npu()


def train() -> None:
    """One step, its forward pass marked for whoever looks at the profile."""
    optimizer.zero_grad()
    forward = torch_npu.npu.mstx.range_start("forward", torch.npu.current_stream())
    loss = nn.functional.cross_entropy(model(inputs), labels)
    torch_npu.npu.mstx.range_end(forward)
    loss.backward()
    optimizer.step()
    torch.npu.synchronize()  # a profile that starts would record the rest of this step


def by_schedule(level: str) -> str:
    """Two steps after one of warm-up, everything recorded; the folder of the results."""
    folder = FOLDER / level
    config = profiler._ExperimentalConfig(  # it is documented so
        profiler_level=level, mstx=True, export_type=[profiler.ExportType.Text, profiler.ExportType.Db]
    )
    with profiler.profile(
        activities=ACTIVITIES,
        schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(folder)),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        experimental_config=config,
    ) as running:
        for _ in range(4):
            train()
            running.step()
    (results,) = folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT")
    return str(results)


def exported(profile_to: Callable[[Path], None], name: str, whole: Callable[[Path], bool]) -> str:
    """The file of a profile; torch_npu 2.13.0 now and then ends its analysis before the last part."""
    paths = [FOLDER / f"{attempt}-{name}" for attempt in range(3)]
    for path in paths:
        profile_to(path)
        if path.exists() and whole(path):
            return str(path)
    return str(paths[-1])


def chrome_trace() -> str:
    """The smallest use: one trace."""

    def profile_to(path: Path) -> None:
        with profiler.profile(activities=ACTIVITIES) as running:
            train()
        running.export_chrome_trace(str(path))

    return exported(profile_to, "trace.json", lambda path: path.read_text().endswith("]"))


def stacks() -> str:
    """For flame graphs."""

    def profile_to(path: Path) -> None:
        with profiler.profile(
            activities=ACTIVITIES,
            with_stack=True,
            experimental_config=profiler._ExperimentalConfig(),
        ) as running:
            train()
        running.export_stacks(str(path), "self_npu_time_total")

    return exported(profile_to, "stacks.log", lambda path: path.stat().st_size > 0)


def of_torch() -> str:
    """The profiler of torch itself."""
    path = FOLDER / "torch.json"
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]
    with torch.profiler.profile(activities=kinds) as running:
        train()
    running.export_chrome_trace(str(path))
    return str(path)


PROFILES = {
    "level0": lambda: by_schedule(LEVELS.Level0),
    "level1": lambda: by_schedule(LEVELS.Level1),
    "chrome": chrome_trace,
    "stacks": stacks,
    "torch": of_torch,
}
train()
print("REPORT", json.dumps({name: PROFILES[name]() for name in sys.argv[2:]}))
