"""Cases of ours: what PyTorch's samples do not reach, by functions of PyTorch and of torch_npu."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch_npu
from e2e.programs.conformity.case import Call, Case
from torch.nn import functional
from torch.utils._pytree import tree_leaves

Function = Callable[..., Any]


def own_cases() -> Iterator[Case]:
    for name, function, arguments in SAME:
        yield Case(f"own/{name}", _calls(function, arguments))
    for name, reference, on_device, arguments in DIFFERENT:
        yield Case(f"own/{name}", _calls(_either(reference, on_device), arguments))
    for name, function, arguments in RANDOM:
        yield Case(f"own/{name}", _calls(function, arguments), values=False)


def _calls(function: Function, arguments: Callable[[], tuple[Any, ...]]) -> Callable[[], Iterator[Call]]:
    def calls() -> Iterator[Call]:
        yield Call(function, arguments())

    return calls


def _either(reference: Function, on_device: Function) -> Function:
    def call(*arguments: Any) -> Any:
        tensors = (value for value in tree_leaves(arguments) if isinstance(value, torch.Tensor))
        return (reference if next(tensors).device.type == "cpu" else on_device)(*arguments)

    return call


def floats(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def graded(*shape: int) -> torch.Tensor:
    return torch.randn(shape, requires_grad=True)


def integers(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(high, shape)


def _fake_per_channel(x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_channel_affine(x, scale, zero, 0, 0, 255)


def _bits_and_numbers(x: torch.Tensor) -> Any:
    return x & 3, x | 3, x ^ 3, x << 2, x.clone().bitwise_and_(3), x.clone().bitwise_xor_(3)


def _divided_by_numbers(x: torch.Tensor) -> Any:
    new = (x.floor_divide(2), x.div(2, rounding_mode="floor"), x.fmod(2), torch.remainder(7, x))
    in_place = (x.clone().floor_divide_(2), x.clone().fmod_(2), x.clone().remainder_(2))
    return new, in_place, x.clone().div_(2, rounding_mode="trunc")


def _compared_in_place(x: torch.Tensor) -> Any:
    return (
        x.clone().eq_(1),
        x.clone().ge_(1),
        x.clone().gt_(1),
        x.clone().le_(1),
        x.clone().lt_(1),
        x.clone().ne_(1),
    )


def _affine_grid(theta: torch.Tensor) -> torch.Tensor:
    return functional.affine_grid(theta, [2, 1, 4, 5], align_corners=False)


def _resized_smoothly(x: torch.Tensor) -> torch.Tensor:
    return functional.interpolate(x, size=(3, 4), mode="bicubic", antialias=True)


def _rescaled_qkv(qkv: torch.Tensor, bias: torch.Tensor) -> Any:
    return torch._transform_bias_rescale_qkv(qkv, bias, 2)


def _unscaled(grads: list[torch.Tensor], found: torch.Tensor, scale: torch.Tensor) -> Any:
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, scale)
    return grads, found


# Name, function of both devices, arguments.
SAME: list[tuple[str, Function, Callable[[], tuple[Any, ...]]]] = [
    ("add_relu", torch.ops.aten._add_relu, lambda: (floats(3, 4), floats(3, 4))),
    ("add_relu_", torch.ops.aten._add_relu_, lambda: (floats(3, 4), floats(3, 4))),
    ("conv_tbc", torch.conv_tbc, lambda: (graded(5, 2, 3), graded(3, 3, 4), graded(4), 1)),
    (
        "fake_quantize",
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 5, 0, 255),
        lambda: (graded(3, 4),),
    ),
    (
        "fake_quantize_channels",
        _fake_per_channel,
        lambda: (graded(3, 4), torch.rand(3), integers(9, 3).int()),
    ),
    ("fill_", lambda x, value: x.fill_(value), lambda: (floats(3, 4), floats())),
    ("isin_scalar", lambda x: torch.isin(x, 2), lambda: (integers(4, 9),)),
    ("isin_of_scalar", lambda x: torch.isin(2, x), lambda: (integers(4, 9),)),
    ("searchsorted_scalar", lambda x: torch.searchsorted(x.sort()[0], 0.5), lambda: (floats(9),)),
    ("one_hot", lambda x: functional.one_hot(x, 5), lambda: (integers(5, 3, 4),)),
    ("cross_entropy_2d", functional.cross_entropy, lambda: (graded(2, 5, 3, 3), integers(5, 2, 3, 3))),
    ("embedding_bag", functional.embedding_bag, lambda: (integers(9, 4, 3), floats(9, 5))),
    ("unique_dim", lambda x: torch.unique(x, dim=0), lambda: (integers(2, 9, 2),)),
    ("nll_loss_2d", functional.nll_loss, lambda: (graded(2, 5, 3, 3), integers(5, 2, 3, 3))),
    ("bits_and_numbers", _bits_and_numbers, lambda: (integers(9, 3, 4),)),
    ("divided_by_numbers", _divided_by_numbers, lambda: (torch.rand(9) + 1,)),
    ("compared_in_place", _compared_in_place, lambda: (integers(4, 9).float(),)),
    (
        "xlogy",
        lambda x: (torch.xlogy(x, 2), torch.xlogy(2, x), x.clone().xlogy_(2)),
        lambda: (torch.rand(9),),
    ),
    ("range", lambda x: torch.range(1, 5, device=x.device), lambda: (floats(),)),
    ("bucketize", torch.bucketize, lambda: (floats(9), floats(5).sort()[0])),
    (
        "repeat_interleave",
        lambda x, times: (x.repeat_interleave(times), torch.repeat_interleave(times)),
        lambda: (floats(4), integers(3, 4)),
    ),
    ("aminmax", lambda x: (torch._aminmax(x), torch._aminmax(x, 1)), lambda: (floats(3, 4),)),
    ("affine_grid", _affine_grid, lambda: (graded(2, 2, 3),)),
    ("fill_diagonal_", lambda x: x.fill_diagonal_(2), lambda: (floats(3, 4),)),
    ("hardswish_", lambda x: functional.hardswish(x, inplace=True), lambda: (floats(9),)),
    ("hardtanh_", functional.hardtanh_, lambda: (floats(9),)),
    ("inverse", torch.inverse, lambda: (floats(2, 3, 3),)),
    ("slogdet", torch.slogdet, lambda: (floats(2, 3, 3),)),
    ("log_sigmoid", functional.logsigmoid, lambda: (floats(9),)),
    ("masked_scale", torch._masked_scale, lambda: (floats(9), integers(2, 9).byte(), 2.0)),
    ("split_with_sizes_copy", lambda x: torch.split_with_sizes_copy(x, [1, 2]), lambda: (floats(3, 4),)),
    ("resized_smoothly", _resized_smoothly, lambda: (graded(1, 2, 5, 5),)),
    ("transform_bias_rescale_qkv", _rescaled_qkv, lambda: (floats(2, 3, 12), floats(12))),
    ("amp_unscale_", _unscaled, lambda: ([floats(3), floats(4)], torch.zeros(1), torch.full((1,), 0.5))),
    (
        "amp_update_scale_",
        lambda *given: torch._amp_update_scale_(*given, 2.0, 0.5, 1),
        lambda: (torch.full((1,), 8.0), torch.zeros(1, dtype=torch.int32), torch.zeros(1)),
    ),
    (
        "coalesce",
        lambda index, values: torch.sparse_coo_tensor(index, values, (4,)).coalesce(),
        lambda: (torch.tensor([[1, 3, 1]]), floats(3)),
    ),
]

# Name, function of the CPU, function of the device, arguments.
DIFFERENT: list[tuple[str, Function, Function, Callable[[], tuple[Any, ...]]]] = [
    ("fast_gelu", lambda x: x * torch.sigmoid(1.702 * x), torch_npu.fast_gelu, lambda: (graded(3, 4),)),
    (
        "npu_gelu",
        lambda x: functional.gelu(x, approximate="tanh"),
        lambda x: torch_npu.npu_gelu(x, approximate="tanh"),
        lambda: (graded(3, 4),),
    ),
    (
        "confusion_transpose",
        lambda x: x.permute(0, 2, 1).reshape(2, 12),
        lambda x: torch_npu.npu_confusion_transpose(x, (0, 2, 1), (2, 12), transpose_first=True),
        lambda: (floats(2, 3, 4),),
    ),
    (
        "npu_one_hot",
        lambda x: functional.one_hot(x, 5).float(),
        lambda x: torch_npu.npu_one_hot(x, -1, 5, 1, 0).float(),
        lambda: (integers(5, 4),),
    ),
    (
        "npu_indexing",
        lambda x: x[0:2, 1:3],
        lambda x: torch_npu.npu_indexing(x, [0, 1], [2, 3], [1, 1]),
        lambda: (floats(3, 4),),
    ),
    (
        "scatter_nd_update",
        lambda x, i, y: x.index_put((i.squeeze(1),), y),
        torch_npu.npu_scatter_nd_update,
        lambda: (floats(5, 3), torch.tensor([[1], [4]]), floats(2, 3)),
    ),
]


def _captured(draw: Function) -> Function:
    """Draws in a captured graph on the device, where the seed is in device memory."""

    def on_device(like: torch.Tensor) -> Any:
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            drawn = draw(like)
        graph.replay()
        return drawn

    return _either(draw, on_device)


# Name, function of both devices, arguments: only shapes and dtypes are compared.
RANDOM: list[tuple[str, Function, Callable[[], tuple[Any, ...]]]] = [
    ("randperm", lambda x: torch.randperm(9, device=x.device), lambda: (floats(),)),
    ("random_", lambda x: x.random_(), lambda: (integers(5, 9),)),
    ("random_to", lambda x: x.random_(7), lambda: (integers(5, 9),)),
    ("random_from", lambda x: x.random_(2, 7), lambda: (floats(9),)),
    ("normal_of_mean", lambda x: torch.normal(x, 2.0), lambda: (floats(9),)),
    ("normal_of_deviation", lambda x: torch.normal(2.0, x), lambda: (torch.rand(9),)),
    ("rrelu_", lambda x: functional.rrelu_(x, training=True), lambda: (floats(9),)),
    ("dropout", lambda x: functional.dropout(x, 0.5), lambda: (graded(9, 40),)),
    ("captured_normal_", _captured(lambda x: x.normal_()), lambda: (floats(9),)),
    ("captured_uniform_", _captured(lambda x: x.uniform_()), lambda: (floats(9),)),
    ("captured_random_", _captured(lambda x: x.random_(2, 7)), lambda: (floats(9),)),
    ("captured_random_without", _captured(lambda x: x.random_()), lambda: (floats(9),)),
    ("captured_dropout", _captured(lambda x: functional.dropout(x, 0.5)), lambda: (floats(9, 40),)),
    ("captured_multinomial", _captured(lambda x: torch.multinomial(x, 2)), lambda: (torch.rand(9),)),
]
