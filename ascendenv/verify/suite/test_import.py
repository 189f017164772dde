"""Layer import: PyTorch and its NPU backend load, fit each other, and see the devices."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from suite_checks import check
from suite_process import answer

if TYPE_CHECKING:
    from conftest import Told

DOCTOR = "`ascendenv doctor` names the library or symbol that is missing and what brings it."
ALONE = """
import json, torch
built_for = [name for name in ("cuda", "hip", "xpu") if getattr(torch.version, name, None)]
print(json.dumps({"version": torch.__version__, "built_for": built_for}))
"""
WITH_DEVICES = """
import json, torch, torch_npu
seen = {"available": torch.npu.is_available(), "count": torch.npu.device_count()}
print(json.dumps({"version": torch_npu.__version__, **seen}))
"""


@pytest.fixture(scope="module")
def alone(limit: float) -> dict[str, Any]:
    """What PyTorch says of itself in a fresh interpreter, without its NPU backend."""
    return answer("importing torch alone", ALONE, limit, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})


@pytest.fixture(scope="module")
def with_devices(limit: float) -> dict[str, Any]:
    """What torch_npu says in a fresh interpreter."""
    return answer("importing torch and torch_npu", WITH_DEVICES, limit)


@check(id="import.torch", title="torch imports on its own", advice=DOCTOR)
def test_torch(alone: dict[str, Any], tell: Told) -> None:
    """PyTorch itself is intact: it loads in a fresh interpreter without the NPU backend."""
    assert alone["version"], "torch has no version"
    tell.seen(f"torch {alone['version']}")


@check(
    id="import.torch_flavour",
    title="torch is a CPU build",
    advice="torch_npu does not run beside a CUDA, ROCm or XPU build. `ascendenv install` picks a CPU build.",
)
def test_torch_flavour(alone: dict[str, Any]) -> None:
    """PyTorch is built for no other accelerator, as torch_npu requires."""
    assert alone["built_for"] == [], f"torch is built for {', '.join(alone['built_for'])}"


@check(id="import.torch_npu", title="torch_npu imports", advice=DOCTOR)
def test_torch_npu(with_devices: dict[str, Any], tell: Told) -> None:
    """Every library and symbol that torch_npu needs from CANN is found, in a fresh interpreter."""
    assert with_devices["version"], "torch_npu has no version"
    tell.seen(f"torch_npu {with_devices['version']}")


@check(
    id="import.devices",
    title="torch sees the devices that the probe sees",
    advice="Check ASCEND_RT_VISIBLE_DEVICES and that no other process holds the devices (`npu-smi info`).",
)
def test_devices(probe: ModuleType, with_devices: dict[str, Any], tell: Told) -> None:
    """torch.npu is available and counts as many devices as the runtime itself."""
    count = with_devices["count"]
    assert with_devices["available"], "torch.npu.is_available() is False"
    assert count == probe.device_count(), f"torch counts {count} devices, the probe {probe.device_count()}"
    tell.seen(f"{count} devices")
