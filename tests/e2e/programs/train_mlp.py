"""Train a small MLP and print its losses: on ``npu:0`` or on the CPU, as the argument says."""

from __future__ import annotations

import json
import sys

import torch

if sys.argv[1] != "cpu":
    import torch_npu  # noqa: F401  # registers the device


def train(device: str, steps: int = 20) -> list[float]:
    """The loss of each step; the same start on every device."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to(device)
    inputs, labels = torch.randn(64, 16).to(device), torch.randint(0, 4, (64,)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


print(json.dumps(train(sys.argv[1])))
