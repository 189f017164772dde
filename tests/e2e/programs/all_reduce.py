"""Sum a tensor over all processes, each on an NPU of its own, and print the sum as one process sees it."""

from __future__ import annotations

import json
import os

import torch
import torch.distributed as dist
import torch_npu

rank = int(os.environ["RANK"])
torch_npu.npu.set_device(rank)
dist.init_process_group("hccl")
values = torch.arange(8, dtype=torch.float32) * (rank + 1)
summed = values.npu()
dist.all_reduce(summed)
if rank == 0:
    print(json.dumps({"device": str(summed.device), "sum": summed.cpu().tolist()}))
dist.destroy_process_group()
