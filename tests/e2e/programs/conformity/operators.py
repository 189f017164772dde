"""Cases of PyTorch's own samples of operators: in several forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from e2e.programs.conformity.case import BACKWARD, DTYPES, Call, Case, dtype_name
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

# Random operators would give the same numbers for every seed of ours.
common_methods_invocations.wrapper_set_seed = lambda function, *given, **named: function(*given, **named)

_SAMPLES_IN_OTHER_FORMS = 4
UNDETERMINED = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "empty_permuted")


def operator_cases() -> Iterator[Case]:
    for info in op_db:
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            name = "/".join(filter(None, ("op", info.name, info.variant_test_name, dtype_name(dtype))))
            yield Case(name, _operator_calls(info, dtype), info.name not in UNDETERMINED)


def _operator_calls(info: Any, dtype: torch.dtype) -> Callable[[], Iterator[Call]]:
    def calls() -> Iterator[Call]:
        backward = dtype in BACKWARD and info.supports_autograd and dtype in info.backward_dtypes
        for number, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=backward)):
            yield _call(info, sample)
            if number < _SAMPLES_IN_OTHER_FORMS:
                yield from _other_forms(info, sample.transform(_detached))
            if _is_dense(sample):
                yield _call(info, sample.noncontiguous())

    return calls


def _call(info: Any, sample: Any) -> Call:
    return Call(info.op, (sample.input, *sample.args), sample.kwargs, sample.output_process_fn_grad)


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def _is_dense(sample: Any) -> bool:
    values = tree_leaves((sample.input, sample.args, sample.kwargs))
    return all(value.layout == torch.strided for value in values if isinstance(value, torch.Tensor))


def _other_forms(info: Any, sample: Any) -> Iterator[Call]:
    """The in-place form and the one that writes to given outputs."""
    arguments = (sample.input, *sample.args)
    if info.inplace_variant is not None and not sample.broadcasts_input:
        yield Call(in_place(info.inplace_variant), arguments, sample.kwargs)
    if info.supports_out:
        yield Call(into_outputs(info.op), arguments, sample.kwargs, sample.output_process_fn_grad)


FOREACH = [
    *common_methods_invocations.foreach_unary_op_db,
    *common_methods_invocations.foreach_binary_op_db,
    *common_methods_invocations.foreach_pointwise_op_db,
    *common_methods_invocations.foreach_reduce_op_db,
    *common_methods_invocations.foreach_other_op_db,
]


def foreach_cases() -> Iterator[Case]:
    """Operators over lists of tensors."""
    for info in FOREACH:
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
            yield Case(
                f"foreach/{info.name.removeprefix('_foreach_')}/{dtype_name(dtype)}",
                _foreach_calls(info, dtype),
            )


def _foreach_calls(info: Any, dtype: torch.dtype) -> Callable[[], Iterator[Call]]:
    def calls() -> Iterator[Call]:
        for sample in info.sample_inputs("cpu", dtype, num_input_tensors=[3]):
            for method in (info.op, info.inplace_variant):
                if method is not None:
                    yield Call(in_place(method), (sample.input, *sample.args), sample.kwargs)

    return calls


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any, *arguments: Any, **named: Any) -> Any:
        result = function(target, *arguments, **named)
        return result, target

    return call


def into_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        if isinstance(result, torch.Tensor):
            return function(*arguments, **named, out=torch.empty_like(result))
        return function(*arguments, **named, out=tuple(torch.empty_like(part) for part in result))

    return call
