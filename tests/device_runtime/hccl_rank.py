"""One rank of a group, by ctypes alone: `test_simulator_hccl.py` starts a process of this for each rank.

`python hccl_rank.py SCENARIO RANK RANKS DIRECTORY` prints the scenario's outcome as JSON. DIRECTORY is where
rank 0 leaves the root info for the others.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
}
REDUCTIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}
ROOT_INFO_BYTES = 4108
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
SEND, RECEIVE = 0, 1
COUNT = 5

Number = int | float


def contribution(rank: int, kind: str, index: int) -> Number:
    """What a rank puts in: small numbers, negative ones and quarters where the type has them."""
    value = (rank * 37 + index * 11) % 23
    if kind.startswith("uint"):
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
        self.call("aclInit", None)
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

    def synchronize(self) -> None:
        self.call("aclrtSynchronizeStream", self.stream)


class Rank(Runtime):
    """A runtime that can join a group of processes."""

    def __init__(self, rank: int, ranks: int, directory: Path) -> None:
        super().__init__(rank)
        self.rank, self.ranks, self.directory = rank, ranks, directory
        self.group = ctypes.c_void_p()

    def root_info(self) -> ctypes.Array[ctypes.c_char]:
        file = self.directory / "root-info"
        info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
        if self.rank == 0:
            self.call("HcclGetRootInfo", info)
            file.with_suffix(".new").write_bytes(info.raw)
            file.with_suffix(".new").rename(file)
        while not file.exists():
            time.sleep(0.005)
        info.raw = file.read_bytes()
        return info

    def join(self) -> Rank:
        info = self.root_info()
        self.call("HcclCommInitRootInfo", self.ranks, info, self.rank, ctypes.byref(self.group))
        return self

    def run(self, name: str, *arguments: object) -> None:
        """A collective of the whole group, waited for."""
        self.call(name, *arguments, self.group, self.stream)
        self.synchronize()

    def async_error(self) -> int:
        result = ctypes.c_int(-1)
        self.call("HcclGetCommAsyncError", self.group, ctypes.byref(result))
        return result.value


def count64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def array64(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


def reductions(me: Rank) -> object:
    """Every type with every reduction, by the three calls that reduce."""
    me.join()
    results: dict[str, list[Number]] = {}
    for kind, (code, _) in TYPES.items():
        content = contents(me.rank, kind, COUNT * me.ranks)
        part = len(content) // me.ranks
        send, receive = me.upload(content), me.empty(len(content))
        for name, operation in REDUCTIONS.items():
            me.run("HcclAllReduce", send, receive, count64(COUNT * me.ranks), code, operation)
            results[f"all_reduce {kind} {name}"] = unpack(me.download(receive, len(content)), kind)
            me.run("HcclReduceScatter", send, receive, count64(COUNT), code, operation)
            results[f"reduce_scatter {kind} {name}"] = unpack(me.download(receive, part), kind)
            me.run("HcclReduce", send, receive, count64(COUNT), code, operation, 1)
            if me.rank == 1:
                results[f"reduce {kind} {name}"] = unpack(me.download(receive, part), kind)
    return results


def movements(me: Rank) -> object:
    """The calls that only move data, for every type, and with more than fits the shared slots at once."""
    me.join()
    results: dict[str, list[Number]] = {}
    for kind, (code, _) in TYPES.items():
        content = contents(me.rank, kind, COUNT * me.ranks)
        part = len(content) // me.ranks
        send, receive = me.upload(content), me.empty(len(content) * me.ranks)
        me.run("HcclAllGather", send, receive, count64(COUNT * me.ranks), code)
        results[f"all_gather {kind}"] = unpack(me.download(receive, len(content) * me.ranks), kind)
        me.run("HcclScatter", send, receive, count64(COUNT), code, 1)
        results[f"scatter {kind}"] = unpack(me.download(receive, part), kind)
        me.run("HcclAlltoAll", send, count64(COUNT), code, receive, count64(COUNT), code)
        results[f"all_to_all {kind}"] = unpack(me.download(receive, len(content)), kind)
        me.run("HcclBroadcast", send, count64(COUNT), code, 1)
        results[f"broadcast {kind}"] = unpack(me.download(send, part), kind)
    return results


def uneven(me: Rank) -> object:
    """The calls with a count for each rank: rank s sends s + 2 r elements to rank r, with gaps of one."""
    me.join()
    code = TYPES["int32"][0]

    def layout(counts: list[int]) -> tuple[object, object, int]:
        starts = [sum(counts[:peer]) + peer for peer in range(len(counts))]
        return array64(counts), array64(starts), sum(counts) + len(counts)

    sent = [me.rank + 2 * peer for peer in range(me.ranks)]
    received = [peer + 2 * me.rank for peer in range(me.ranks)]
    send_counts, send_starts, send_extent = layout(sent)
    receive_counts, receive_starts, receive_extent = layout(received)
    send = me.upload(contents(me.rank, "int32", send_extent))
    receive = me.upload(pack([-1] * receive_extent, "int32"))
    sending = (send, send_counts, send_starts, code)
    me.run("HcclAlltoAllV", *sending, receive, receive_counts, receive_starts, code)
    results = {"all_to_all_v": unpack(me.download(receive, 4 * receive_extent), "int32")}

    matrix = array64([source + 2 * peer for source in range(me.ranks) for peer in range(me.ranks)])
    me.run("HcclAlltoAllVC", send, matrix, code, receive, code)
    results["all_to_all_vc"] = unpack(me.download(receive, 4 * sum(received)), "int32")

    counts, starts, extent = layout([peer + 1 for peer in range(me.ranks)])
    whole = me.upload(contents(me.rank, "int32", extent))
    gathered = me.upload(pack([-1] * extent, "int32"))
    me.run("HcclAllGatherV", whole, count64(me.rank + 1), gathered, counts, starts, code)
    results["all_gather_v"] = unpack(me.download(gathered, 4 * extent), "int32")
    me.run("HcclReduceScatterV", whole, counts, starts, gathered, count64(me.rank + 1), code, 0)
    results["reduce_scatter_v"] = unpack(me.download(gathered, 4 * (me.rank + 1)), "int32")
    return results


def large(me: Rank) -> object:
    """Buffers of several pieces whose sizes do not divide evenly, given by their hashes."""
    me.join()
    count = (3 << 20) + 7
    code = TYPES["uint8"][0]
    send, receive = me.upload(noise(me.rank, count)), me.empty(count * me.ranks)
    me.run("HcclAllGather", send, receive, count64(count), code)
    results = {"all_gather": digest(me.download(receive, count * me.ranks))}
    me.run("HcclAllReduce", send, receive, count64(count), code, REDUCTIONS["max"])
    results["all_reduce"] = digest(me.download(receive, count))
    me.run("HcclAllReduce", send, send, count64(count), code, REDUCTIONS["max"])
    results["all_reduce in place"] = digest(me.download(send, count))
    return results


def point_to_point(me: Rank) -> object:
    """Around the ring by send and receive, then everything to everyone by batches, twice per pair."""
    me.join()
    count = (1 << 20) + 3
    code = TYPES["uint8"][0]
    after, before = (me.rank + 1) % me.ranks, (me.rank - 1) % me.ranks
    send, receive = me.upload(noise(me.rank, count)), me.empty(count)
    sending = ("HcclSend", send, count64(count), code, after)
    receiving = ("HcclRecv", receive, count64(count), code, before)
    for call in (sending, receiving) if me.rank % 2 == 0 else (receiving, sending):
        me.run(*call)
    results: dict[str, object] = {"ring": digest(me.download(receive, count))}

    peers = range(me.ranks)
    buffers = {(peer, turn): me.empty(count) for peer in peers for turn in (0, 1)}
    items = [
        item
        for turn in (0, 1)
        for peer in peers
        for item in (
            Item(SEND, send, count - turn, code, peer),
            Item(RECEIVE, buffers[peer, turn], count - turn, code, peer),
        )
    ]
    me.run("HcclBatchSendRecv", (Item * len(items))(*items), len(items))
    results["batch"] = [
        [digest(me.download(buffers[peer, turn], count - turn)) for peer in peers] for turn in (0, 1)
    ]
    return results


def batch_by_calls(me: Rank) -> object:
    """All ranks first send and then receive, which works because the two calls make it one batch."""
    me.join()
    count = (1 << 20) + 3
    code = TYPES["uint8"][0]
    send = me.upload(noise(me.rank, count))
    peers = [peer for peer in range(me.ranks) if peer != me.rank]
    buffers = {peer: me.empty(count) for peer in peers}
    unopened = me.outcome("HcclGroupEnd")
    me.call("HcclGroupStart")
    for peer in peers:
        me.call("HcclGroupStart")
        me.call("HcclSend", send, count64(count), code, peer, me.group, me.stream)
        me.call("HcclRecv", buffers[peer], count64(count), code, peer, me.group, me.stream)
        me.call("HcclGroupEnd")
    me.call("HcclGroupEnd")
    me.synchronize()
    return {"unopened": unopened, "received": [digest(me.download(buffers[peer], count)) for peer in peers]}


def barrier(me: Rank) -> object:
    """Which ranks have arrived when the barrier opens; rank 1 comes late."""
    me.join()
    seen = []
    for turn in range(3):
        time.sleep(0.1 if me.rank == 1 else 0)
        (me.directory / f"arrived-{turn}-{me.rank}").touch()
        me.run("HcclBarrier")
        seen.append(len(list(me.directory.glob(f"arrived-{turn}-*"))))
    return seen


def many(me: Rank) -> object:
    """Operations queued without waiting run in their order."""
    me.join()
    send = me.upload(pack([1] * 4, "int32"))
    for _ in range(12):
        me.call("HcclAllReduce", send, send, count64(4), TYPES["int32"][0], 0, me.group, me.stream)
    me.synchronize()
    return unpack(me.download(send, 16), "int32")


def subgroups(me: Rank) -> object:
    """Even and odd ranks in groups of their own, twice, beside the whole group."""
    me.join()
    members = [rank for rank in range(me.ranks) if rank % 2 == me.rank % 2]
    ids = (ctypes.c_uint32 * len(members))(*members)
    results = []
    for _ in range(2):
        part = ctypes.c_void_p()
        me.call(
            "HcclCreateSubCommConfig", ctypes.byref(me.group), len(members), ids, count64(me.rank % 2 + 7),
            members.index(me.rank), None, ctypes.byref(part),
        )  # fmt: skip
        for group in (part, me.group):
            value = me.upload(pack([10**me.rank], "int32"))
            me.call("HcclAllReduce", value, value, count64(1), TYPES["int32"][0], 0, group, me.stream)
            me.synchronize()
            results.append(unpack(me.download(value, 4), "int32")[0])
        me.call("HcclCommDestroy", part)
    return results


def mismatch(me: Rank) -> object:
    """Rank 1 reduces one element more than the others."""
    me.join()
    code = TYPES["int32"][0]
    buffer = me.upload(pack([0] * 8, "int32"))
    count = count64(4 + (me.rank == 1))
    me.call("HcclAllReduce", buffer, buffer, count, code, 0, me.group, me.stream)
    first = me.outcome("aclrtSynchronizeStream", me.stream)
    again = me.outcome("HcclAllReduce", buffer, buffer, count64(4), code, 0, me.group, me.stream)
    return {"first": first, "again": again, "async": me.async_error()}


def mismatched_send(me: Rank) -> object:
    """Rank 0 sends four elements where rank 1 expects five."""
    me.join()
    buffer = me.upload(pack([0] * 8, "int32"))
    name, count = ("HcclSend", 4) if me.rank == 0 else ("HcclRecv", 5)
    me.call(name, buffer, count64(count), TYPES["int32"][0], 1 - me.rank, me.group, me.stream)
    return {"first": me.outcome("aclrtSynchronizeStream", me.stream), "async": me.async_error()}


def killed(me: Rank) -> object:
    """The last rank dies with its stream full of work; the others go on until an operation fails."""
    me.join()
    count = 1 << 20
    buffer = me.upload(bytes(4 * count))
    arguments = (buffer, buffer, count64(count), TYPES["float32"][0], 0, me.group, me.stream)
    me.run("HcclBarrier")
    if me.rank == me.ranks - 1:
        for _ in range(1000):
            me.call("HcclAllReduce", *arguments)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    while True:
        me.call("HcclAllReduce", *arguments)
        failed = me.outcome("aclrtSynchronizeStream", me.stream)
        if failed["code"] != 0:
            return {"first": failed, "async": me.async_error(), "seconds": time.monotonic() - started}


def absent(me: Rank) -> object:
    """Only rank 0 of the two joins."""
    if me.rank != 0:
        return None
    info = me.root_info()
    return me.outcome("HcclCommInitRootInfo", me.ranks, info, me.rank, ctypes.byref(me.group))


def no_number(me: Rank) -> object:
    """A setting that cannot be read is refused by the first call that needs it."""
    return me.outcome("HcclGetRootInfo", ctypes.create_string_buffer(ROOT_INFO_BYTES))


def contradiction(me: Rank) -> object:
    """Rank 1 believes that there are three ranks."""
    info = me.root_info()
    time.sleep(0.3 * me.rank)  # the root's number is the one that counts, so it comes first
    ranks = me.ranks + (me.rank == 1)
    return me.outcome("HcclCommInitRootInfo", ranks, info, me.rank, ctypes.byref(me.group))


def refusals(me: Rank) -> object:
    """Wrong arguments, each on its own."""
    me.join()
    device = me.empty(64)
    host = ctypes.create_string_buffer(64)
    four, many, kind = count64(4), count64(1 << 28), TYPES["int32"][0]
    wrapping = count64((1 << 62) + 4)  # its number of bytes would be 16
    no_group = ctypes.c_void_p(0x1234)
    group, stream = me.group, me.stream
    size = ctypes.c_uint32()
    refused = {
        "no such group": me.outcome("HcclGetRankSize", no_group, ctypes.byref(size)),
        "null group": me.outcome("HcclBarrier", None, stream),
        "null buffer": me.outcome("HcclAllReduce", None, device, four, kind, 0, group, stream),
        "host buffer": me.outcome("HcclAllReduce", host, device, four, kind, 0, group, stream),
        "beyond the buffer": me.outcome("HcclAllReduce", device, device, many, kind, 0, group, stream),
        "too many": me.outcome("HcclAllReduce", device, device, wrapping, kind, 0, group, stream),
        "no such type": me.outcome("HcclAllReduce", device, device, four, 99, 0, group, stream),
        "no such reduction": me.outcome("HcclAllReduce", device, device, four, kind, 9, group, stream),
        "no reduction over float8": me.outcome("HcclAllReduce", device, device, four, 15, 0, group, stream),
        "no such root": me.outcome("HcclBroadcast", device, four, kind, 2, group, stream),
        "send to itself": me.outcome("HcclSend", device, four, kind, me.rank, group, stream),
        "not implemented": me.outcome("HcclCommSuspend", group),
    }
    me.run("HcclBarrier")  # the group has survived all of that
    return refused


def main() -> None:
    scenario: Callable[[Rank], object] = globals()[sys.argv[1]]
    rank, ranks, directory = int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    json.dump(scenario(Rank(rank, ranks, directory)), sys.stdout)


if __name__ == "__main__":
    main()
