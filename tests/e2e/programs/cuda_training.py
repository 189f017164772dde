"""A script written for CUDA, which knows nothing of NPUs: trains a little and prints where that ran."""

from __future__ import annotations

import json

import torch
from torch import nn
from torch.nn import functional

assert torch.cuda.is_available()
torch.cuda.set_device(0)
torch.cuda.manual_seed_all(0)
torch.manual_seed(0)
torch.backends.cudnn.benchmark = True

model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)).cuda()
inputs, labels = torch.randn(64, 16).pin_memory(), torch.randint(0, 4, (64,))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.cuda.amp.GradScaler(enabled=False)
copies, start, end = (
    torch.cuda.Stream(),
    torch.cuda.Event(enable_timing=True),
    torch.cuda.Event(enable_timing=True),
)

losses = []
start.record()
for _ in range(5):
    with torch.cuda.stream(copies):
        batch, targets = inputs.cuda(non_blocking=True), labels.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(copies)
    with torch.cuda.amp.autocast(enabled=False):
        loss = functional.cross_entropy(model(batch), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
end.record()
torch.cuda.synchronize()

report = {
    "losses": losses,
    "device": str(next(model.parameters()).device),
    "is_cuda": model[0].weight.is_cuda,
    "milliseconds": start.elapsed_time(end),
    "name": torch.cuda.get_device_name(0),
    "devices": torch.cuda.device_count(),
    "allocated": torch.cuda.memory_allocated(),
    "made": str(torch.zeros(2, device="cuda").device),
}
print("REPORT", json.dumps(report))
