"""How a check of the suite is declared, and what the checks share."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from torch import Tensor

LAYERS = ("probe", "import", "tensor", "memory", "hccl")


def check(*, id: str, title: str, advice: str) -> pytest.MarkDecorator:  # noqa: A002  # the word users see
    """Declare a test function as a check.

    ``id`` is stable and begins with the layer; parameters of the test are appended (``tensor.matmul`` becomes
    ``tensor.matmul.bfloat16``) and may be named in ``title``. The docstring says what a pass proves.
    """
    return pytest.mark.check(id=id, title=title, advice=advice)


@dataclass(frozen=True)
class Declared:
    """A check as the journal names it."""

    id: str
    layer: str
    title: str
    proves: str
    advice: str


def declared(item: pytest.Function) -> Declared:
    """What the ``check`` on a test function says. Raises ``ValueError`` for a test without one."""
    mark = item.get_closest_marker("check")
    if mark is None:
        raise ValueError(f"{item.nodeid} is not declared as a check")
    parameters = item.callspec if hasattr(item, "callspec") else None
    id_ = mark.kwargs["id"] + (f".{parameters.id.replace('-', '.')}" if parameters else "")
    layer = id_.split(".")[0]
    if layer not in LAYERS:
        raise ValueError(f"{id_} belongs to no layer ({', '.join(LAYERS)})")
    title = mark.kwargs["title"].format(**(parameters.params if parameters else {}))
    proves = " ".join((item.function.__doc__ or "").split())
    return Declared(id_, layer, title, proves, mark.kwargs["advice"])


# How far a result may be from the CPU's in float64, relative to the largest value expected. A matrix unit
# multiplies float16 and bfloat16 exactly and adds in float32, then rounds once to the result's precision
# (2**-11, 2**-8); float32 on it may pass through a 10-bit mantissa (hf32), which stays off by default.
TOLERANCES = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


def assert_close(torch: ModuleType, got: Tensor, expected: Tensor, dtype: str) -> None:
    """Compare a device's result with one computed on the CPU: exactly for integers, else within tolerance."""
    got, expected = got.cpu(), expected.cpu()
    assert got.shape == expected.shape, f"the shape is {tuple(got.shape)}, expected {tuple(expected.shape)}"
    if dtype not in TOLERANCES:
        wrong = int((got != expected).sum())
        assert wrong == 0, f"{wrong} of {expected.numel()} {dtype} values differ from the CPU's"
        return
    got, expected = got.to(torch.float64), expected.to(torch.float64)
    assert bool(torch.isfinite(got).all()), f"the {dtype} result holds NaN or Inf"
    scale = max(float(expected.abs().max()), 1e-30)
    error = float((got - expected).abs().max()) / scale
    limit = TOLERANCES[dtype]
    assert error <= limit, f"the {dtype} result is off by {error:.2g} of its range, {limit:g} is allowed"
