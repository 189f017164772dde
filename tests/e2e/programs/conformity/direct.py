"""Calls of operators as torch_npu makes them, for those that it does not call on this SoC or at all."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

# aclDataType in acl_base_rt.h
DTYPES = {
    torch.float32: 0,
    torch.float16: 1,
    torch.int8: 2,
    torch.int32: 3,
    torch.uint8: 4,
    torch.int16: 6,
    torch.int64: 9,
    torch.float64: 11,
    torch.bool: 12,
    torch.complex64: 16,
    torch.bfloat16: 27,
}
FORMAT_ND = 2

_HOME = Path(os.environ["ASCEND_HOME_PATH"]) / "lib64"
_LIBRARY = ctypes.CDLL(str(_HOME / "libnnopbase.so"))
_OPERATORS = ctypes.CDLL(str(_HOME / "libopapi_aten.so"))


@dataclass(frozen=True)
class Scalar:
    """An aclScalar of a float, or of an int."""

    value: float


@dataclass(frozen=True)
class Flags:
    """An aclBoolArray."""

    values: Sequence[bool]


def call(name: str, *arguments: Any) -> int:
    """Both phases of an operator on the current stream; the status of the first that fails, or 0.

    Tensors, None, lists of tensors, tuples of ints, Scalar, Flags, str, dtypes and bools mean themselves,
    an int is an int64, a float a double; any other number is given as its ctypes type.
    """
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    given = [_handle(argument) for argument in arguments]
    status: int = _OPERATORS[f"{name}GetWorkspaceSize"](*given, ctypes.byref(size), ctypes.byref(executor))
    if status == 0:
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        status = _OPERATORS[name](ctypes.c_void_p(), ctypes.c_uint64(0), executor, stream)
    return status


def _handle(value: Any) -> Any:
    for kind, make in _HANDLES.items():
        if isinstance(value, kind):
            return make(value)
    return value


def _tensor(value: torch.Tensor) -> ctypes.c_void_p:
    sizes, strides = _array(ctypes.c_int64, value.shape), _array(ctypes.c_int64, value.stride())
    shape = (sizes, value.dim())
    return _made(
        "aclCreateTensor",
        *shape,
        DTYPES[value.dtype],
        strides,
        0,
        FORMAT_ND,
        *shape,
        ctypes.c_void_p(value.data_ptr()),
    )


def _tensors(values: Sequence[torch.Tensor]) -> ctypes.c_void_p:
    handles = [_tensor(value) for value in values]
    return _made("aclCreateTensorList", _array(ctypes.c_void_p, handles), len(handles))


def _scalar(scalar: Scalar) -> ctypes.c_void_p:
    number = scalar.value
    if isinstance(number, int):
        return _made("aclCreateScalar", ctypes.byref(ctypes.c_int64(number)), DTYPES[torch.int64])
    return _made("aclCreateScalar", ctypes.byref(ctypes.c_double(number)), DTYPES[torch.float64])


def _array(kind: Any, values: Sequence[Any]) -> Any:
    return (kind * len(values))(*values)


def _made(function: str, *arguments: Any) -> ctypes.c_void_p:
    make = _LIBRARY[function]
    make.restype = ctypes.c_void_p
    return ctypes.c_void_p(make(*(ctypes.c_uint64(x) if isinstance(x, int) else x for x in arguments)))


# A bool is an int, so it comes first.
_HANDLES: dict[type, Callable[[Any], Any]] = {
    type(None): lambda _: ctypes.c_void_p(),
    torch.Tensor: _tensor,
    list: _tensors,
    tuple: lambda values: _made("aclCreateIntArray", _array(ctypes.c_int64, values), len(values)),
    Flags: lambda flags: _made("aclCreateBoolArray", _array(ctypes.c_bool, flags.values), len(flags.values)),
    Scalar: _scalar,
    str: lambda text: ctypes.c_char_p(text.encode()),
    torch.dtype: lambda dtype: ctypes.c_int32(DTYPES[dtype]),
    bool: ctypes.c_bool,
    int: ctypes.c_int64,
    float: ctypes.c_double,
}
