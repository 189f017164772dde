"""Tiny models of HuggingFace transformers, made of configurations alone, on the CPU and on the NPU.

Prints for each model and device the loss of each step and what the trained model gives.
"""

from __future__ import annotations

import json

import torch
import torch_npu  # noqa: F401  # registers the device
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM, PreTrainedModel

SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}


def llama(attention: str) -> PreTrainedModel:
    """With grouped queries, as the larger ones have."""
    return LlamaForCausalLM(LlamaConfig(**SMALL, num_key_value_heads=2, attn_implementation=attention))


def bert(attention: str) -> PreTrainedModel:
    """Without dropout, so that both devices compute the same."""
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForMaskedLM(BertConfig(**SMALL, **quiet, attn_implementation=attention))


MODELS = {
    f"{make.__name__} {attention}": (make, attention)
    for make in (llama, bert)
    for attention in ("eager", "sdpa")
}


def train(name: str, device: str) -> list[float]:
    """The losses of 5 steps, then some of the numbers that the model gives."""
    torch.manual_seed(0)
    make, attention = MODELS[name]
    model = make(attention).to(device)
    words = torch.randint(0, 64, (4, 12)).to(device)
    seen = torch.ones_like(words)
    seen[0, 8:] = 0
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(5):
        loss = model(input_ids=words, attention_mask=seen, labels=words).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        logits = model.eval()(input_ids=words, attention_mask=seen).logits
    return [*losses, *logits[1].flatten()[:50].tolist()]


def generate(device: str) -> list[int]:
    """What a random LLaMA says next, greedily."""
    torch.manual_seed(0)
    model = llama("sdpa").to(device).eval()
    said = model.generate(
        torch.arange(1, 6, device=device)[None], max_new_tokens=8, do_sample=False, pad_token_id=0
    )
    words: list[int] = said[0].tolist()
    return words


report: dict[str, dict[str, list[float] | list[int]]] = {}
report |= {name: {device: train(name, device) for device in ("cpu", "npu:0")} for name in MODELS}
report["generate"] = {device: generate(device) for device in ("cpu", "npu:0")}
print("REPORT", json.dumps(report))
