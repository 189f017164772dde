"""Scenarios of a rank in whose group something goes wrong; see `hccl_process.py`."""

from __future__ import annotations

import ctypes
import os
import signal
import time

from hccl_process import ROOT_INFO_BYTES, TYPES, Rank, count64, main, pack


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


def gone(me: Rank) -> object:
    """Rank 1 goes away while the others wait for it, as a program does that forgets them."""
    me.join()
    if me.rank == 1:
        return None
    me.call("HcclBarrier", me.group, me.stream)
    started = time.monotonic()
    return {"first": me.outcome("aclrtSynchronizeStream", me.stream), "seconds": time.monotonic() - started}


def late(me: Rank) -> object:
    """Rank 1 lives and never comes."""
    me.join()
    if me.rank == 1:
        time.sleep(4)
        return None
    me.call("HcclBarrier", me.group, me.stream)
    return me.outcome("aclrtSynchronizeStream", me.stream)


def crossed(me: Rank) -> object:
    """Rank 0 gathers while rank 1 reduces."""
    me.join()
    buffer = me.upload(pack([0] * 8, "int32"))
    rest = (TYPES["int32"][0], me.group, me.stream)
    if me.rank == 0:
        me.call("HcclAllGather", buffer, buffer, count64(4), *rest)
    else:
        me.call("HcclAllReduce", buffer, buffer, count64(4), TYPES["int32"][0], 0, me.group, me.stream)
    return me.outcome("aclrtSynchronizeStream", me.stream)


def destroyed(me: Rank) -> object:
    """A group that is used after it was destroyed, and one destroyed while a task waits in it."""
    me.join()
    if me.rank == 1:
        time.sleep(7)
        return None
    me.call("HcclBarrier", me.group, me.stream)
    me.call("HcclCommDestroy", me.group)
    later = me.outcome("HcclBarrier", me.group, me.stream)
    return {"later": later, "waiting": me.outcome("aclrtSynchronizeStream", me.stream)}


def cut_off(me: Rank) -> object:
    """The links of device 0 go down after some collectives."""
    me.join()
    for turn in range(10):
        failed = me.outcome("HcclBarrier", me.group, me.stream)
        if failed["code"] == 0:
            failed = me.outcome("aclrtSynchronizeStream", me.stream)
        if failed["code"] != 0:
            return {"turn": turn, "first": failed, "async": me.async_error()}
    return None


def shared_device(me: Rank) -> object:
    """Ranks 0 and 1 work on device 0."""
    me.call("aclrtSetDevice", max(me.rank - 1, 0))
    info = me.root_info()
    return me.outcome("HcclCommInitRootInfo", me.ranks, info, me.rank, ctypes.byref(me.group))


def absent(me: Rank) -> object:
    """Only ranks 0 and 2 join."""
    if me.rank not in {0, 2}:
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
        "null stream": me.outcome("HcclBarrier", group, None),
        "no product of int16": me.outcome("HcclAllReduce", device, device, four, 1, 1, group, stream),
        "no 128 bits": me.outcome("HcclBroadcast", device, four, 12, 0, group, stream),
    }
    me.run("HcclBarrier")  # the group has survived all of that
    return refused


if __name__ == "__main__":
    main(globals())
