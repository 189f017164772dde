"""Values moved to a device with what a kernel may stumble over: strides, offsets, gradients, sharing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_map


@dataclass
class Transplant:
    """Moves values to ``device``; the same tensor becomes the same tensor there."""

    device: str
    leaves: list[torch.Tensor] = field(default_factory=list)  # those that want gradients
    _moved: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)  # keeps the ids alive

    def __call__(self, value: Any) -> Any:  # whatever an operator takes
        """The value, in containers or not, with its tensors on the device."""
        return tree_map(self._move, value)

    def _move(self, value: Any) -> Any:
        if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
            return torch.device(self.device)
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self._moved:
            moved = self._tensor(value)
            self._moved[id(value)] = (value, moved)
            if moved.requires_grad:
                self.leaves.append(moved)
        return self._moved[id(value)][1]

    def _tensor(self, value: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            strided = value.layout == torch.strided
            moved = self._strided(value.detach()) if strided else value.detach().to(self.device)
        return moved.detach().requires_grad_(value.requires_grad)

    def _strided(self, value: torch.Tensor) -> torch.Tensor:
        if value.is_conj():
            return self._strided(value.conj()).conj()
        if value.is_neg():
            return self._strided(value._neg_view())._neg_view()
        storage = value.untyped_storage()
        elements = storage.nbytes() // value.element_size()
        flat = torch.empty(0, dtype=value.dtype).set_(storage, 0, (elements,))
        there = flat.to(self.device, copy=True)
        return there.as_strided(value.shape, value.stride(), value.storage_offset())
