"""What a case is: calls that are compared under one name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
]
BACKWARD = {torch.float32, torch.complex64}


@dataclass(frozen=True)
class Call:
    """A function and what it is called with; ``finish`` leaves of the result what is determined."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any] = field(default_factory=dict)
    finish: Callable[[Any], Any] = lambda result: result


@dataclass(frozen=True)
class Case:
    """Calls that are compared under one name."""

    name: str
    calls: Callable[[], Iterator[Call]]
    values: bool = True  # whether the values are determined, or only shapes and dtypes


def dtype_name(dtype: torch.dtype) -> str:
    """The name without the module: float32."""
    return str(dtype).removeprefix("torch.")
