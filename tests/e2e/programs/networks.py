"""A small transformer and a small residual network as people write them, trained on the CPU and on the NPU.

Prints, for each network and device, the loss of each step and what the trained network then gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import torch
import torch_npu  # noqa: F401  # registers the device
from torch import nn
from torch.nn import functional

STEPS = 20


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding of (batch, heads, tokens, width)."""
    tokens, width = x.shape[-2:]
    frequencies = 1.0 / 10000 ** (torch.arange(0, width, 2, device=x.device, dtype=torch.float32) / width)
    angles = torch.outer(torch.arange(tokens, device=x.device, dtype=torch.float32), frequencies)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


class Attention(nn.Module):  # type: ignore[misc]
    """Self-attention with rotary embedding; causal by flag or by a mask."""

    def __init__(self, width: int, heads: int, *, masked: bool) -> None:
        super().__init__()
        self.heads, self.masked = heads, masked
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        query, key, value = (
            part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        query, key = rotate(query), rotate(key)
        if self.masked:
            mask = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


class SwiGlu(nn.Module):  # type: ignore[misc]
    """The gated feed-forward of LLaMA."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate, self.up, self.down = (
            nn.Linear(width, hidden, bias=False),
            nn.Linear(width, hidden, bias=False),
            nn.Linear(hidden, width, bias=False),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):  # type: ignore[misc]
    """Attention and feed-forward, each behind a norm and around a shortcut."""

    def __init__(
        self, width: int, norm: Callable[[int], nn.Module], attention: nn.Module, mlp: nn.Module
    ) -> None:
        super().__init__()
        self.first, self.second, self.attention, self.mlp = norm(width), norm(width), attention, mlp

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Transformer(nn.Module):  # type: ignore[misc]
    """One block in the style of GPT and one in the style of LLaMA."""

    def __init__(self, words: int = 64, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        gelu = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(
            Block(width, nn.LayerNorm, Attention(width, heads, masked=False), gelu),
            Block(width, nn.RMSNorm, Attention(width, heads, masked=True), SwiGlu(width, 2 * width)),
        )
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scaled = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.head(self.norm(self.blocks(scaled)))


class Residual(nn.Module):  # type: ignore[misc]
    """Two convolutions around which a shortcut leads."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.path(x) + self.shortcut(x))


def residual_network() -> nn.Module:
    """A ResNet for images of 32 by 32."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, stride=2, padding=1),
        Residual(8, 8, 1),
        Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def train_transformer(device: str) -> list[float]:
    """Next-word prediction with AdamW, clipped gradients and a cosine schedule."""
    torch.manual_seed(0)
    model = Transformer().to(device)
    words = torch.randint(0, 64, (8, 17)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    losses = []
    for _ in range(STEPS):
        logits = model(words[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    with torch.no_grad():
        return [*losses, *model.eval()(words[:1, :4]).flatten()[:50].tolist()]


def train_residual_network(device: str) -> list[float]:
    """Classification with SGD, momentum and weight decay."""
    torch.manual_seed(0)
    model = residual_network().to(device)
    images, labels = torch.randn(16, 3, 32, 32).to(device), torch.randint(0, 10, (16,)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-3, nesterov=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)
    losses = []
    for _ in range(STEPS):
        loss = functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    with torch.no_grad():
        return [*losses, *model.eval()(images).flatten()[:50].tolist()]


report = {
    network.__name__: {device: network(device) for device in ("cpu", "npu:0")}
    for network in (train_transformer, train_residual_network)
}
print("REPORT", json.dumps(report))
