"""Cases of PyTorch's own samples of modules and optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from e2e.programs.conformity.case import BACKWARD, Call, Case, dtype_name
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._pytree import tree_leaves


def module_cases() -> Iterator[Case]:
    for info in module_db:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            if dtype not in info.dtypes:
                continue
            for training in (True, False):
                mode = "train" if training else "eval"
                yield Case(
                    f"module/{info.name}/{mode}/{dtype_name(dtype)}", _module_calls(info, dtype, training)
                )


def _module_calls(info: Any, dtype: torch.dtype, training: bool) -> Callable[[], Iterator[Call]]:
    def calls() -> Iterator[Call]:
        samples = info.module_inputs_func(
            info, device="cpu", dtype=dtype, requires_grad=dtype in BACKWARD, training=training
        )
        for sample in samples:
            make, forward = sample.constructor_input, sample.forward_input
            if forward is None or make.kwargs.get("proj_size"):
                continue  # torch_npu leaves out the projections of an LSTM, and then multiplies wrong shapes
            torch.manual_seed(0)
            module = info.module_cls(*make.args, **make.kwargs).to(dtype).train(training)
            if hasattr(module, "has_uninitialized_params"):
                continue  # it has no state yet that could be the same on both devices
            state = {name: value.detach() for name, value in module.state_dict().items()}
            yield Call(
                _run_module(info.module_cls, make, dtype, training), (state, *forward.args), forward.kwargs
            )

    return calls


def _run_module(kind: Any, make: Any, dtype: torch.dtype, training: bool) -> Callable[..., Any]:
    def call(state: dict[str, torch.Tensor], *arguments: Any, **named: Any) -> Any:
        module = kind(*make.args, **make.kwargs).to(dtype).train(training)
        module.load_state_dict(state)
        tensors = [x for x in tree_leaves((state, arguments)) if isinstance(x, torch.Tensor)]
        if tensors:
            module.to(tensors[0].device)
        result = module(*arguments, **named)
        outputs = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor) and x.requires_grad]
        weights = [x for x in module.parameters() if x.requires_grad]
        grads: tuple[Any, ...] = ()
        if outputs and weights:
            ones = [torch.ones_like(x) for x in outputs]
            grads = torch.autograd.grad(outputs, weights, ones, retain_graph=True, allow_unused=True)
        return result, grads, list(module.buffers())

    return call


def optimizer_cases() -> Iterator[Case]:
    for info in optim_db:
        for dtype in (torch.float32, torch.bfloat16):
            yield Case(
                f"optimizer/{info.optim_cls.__name__}/{dtype_name(dtype)}", _optimizer_calls(info, dtype)
            )


def _optimizer_calls(info: Any, dtype: torch.dtype) -> Callable[[], Iterator[Call]]:
    def calls() -> Iterator[Call]:
        settings = [dict(x.kwargs) for x in info.optim_inputs_func(device="cpu")]
        ways: list[dict[str, bool]] = [{"foreach": False}]
        ways += [{way: True} for way in ("foreach", "fused") if way in info.supported_impls]
        for given in settings:
            for way in ways:
                torch.manual_seed(0)
                start = [torch.randn(3, 4, dtype=dtype), torch.randn(5, dtype=dtype)]
                yield Call(_run_optimizer(info.optim_cls), (start, given | way))

    return calls


def _run_optimizer(kind: Any) -> Callable[..., Any]:
    def call(start: list[torch.Tensor], settings: dict[str, Any]) -> list[torch.Tensor]:
        weights = [torch.nn.Parameter(x.clone()) for x in start]
        optimizer = kind(weights, **settings)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = torch.stack([weight.pow(2).sum() + weight.sin().sum() for weight in weights]).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return [weight.detach() for weight in weights]

    return call
