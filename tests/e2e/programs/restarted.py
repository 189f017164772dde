"""Train in data parallel, lose a rank once, and go on from the last checkpoint when all have been restarted.

`torchrun --max-restarts=1 ... restarted.py DIRECTORY`: rank 0 of the last attempt prints all losses.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  # registers the device and the backend
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RANK, ATTEMPT = int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
STEPS, LOST_AT = 6, 3


def main() -> None:
    file = Path(sys.argv[1]) / "checkpoint.pt"
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 1).npu(), device_ids=[RANK])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses: list[float] = []
    if file.exists():
        saved = torch.load(file, map_location=f"npu:{RANK}")
        model.load_state_dict(saved["model"])
        losses = saved["losses"]
    for step in range(len(losses), STEPS):
        if (RANK, ATTEMPT, step) == (1, 0, LOST_AT):
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        loss = model(torch.ones(2, 4).npu()).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if RANK == 0:
            torch.save({"model": model.state_dict(), "losses": losses}, file)
        dist.barrier()
    if RANK == 0:
        print("REPORT", json.dumps({"attempt": ATTEMPT, "losses": losses}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
