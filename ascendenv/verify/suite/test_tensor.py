"""Layer tensor: what the device computes equals what the CPU computes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from suite_checks import assert_close, check

if TYPE_CHECKING:
    from conftest import Told
    from torch import Tensor

OPERATORS = (
    "A wrong or missing result of one operator points to operator packages of another chip or CANN version: "
    "`ascendenv doctor` compares them. Run again with `-k` and this check's id to see whether it is stable."
)
FLOATS = ("float32", "float16", "bfloat16")
INTEGERS = ("int32", "int64")
BITS = {"bool": "uint8", "uint8": "uint8", "float16": "int16", "bfloat16": "int16", "float32": "int32"}


def on_cpu(torch: ModuleType, shape: tuple[int, ...], dtype: str, *, seed: int) -> Tensor:
    """Random values on the CPU: within [-2, 2) for floats, [-100, 100) for integers."""
    generator = torch.Generator().manual_seed(seed)
    if dtype in INTEGERS:
        return torch.randint(-100, 100, shape, generator=generator, dtype=getattr(torch, dtype))
    return (torch.rand(shape, generator=generator) * 4 - 2).to(getattr(torch, dtype))


def exact(torch: ModuleType, value: Tensor) -> Tensor:
    """A wider copy for expectations, so that the CPU's own rounding is not what is compared with."""
    return value.to(torch.float64) if value.is_floating_point() else value


@pytest.fixture(autouse=True)
def supported(request: pytest.FixtureRequest, torch: ModuleType) -> None:
    """Skip bfloat16 where the chip does not compute in it."""
    parameters = getattr(request.node, "callspec", None)
    wanted = parameters is not None and parameters.params.get("dtype") == "bfloat16"
    if wanted and not torch.npu.is_bf16_supported():
        pytest.skip(f"{torch.npu.get_device_name(0)} does not compute in bfloat16")


@check(id="tensor.creation", title="tensors are made on the device", advice=OPERATORS)
def test_creation(torch: ModuleType) -> None:
    """zeros, ones, full, arange and tensor hold the values asked for, on npu:0."""
    made = {
        "zeros": (torch.zeros(3, device="npu:0"), [0.0, 0.0, 0.0]),
        "ones": (torch.ones(3, device="npu:0"), [1.0, 1.0, 1.0]),
        "full": (torch.full((2, 2), 7, device="npu:0"), [[7, 7], [7, 7]]),
        "arange": (torch.arange(2, 12, 3, device="npu:0"), [2, 5, 8, 11]),
        "tensor": (torch.tensor([[1.5], [-2.5]], device="npu:0"), [[1.5], [-2.5]]),
    }
    for name, (tensor, expected) in made.items():
        assert str(tensor.device) == "npu:0", f"{name} made a tensor on {tensor.device}"
        assert tensor.tolist() == expected, f"{name} holds {tensor.tolist()}, expected {expected}"


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "uint8", "bool"])
@check(
    id="tensor.copy",
    title="{dtype} goes to the device and back unchanged",
    advice="Suspect the device's memory or its link to the host: `npu-smi info -t health -i ID`.",
)
def test_copy(torch: ModuleType, dtype: str) -> None:
    """Copies to the device, on it, and back keep every bit, from one element to several MiB."""
    bits = getattr(torch, BITS.get(dtype, dtype))
    low, high = (0, 2) if dtype == "bool" else (torch.iinfo(bits).min, torch.iinfo(bits).max)
    for count in (1, 31, 4099, 1 << 20):
        generator = torch.Generator().manual_seed(count)
        original = torch.randint(low, high, (count,), generator=generator, dtype=bits)
        there = original.view(getattr(torch, dtype)).to("npu:0")
        back = there.clone().cpu().view(bits)
        wrong = int((back != original).sum())
        assert wrong == 0, f"{wrong} of {count} {dtype} values came back changed"


@check(id="tensor.views", title="views share their memory and order", advice=OPERATORS)
def test_views(torch: ModuleType) -> None:
    """Slices, transposes, reshapes and expansions read the right elements, and writes through them arrive."""
    base = on_cpu(torch, (6, 8, 5), "float32", seed=1)
    device = base.to("npu:0")
    seen: dict[str, Callable[[Tensor], Tensor]] = {
        "slice": lambda t: t[1:5:2, :, 3],
        "transpose": lambda t: t.transpose(0, 2),
        "permute": lambda t: t.permute(2, 0, 1).contiguous(),
        "reshape": lambda t: t.reshape(8, 30),
        "expand": lambda t: t[:, :1, :].expand(6, 4, 5),
    }
    for name, view in seen.items():
        assert torch.equal(view(device).cpu(), view(base)), f"{name} reads other elements than on the CPU"
    for tensor in (base, device):
        tensor[2:4].transpose(0, 1)[1] = 9.0
    assert torch.equal(device.cpu(), base), "a write through a view did not arrive where it does on the CPU"


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@check(id="tensor.arithmetic", title="add, multiply and compare in {dtype}", advice=OPERATORS)
def test_arithmetic(torch: ModuleType, dtype: str) -> None:
    """Elementwise arithmetic with broadcasting equals the CPU's."""
    a, b = (on_cpu(torch, shape, dtype, seed=seed) for shape, seed in (((37, 19), 2), ((19,), 3)))
    on_device = a.to("npu:0"), b.to("npu:0")
    assert_close(torch, on_device[0] + on_device[1], exact(torch, a) + exact(torch, b), dtype)
    assert_close(torch, on_device[0] * on_device[1] - 3, exact(torch, a) * exact(torch, b) - 3, dtype)
    assert torch.equal((on_device[0] > on_device[1]).cpu(), a > b), f"comparing {dtype} differs from the CPU"


@pytest.mark.parametrize("dtype", FLOATS)
@check(id="tensor.matmul", title="matmul in {dtype}", advice=OPERATORS)
def test_matmul(torch: ModuleType, dtype: str) -> None:
    """The matrix unit multiplies, alone, batched and transposed, as exactly as the type allows."""
    for left, right in (((33, 65), (65, 17)), ((128, 256), (256, 64)), ((3, 16, 40), (3, 40, 24))):
        a, b = on_cpu(torch, left, dtype, seed=4), on_cpu(torch, right, dtype, seed=5)
        expected = exact(torch, a) @ exact(torch, b)
        assert_close(torch, a.to("npu:0") @ b.to("npu:0"), expected, dtype)
        stored_transposed = b.transpose(-1, -2).contiguous().to("npu:0").transpose(-1, -2)
        assert_close(torch, a.to("npu:0") @ stored_transposed, expected, dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@check(id="tensor.relu", title="relu in {dtype}", advice=OPERATORS)
def test_relu(torch: ModuleType, dtype: str) -> None:
    """What is positive stays and the rest becomes zero."""
    value = on_cpu(torch, (41, 23), dtype, seed=6)
    expected = torch.where(value > 0, value, torch.zeros_like(value))
    assert torch.equal(torch.relu(value.to("npu:0")).cpu(), expected), f"relu of {dtype} differs from the CPU"


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@check(id="tensor.reduction", title="sum, mean, max and min in {dtype}", advice=OPERATORS)
def test_reduction(torch: ModuleType, dtype: str) -> None:
    """Reductions over all elements and along an axis equal the CPU's."""
    value = on_cpu(torch, (29, 51), dtype, seed=7).abs()
    wide, device = exact(torch, value), value.to("npu:0")
    assert_close(torch, device.sum(), wide.sum(), dtype)
    assert_close(torch, device.sum(dim=1), wide.sum(dim=1), dtype)
    if dtype in FLOATS:
        assert_close(torch, device.mean(dim=0), wide.mean(dim=0), dtype)
    assert device.max().item() == value.max().item(), f"max of {dtype} differs from the CPU"
    assert device.min().item() == value.min().item(), f"min of {dtype} differs from the CPU"


@check(id="tensor.print", title="a tensor prints with its device", advice=OPERATORS)
def test_print(torch: ModuleType) -> None:
    """The first thing that everybody types: values and device='npu:0' are shown."""
    text = repr(torch.tensor([[1.25, -2.0], [3.0, 4.5]]).to("npu:0"))
    values = repr(torch.tensor([[1.25, -2.0], [3.0, 4.5]]))
    expected = values.removesuffix(")")
    assert text.startswith(expected), f"the values print as {text}"
    assert "device='npu:0'" in text, f"the device is not shown: {text}"


@check(id="tensor.seed", title="random numbers repeat with their seed", advice=OPERATORS)
def test_seed(torch: ModuleType) -> None:
    """The same seed gives the same numbers, another seed others, spread as they should be."""

    def drawn(seed: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed)
        return torch.rand(10_000, device="npu:0").cpu(), torch.randn(10_000, device="npu:0").cpu()

    first, again, other = drawn(7), drawn(7), drawn(8)
    for name, a, b, c in zip(("rand", "randn"), first, again, other, strict=True):
        assert torch.equal(a, b), f"{name} gives other numbers with the same seed"
        assert not torch.equal(a, c), f"{name} gives the same numbers with another seed"
    uniform, normal = first
    assert float(uniform.min()) >= 0, "rand goes below 0"
    assert float(uniform.max()) < 1, "rand reaches 1"
    assert abs(float(uniform.mean()) - 0.5) < 0.02, f"the mean of rand is {float(uniform.mean()):.3f}"
    assert abs(float(normal.mean())) < 0.05, f"the mean of randn is {float(normal.mean()):.3f}"
    assert abs(float(normal.std()) - 1) < 0.05, f"the deviation of randn is {float(normal.std()):.3f}"


@check(
    id="tensor.devices",
    title="every device computes",
    advice="The device named is at fault: `npu-smi info -t health -i ID`; `--devices` leaves it out.",
)
def test_devices(torch: ModuleType, tell: Told) -> None:
    """A matrix product and a copy from npu:0 give the CPU's values on each visible device."""
    a, b = on_cpu(torch, (64, 64), "float32", seed=8), on_cpu(torch, (64, 64), "float32", seed=9)
    expected = exact(torch, a) @ exact(torch, b)
    first = a.to("npu:0")
    for index in range(torch.npu.device_count()):
        device = f"npu:{index}"
        moved = first.to(device)
        assert torch.equal(moved.cpu(), a), f"a copy from npu:0 to {device} changed values"
        try:
            assert_close(torch, moved @ b.to(device), expected, "float32")
        except AssertionError as wrong:
            raise AssertionError(f"{device}: {wrong}") from None
    tell.seen(f"{torch.npu.device_count()} devices")


@check(
    id="tensor.mlp",
    title="a small network learns as on the CPU",
    advice="If the other tensor checks pass, a backward or optimizer operator is at fault.",
)
def test_mlp(torch: ModuleType, tell: Told) -> None:
    """Forward, backward and optimizer: twenty steps of training have the CPU's losses, and they fall."""
    on_device, expected = (_losses(torch, device) for device in ("npu:0", "cpu"))
    for step, (got, wanted) in enumerate(zip(on_device, expected, strict=True)):
        assert abs(got - wanted) <= 1e-3 * wanted, f"loss {got:.6f} at step {step}, on the CPU {wanted:.6f}"
    assert on_device[-1] < 0.5 * on_device[0], (
        f"the loss does not fall: {on_device[0]:.4f} to {on_device[-1]:.4f}"
    )
    tell.seen(f"loss {on_device[0]:.4f} to {on_device[-1]:.4f}")


def _losses(torch: ModuleType, device: str) -> list[float]:
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
    inputs = on_cpu(torch, (128, 16), "float32", seed=10)
    targets = (inputs[:, :1] * inputs[:, 1:2]).to(device) + 1
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs.to(device)), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
