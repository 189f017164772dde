"""Results on the device against those of the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

# Relative and absolute. The kernels are the CPU's own, but torch_npu composes some operators of others.
TOLERANCES = {
    torch.float64: (1e-4, 2e-5),  # torch_npu computes in float32
    torch.float32: (1e-4, 2e-5),
    torch.complex64: (1e-4, 2e-5),
    torch.float16: (4e-3, 2e-3),
    torch.bfloat16: (3e-2, 1.6e-2),
}


def difference(expected: Any, got: Any, *, values: bool = True) -> str:
    """What differs, in one line; empty if nothing does. Without ``values`` only shapes and dtypes count."""
    here, there = tree_leaves(expected), tree_leaves(got)
    if len(here) != len(there):
        return f"{len(there)} results instead of {len(here)}"
    found = (_one(left, right, values=values) for left, right in zip(here, there, strict=True))
    return next((text for text in found if text), "")


def _one(expected: Any, got: Any, *, values: bool) -> str:
    here, there = _as_tensor(expected), _as_tensor(got)
    if here is None or there is None:
        return "" if here is there else "only one of the results is a tensor"
    if here.shape != there.shape:
        return f"shape {tuple(there.shape)} instead of {tuple(here.shape)}"
    if here.dtype != there.dtype:
        return f"dtype {there.dtype} instead of {here.dtype}"
    return _values(_plain(here.detach()), _plain(there.detach())) if values else ""


def _values(expected: torch.Tensor, got: torch.Tensor) -> str:
    relative, absolute = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    try:
        torch.testing.assert_close(got, expected, rtol=relative, atol=absolute, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())[:300]
    return ""


def _as_tensor(value: Any) -> torch.Tensor | None:
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value) if isinstance(value, bool | int | float | complex) else None


def _plain(value: torch.Tensor) -> torch.Tensor:
    value = value.cpu().resolve_conj().resolve_neg()
    return value.to_dense() if value.layout != torch.strided else value
