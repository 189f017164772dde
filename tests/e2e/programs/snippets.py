"""What articles show of the NPU, each as a function that compares with the CPU and raises where they differ.

Prints for each function what it raised, or nothing.
"""

from __future__ import annotations

import io
import json
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import torch
import torch_npu
from torch import nn
from torch.nn import functional
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

DEVICE = torch.device("npu:0")


def mlp() -> nn.Module:
    """The same network each time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


def tensors() -> None:
    left, right = torch.randn(3, 4, device="npu"), torch.randn(4, 5, device="npu")
    product = torch.relu(left @ right)
    assert "device='npu:0'" in repr(product)
    assert_close(product.cpu(), torch.relu(left.cpu() @ right.cpu()))
    assert torch.npu.is_available()
    assert torch.npu.device_count() >= 1
    assert (left.is_npu, left.device.type, product.get_device()) == (True, "npu", 0)


def inference() -> None:
    model, inputs = mlp().eval(), torch.randn(8, 16)
    expected = model(inputs)
    with torch.no_grad():
        assert_close(model.to("npu")(inputs.to("npu")).cpu(), expected)
    with torch.inference_mode():
        assert_close(model.npu()(inputs.npu()).cpu(), expected)


def epochs(device: torch.device, workers: int) -> list[float]:
    """The losses of two epochs through a loader with pinned memory."""
    model, loss_function = mlp().to(device), nn.CrossEntropyLoss()
    data = TensorDataset(torch.randn(40, 16), torch.randint(0, 4, (40,)))
    loader = DataLoader(data, batch_size=8, num_workers=workers, pin_memory=device.type == "npu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(2):
        for inputs, labels in loader:
            loss = loss_function(
                model(inputs.to(device, non_blocking=True)), labels.to(device, non_blocking=True)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def training_loop() -> None:
    expected = epochs(torch.device("cpu"), 0)
    for workers in (0, 2):
        assert_close(epochs(DEVICE, workers), expected, atol=1e-5, rtol=1e-5)


def memory() -> None:
    torch.npu.set_per_process_memory_fraction(0.5, 0)
    torch.npu.empty_cache()
    torch.npu.reset_peak_memory_stats()
    before = torch.npu.memory_allocated()
    block = torch.zeros(1024, 1024, device="npu")
    held = torch.npu.memory_allocated() - before
    assert 4 << 20 <= held <= (4 << 20) + 1024
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    del block
    assert torch.npu.memory_allocated() == before
    assert torch.npu.max_memory_allocated() >= before + held
    reserved = torch.npu.memory_reserved()
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < reserved
    assert "PyTorch NPU memory summary" in torch.npu.memory_summary()
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total == torch.npu.get_device_properties(0).total_memory
    try:
        torch.empty(total * 6 // 10, dtype=torch.uint8, device="npu")
    except torch.OutOfMemoryError:
        torch.npu.set_per_process_memory_fraction(1.0, 0)
        return
    raise AssertionError("the fraction of the memory was exceeded")


def autocast() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        model, inputs, labels = mlp(), torch.randn(8, 16), torch.randint(0, 4, (8,))
        expected = functional.cross_entropy(model(inputs), labels)
        model = model.to(DEVICE)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("npu", enabled=dtype == torch.float16)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast(device_type="npu", dtype=dtype):
                output = model(inputs.to(DEVICE))
                loss = functional.cross_entropy(output, labels.to(DEVICE))
            assert output.dtype == dtype
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        assert_close(losses[0], expected.item(), atol=2e-2, rtol=0)
        assert losses[2] < losses[0]


def checkpointing() -> None:
    inputs = torch.randn(8, 16)
    for reentrant in (True, False):
        gradients = []
        for device in ("cpu", "npu"):
            model, given = mlp().to(device), inputs.detach().clone().to(device).requires_grad_()
            checkpoint(model, given, use_reentrant=reentrant).square().sum().backward()
            gradients.append([given.grad, *(parameter.grad for parameter in model.parameters())])
        for expected, got in zip(*gradients, strict=True):
            assert_close(got.cpu(), expected)


def saved_state() -> None:
    model, file = mlp().to(DEVICE), io.BytesIO()
    torch.save(model.state_dict(), file)
    for where in ("cpu", "npu", "npu:0", DEVICE):
        file.seek(0)
        state = torch.load(file, map_location=where, weights_only=True)
        assert all(value.device.type == torch.device(where).type for value in state.values())
        other = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(where)
        other.load_state_dict(state)
        assert_close(other[2].weight.cpu(), model[2].weight.cpu())
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "tensor.pt"
        torch.save(torch.arange(5, device=DEVICE), path)
        assert torch.load(path).device == DEVICE


def streams_and_events() -> None:
    side, start, end = (
        torch.npu.Stream(),
        torch.npu.Event(enable_timing=True),
        torch.npu.Event(enable_timing=True),
    )
    numbers = torch.arange(1000, device=DEVICE, dtype=torch.float32)
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        start.record()
        squares = numbers * numbers
        end.record()
    torch.npu.current_stream().wait_stream(side)
    assert_close(squares.sum().item(), float(sum(n * n for n in range(1000))), rtol=1e-5, atol=0)
    end.synchronize()
    assert start.elapsed_time(end) >= 0


def compiled() -> None:
    inputs = torch.randn(8, 16)
    for backend in ("eager", "aot_eager"):
        gradients = []
        for device in ("cpu", "npu"):
            model = mlp().to(device)
            run = torch.compile(model, backend=backend) if device == "npu" else model
            run(inputs.to(device)).square().mean().backward()
            gradients.append([parameter.grad for parameter in model.parameters()])
        for expected, got in zip(*gradients, strict=True):
            assert_close(got.cpu(), expected)


def linear_algebra() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(5, 5)
    positive = matrix @ matrix.T + 5 * torch.eye(5)
    functions: tuple[Callable[..., torch.Tensor], ...] = (
        lambda m: torch.linalg.inv(m(positive)),
        lambda m: torch.linalg.det(m(positive)),
        lambda m: torch.linalg.solve(m(positive), m(matrix)),
        lambda m: torch.linalg.cholesky(m(positive)),
        lambda m: torch.linalg.svdvals(m(matrix)),
        lambda m: torch.linalg.eigvalsh(m(positive)),
        lambda m: torch.linalg.qr(m(matrix)).R.abs(),
        lambda m: torch.linalg.norm(m(matrix)),
        lambda m: torch.linalg.matrix_norm(m(matrix), ord=2),
    )
    for function in functions:
        assert_close(function(lambda t: t.to(DEVICE)).cpu(), function(lambda t: t), atol=1e-4, rtol=1e-4)


def complex_numbers_and_transforms() -> None:
    torch.manual_seed(0)
    real, imaginary = torch.randn(4, 8), torch.randn(4, 8)
    functions: tuple[Callable[..., torch.Tensor], ...] = (
        lambda a, b: torch.complex(a, b) * torch.complex(b, a),
        lambda a, b: torch.view_as_real(torch.polar(a.abs(), b)),
        lambda a, b: torch.complex(a, b).conj().abs() + torch.complex(a, b).angle(),
        lambda a, b: torch.complex(a, b) @ torch.complex(a, b).mH,
        lambda a, b: torch.fft.fft(torch.complex(a, b)),
        lambda a, _: torch.fft.irfft(torch.fft.rfft(a)),
        lambda a, _: torch.fft.fftshift(torch.fft.fft2(a)).abs(),
    )
    for function in functions:
        got = function(real.to(DEVICE), imaginary.to(DEVICE))
        assert got.device == DEVICE
        assert_close(got.cpu(), function(real, imaginary), atol=1e-4, rtol=1e-4)


def seeds() -> None:
    def draw(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        model = nn.Linear(8, 8).to(DEVICE)
        noise = torch.randn(100, device=DEVICE)
        return [model.weight, noise, functional.dropout(noise, 0.5), torch.randperm(50, device=DEVICE)]

    assert all(torch.equal(first, again) for first, again in zip(draw(1), draw(1), strict=True))
    assert not any(torch.equal(first, other) for first, other in zip(draw(1), draw(2), strict=True))
    state = torch.npu.get_rng_state()
    first = torch.rand(10, device=DEVICE)
    torch.npu.set_rng_state(state)
    assert torch.equal(torch.rand(10, device=DEVICE), first)


SNIPPETS = (
    tensors,
    inference,
    training_loop,
    memory,
    autocast,
    checkpointing,
    saved_state,
    streams_and_events,
    compiled,
    linear_algebra,
    complex_numbers_and_transforms,
    seeds,
)


def raised_by(snippet: Callable[[], None]) -> str:
    try:
        snippet()
        torch_npu.npu.synchronize()
    except Exception:  # noqa: BLE001  # whatever it is, it is reported
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    print("REPORT", json.dumps({snippet.__name__: raised_by(snippet) for snippet in SNIPPETS}))
