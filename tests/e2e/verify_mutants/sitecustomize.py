"""Makes torch or torch_npu wrong on purpose, in every Python that is started with this folder in PYTHONPATH.

``ASCENDENV_MUTANTS`` names the layer whose mutants are put in. Each is a small lie that exactly one check of
that layer is there to find; the comments name the check.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def replaced(owner: Any, name: str, lie: Callable[..., Any]) -> None:
    """Put ``lie(original, *arguments)`` in the place of ``owner.name``."""
    original = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: lie(original, *args, **kwargs))


def on_npu(tensor: Any, dtype: str) -> bool:
    return tensor.device.type == "npu" and str(tensor.dtype) == f"torch.{dtype}"


def import_mutants() -> None:
    import torch

    torch.version.cuda = "13.0"  # import.torch_flavour


def tensor_mutants() -> None:  # noqa: C901  # one small function for each mutant
    import torch
    import torch_npu  # noqa: F401

    tensor = torch.Tensor

    def full(original: Any, size: Any, value: Any, **options: Any) -> Any:  # tensor.creation
        return original(size, value + 1, **options)

    def clone(original: Any, self: Any, **options: Any) -> Any:  # tensor.copy.bfloat16
        copy = original(self, **options)
        if on_npu(self, "bfloat16") and copy.dim() == 1:
            copy[-1] = 0
        return copy

    def reshape(original: Any, self: Any, *shape: Any) -> Any:  # tensor.views
        if self.device.type == "npu" and self.shape == (6, 8, 5):
            return original(self.transpose(0, 1), *shape)
        return original(self, *shape)

    def multiply(original: Any, self: Any, other: Any) -> Any:  # tensor.arithmetic.int64
        product = original(self, other)
        return product.to(torch.int8).to(torch.int64) if on_npu(self, "int64") else product

    def matmul(original: Any, self: Any, other: Any) -> Any:  # tensor.matmul.float16
        # The smallest step of a matrix unit that loses something: two bits of the mantissa.
        product = original(self, other)
        return product + product.abs().max() * 2**-8 if on_npu(self, "float16") else product

    def relu(original: Any, self: Any) -> Any:  # tensor.relu.int32
        return self.abs() if on_npu(self, "int32") else original(self)

    def total(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:  # tensor.reduction.float16
        if on_npu(self, "float16") and kwargs.get("dim") == 1:
            return original(self[:, 1:], *args, **kwargs)
        return original(self, *args, **kwargs)

    def text(original: Any, self: Any, **options: Any) -> str:  # tensor.print
        return str(original(self, **options)).replace("npu:0", "npu")

    def seed(original: Any, _seed: int) -> Any:  # tensor.seed
        return original(int.from_bytes(os.urandom(4), "little")) if _seed else original(_seed)

    def loss(original: Any, prediction: Any, target: Any) -> Any:  # tensor.mlp
        value = original(prediction, target)
        return value * 1.01 if prediction.device.type == "npu" else value

    def to(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:  # tensor.devices
        moved = original(self, *args, **kwargs)
        return moved + 1 if self.device.type == "npu" and args[0] == "npu:1" else moved

    replaced(torch, "full", full)
    replaced(tensor, "clone", clone)
    replaced(tensor, "reshape", reshape)
    replaced(tensor, "__mul__", multiply)
    replaced(tensor, "__matmul__", matmul)
    replaced(torch, "relu", relu)
    replaced(tensor, "sum", total)
    replaced(tensor, "__repr__", text)
    replaced(torch, "manual_seed", seed)
    replaced(torch.nn.functional, "mse_loss", loss)
    replaced(tensor, "to", to)


def memory_mutants() -> None:
    import torch
    import torch_npu  # noqa: F401

    leaked = []

    def current(_original: Any, *args: Any) -> Any:  # memory.statistics
        return torch.npu.memory_allocated(*args)

    def nothing(_original: Any, *_args: Any) -> None:  # memory.empty_cache, memory.fraction
        return None

    def empty(original: Any, *size: Any, **options: Any) -> Any:  # memory.out_of_memory
        granted = size and isinstance(size[0], int) and size[0] > 1 << 33
        return original(16, **options) if granted else original(*size, **options)

    def backward(original: Any, self: Any) -> None:  # memory.growth
        leaked.append(self.clone())
        original(self)

    def pin(_original: Any, self: Any) -> Any:  # memory.pinned
        return self

    replaced(torch.npu, "max_memory_allocated", current)
    replaced(torch.npu, "empty_cache", nothing)
    replaced(torch.npu, "set_per_process_memory_fraction", nothing)
    replaced(torch, "empty", empty)
    replaced(torch.Tensor, "backward", backward)
    replaced(torch.Tensor, "pin_memory", pin)


def hccl_mutants() -> None:
    import torch
    import torch.distributed as dist
    import torch_npu  # noqa: F401

    def nothing(_original: Any, *_args: Any, **_options: Any) -> None:
        return None

    def reduce(original: Any, tensor: Any, op: Any) -> None:  # hccl.all_reduce.sum, hccl.all_reduce.max
        original(tensor, op=dist.ReduceOp.MAX if op == dist.ReduceOp.SUM else dist.ReduceOp.SUM)

    def gather(original: Any, parts: Any, tensor: Any) -> None:  # hccl.all_gather
        original(parts[::-1], tensor)

    def scatter(original: Any, part: Any, whole: Any) -> None:  # hccl.reduce_scatter
        original(part, whole)
        part[-1] += 1

    def exchange(_original: Any, received: Any, sent: Any) -> None:  # hccl.all_to_all
        received.copy_(sent)

    def receive(original: Any, tensor: Any, src: int) -> Any:  # hccl.send_recv
        source = original(tensor, src=src)
        tensor[0] = 0
        return source

    def alone(_original: Any, model: Any, **_options: Any) -> Any:  # hccl.ddp
        return model

    replaced(dist, "get_backend", lambda _original: "gloo")  # hccl.init
    replaced(dist, "all_reduce", reduce)
    replaced(dist, "broadcast", nothing)  # hccl.broadcast
    replaced(dist, "all_gather", gather)
    replaced(dist, "reduce_scatter_tensor", scatter)
    replaced(dist, "all_to_all_single", exchange)
    replaced(dist, "recv", receive)
    replaced(dist, "barrier", nothing)  # hccl.barrier
    replaced(torch.nn.parallel, "DistributedDataParallel", alone)


MUTANTS = {
    "import": import_mutants,
    "tensor": tensor_mutants,
    "memory": memory_mutants,
    "hccl": hccl_mutants,
}

if layer := os.environ.get("ASCENDENV_MUTANTS"):
    MUTANTS[layer]()
