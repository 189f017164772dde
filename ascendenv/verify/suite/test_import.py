"""Layer import: PyTorch and its NPU backend load, fit each other, and see the devices."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from suite_checks import check
from suite_process import python

if TYPE_CHECKING:
    from conftest import Told

WITHOUT_BACKENDS = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
DOCTOR = "`ascendenv doctor` names the library or symbol that is missing and what brings it."


@check(id="import.torch", title="torch imports on its own", advice=DOCTOR)
def test_torch(tell: Told, limit: float) -> None:
    """PyTorch itself is intact: it loads in a fresh interpreter without the NPU backend."""
    version = python("import torch; print(torch.__version__)", limit, WITHOUT_BACKENDS)
    assert version, "torch has no version"
    tell.seen(f"torch {version}")


@check(
    id="import.torch_flavour",
    title="torch is a CPU build",
    advice="torch_npu refuses to run beside a build for another accelerator. `ascendenv install` picks a CPU build.",
)
def test_torch_flavour(limit: float) -> None:
    """PyTorch is built for no other accelerator, as torch_npu requires."""
    code = (
        "import torch; v = torch.version; print([n for n in ('cuda', 'hip', 'xpu') if getattr(v, n, None)])"
    )
    built_for = python(code, limit, WITHOUT_BACKENDS)
    assert built_for == "[]", f"torch is built for {built_for}"


@check(id="import.torch_npu", title="torch_npu imports", advice=DOCTOR)
def test_torch_npu(tell: Told, limit: float) -> None:
    """Every library and symbol that torch_npu needs from CANN is found, in a fresh interpreter."""
    version = python("import torch, torch_npu; print(torch_npu.__version__)", limit)
    assert version, "torch_npu has no version"
    tell.seen(f"torch_npu {version}")


@check(
    id="import.devices",
    title="torch sees the devices that the probe sees",
    advice="Check ASCEND_RT_VISIBLE_DEVICES and that no other process holds the devices (`npu-smi info`).",
)
def test_devices(probe: ModuleType, tell: Told, limit: float) -> None:
    """torch.npu is available and counts as many devices as the runtime itself."""
    code = "import torch, torch_npu; print(torch.npu.is_available(), torch.npu.device_count())"
    available, count = python(code, limit).splitlines()[-1].split()
    assert available == "True", "torch.npu.is_available() is False"
    assert int(count) == probe.device_count(), (
        f"torch counts {count} devices, the probe {probe.device_count()}"
    )
    tell.seen(f"{count} devices")
