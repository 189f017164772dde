"""The training loop of HuggingFace accelerate's introduction; it finds the device by itself.

Prints the device, the losses, and whether what it saves can be loaded.
"""

from __future__ import annotations

import json
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(gradient_accumulation_steps=2)
set_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
data = TensorDataset(torch.randn(32, 16), torch.randint(0, 4, (32,)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=8)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, DataLoader(data, 8), schedule)

losses = []
for inputs, labels in loader:
    with accelerator.accumulate(model):
        loss = functional.cross_entropy(model(inputs), labels)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    losses.append(accelerator.gather(loss.detach()).mean().item())

with tempfile.TemporaryDirectory() as directory:
    accelerator.save_state(directory)
    accelerator.load_state(directory)
report = {"device": str(accelerator.device), "losses": losses, "inputs": str(inputs.device)}
print("REPORT", json.dumps(report))
