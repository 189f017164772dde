"""What the ranks of a group share: AscendCL and HCCL by ctypes alone.

The modules that use it hold scenarios, functions of a rank that return an outcome.
`python MODULE SCENARIO RANK RANKS DIRECTORY` prints the outcome as JSON. DIRECTORY is where rank 0 leaves
the root info for the others.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# HcclDataType, and how `struct` writes it; bfloat16 is the upper half of a float.
TYPES = {
    "int8": (0, "b"),
    "int16": (1, "h"),
    "int32": (2, "i"),
    "float16": (3, "e"),
    "float32": (4, "f"),
    "int64": (5, "q"),
    "uint64": (6, "Q"),
    "uint8": (7, "B"),
    "uint16": (8, "H"),
    "uint32": (9, "I"),
    "float64": (10, "d"),
    "bfloat16": (11, "H"),
    "fp8e4m3": (15, "B"),
    "fp8e5m2": (16, "B"),
}
REDUCTIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}
_REDUCED = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
# What the chips of two families reduce.
REDUCIBLE = {"Ascend910B3": _REDUCED, "Ascend950PR_9589": (*_REDUCED, "uint64", "float64")}
ROOT_INFO_BYTES = 4108
REPEATED_INITIALIZATION = 100002
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
SEND, RECEIVE = 0, 1
COUNT = 5

Number = int | float


def has_reduction(soc: str, kind: str, reduction: str) -> bool:
    return kind in REDUCIBLE[soc] and not (reduction == "prod" and kind in {"int16", "bfloat16"})


def contribution(rank: int, kind: str, index: int) -> Number:
    """What a rank puts in: small numbers, negative ones and quarters where the type has them."""
    value = (rank * 37 + index * 11) % 23
    if kind.startswith(("uint", "fp8")):
        return value
    return (value - 9) / 4 if "float" in kind else value - 9


def pack(values: Sequence[Number], kind: str) -> bytes:
    if kind == "bfloat16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{TYPES[kind][1]}", *values)


def unpack(content: bytes, kind: str) -> list[Number]:
    if kind == "bfloat16":
        return [struct.unpack("<f", b"\0\0" + content[at : at + 2])[0] for at in range(0, len(content), 2)]
    count = len(content) // struct.calcsize(TYPES[kind][1])
    return list(struct.unpack(f"<{count}{TYPES[kind][1]}", content))


def contents(rank: int, kind: str, count: int) -> bytes:
    return pack([contribution(rank, kind, index) for index in range(count)], kind)


def noise(rank: int, count: int) -> bytes:
    """`count` bytes that are different for each rank."""
    return (hashlib.sha256(f"rank {rank}".encode()).digest() * (count // 32 + 1))[:count]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class CallFailedError(Exception):
    def __init__(self, call: str, code: int, message: str) -> None:
        super().__init__(f"{call} returned {code}: {message}")
        self.outcome = {"call": call, "code": code, "message": message}


class Item(ctypes.Structure):
    """HcclSendRecvItem."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("type", ctypes.c_int),
        ("peer", ctypes.c_uint32),
    )


class Runtime:
    """AscendCL and HCCL with one device and one stream."""

    def __init__(self, device: int) -> None:
        self.libraries = [ctypes.CDLL("libascendcl.so"), ctypes.CDLL("libhccl.so")]
        self.libraries[0].aclGetRecentErrMsg.restype = ctypes.c_char_p
        if self.code("aclInit", None) not in {0, REPEATED_INITIALIZATION}:
            raise CallFailedError("aclInit", -1, "")
        self.call("aclrtSetDevice", device)
        self.stream = ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(self.stream))

    def code(self, name: str, *arguments: object) -> int:
        library = self.libraries[name.startswith("Hccl")]
        return int(getattr(library, name)(*arguments))

    def call(self, name: str, *arguments: object) -> None:
        code = self.code(name, *arguments)
        if code != 0:
            message = self.libraries[0].aclGetRecentErrMsg() or b""
            raise CallFailedError(name, code, message.decode())

    def outcome(self, name: str, *arguments: object) -> dict[str, object]:
        try:
            self.call(name, *arguments)
        except CallFailedError as failed:
            return failed.outcome
        return {"call": name, "code": 0, "message": ""}

    def empty(self, nbytes: int) -> ctypes.c_void_p:
        pointer = ctypes.c_void_p()
        self.call("aclrtMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(nbytes, 1)), 0)
        return pointer

    def upload(self, content: bytes) -> ctypes.c_void_p:
        pointer = self.empty(len(content))
        size = ctypes.c_size_t(len(content))
        self.call("aclrtMemcpy", pointer, size, content, size, HOST_TO_DEVICE)
        return pointer

    def download(self, pointer: ctypes.c_void_p, nbytes: int) -> bytes:
        content = ctypes.create_string_buffer(nbytes)
        size = ctypes.c_size_t(nbytes)
        self.call("aclrtMemcpy", content, size, pointer, size, DEVICE_TO_HOST)
        return content.raw

    def another_stream(self) -> ctypes.c_void_p:
        stream = ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(stream))
        return stream

    def synchronize(self) -> None:
        self.call("aclrtSynchronizeStream", self.stream)


class Rank(Runtime):
    """A runtime that can join a group of processes."""

    def __init__(self, rank: int, ranks: int, directory: Path) -> None:
        super().__init__(rank)
        self.rank, self.ranks, self.directory = rank, ranks, directory
        self.group = ctypes.c_void_p()

    def root_info(self, name: str = "root-info") -> ctypes.Array[ctypes.c_char]:
        file = self.directory / name
        info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
        if self.rank == 0:
            self.call("HcclGetRootInfo", info)
            file.with_suffix(".new").write_bytes(info.raw)
            file.with_suffix(".new").rename(file)
        self.wait_for(name)
        info.raw = file.read_bytes()
        return info

    def tell(self, word: str) -> None:
        (self.directory / word).touch()

    def wait_for(self, word: str) -> None:
        while not (self.directory / word).exists():
            time.sleep(0.005)

    def join(self) -> Rank:
        self.group = self.another_group("root-info")
        return self

    def another_group(self, name: str) -> ctypes.c_void_p:
        group = ctypes.c_void_p()
        info = self.root_info(name)
        self.call("HcclCommInitRootInfo", self.ranks, info, self.rank, ctypes.byref(group))
        return group

    def run(self, name: str, *arguments: object) -> None:
        """A collective of the whole group, waited for."""
        self.call(name, *arguments, self.group, self.stream)
        self.synchronize()

    def sum_of_ranks(self, group: ctypes.c_void_p | None = None) -> int:
        """What shows that a group works: the sum of ten to the power of each rank."""
        value = self.upload(pack([10**self.rank], "int32"))
        arguments = (value, value, count64(1), TYPES["int32"][0], REDUCTIONS["sum"])
        self.call("HcclAllReduce", *arguments, group or self.group, self.stream)
        self.synchronize()
        return int(unpack(self.download(value, 4), "int32")[0])

    def async_error(self) -> int:
        result = ctypes.c_int(-1)
        self.call("HcclGetCommAsyncError", self.group, ctypes.byref(result))
        return result.value


def within(pointer: ctypes.c_void_p, offset: int) -> ctypes.c_void_p:
    return ctypes.c_void_p((pointer.value or 0) + offset)


def count64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def array64(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


def main(scenarios: Mapping[str, object]) -> None:
    scenario: Callable[[Rank], object] = scenarios[sys.argv[1]]  # type: ignore[assignment]
    rank, ranks, directory = int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    json.dump(scenario(Rank(rank, ranks, directory)), sys.stdout)
