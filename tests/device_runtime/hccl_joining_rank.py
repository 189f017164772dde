"""Scenarios of a rank that joins groups in other ways than by a root; see `hccl_process.py`."""

from __future__ import annotations

import ctypes
import json
import struct
import threading
import time
from typing import Any

from hccl_process import REDUCTIONS, TYPES, Rank, Runtime, count64, main, pack, unpack, within

CONFIG_BYTES = 2400
MAGIC = 0xF0F0F0F0
NOT_SET = 0xFFFFFFFF
# Where fields lie in HcclCommConfig.
BUFFER_SIZE, DETERMINISTIC, NAME, ZERO_COPY, EXECUTION_TIMEOUT = 24, 28, 32, 312, 316


def config(version: int = 11, size: int = CONFIG_BYTES, magic: int = MAGIC, **fields: int | str) -> bytes:
    """An HcclCommConfig as HcclCommConfigInit makes it, with other values for some fields."""
    content = bytearray(CONFIG_BYTES)
    struct.pack_into("<QII", content, 0, size, magic, version)
    values: dict[str, int | str] = {
        "buffer": NOT_SET,
        "deterministic": NOT_SET,
        "timeout": -1,
        "zero_copy": 0,
    }
    values |= fields
    struct.pack_into("<II", content, BUFFER_SIZE, values["buffer"], values["deterministic"])
    struct.pack_into("<B", content, ZERO_COPY, values["zero_copy"])
    struct.pack_into("<i", content, EXECUTION_TIMEOUT, values["timeout"])
    name = str(values.get("name", "")).encode()[:128]
    content[NAME : NAME + len(name)] = name
    return bytes(content)


def subgroups(me: Rank) -> object:
    """Even and odd ranks in groups of their own, twice, beside the whole group."""
    me.join()
    members = [rank for rank in range(me.ranks) if rank % 2 == me.rank % 2]
    results = []
    for _ in range(2):
        part = subgroup(me, members, me.rank % 2 + 7)
        results += [me.sum_of_ranks(part), me.sum_of_ranks()]
        me.call("HcclCommDestroy", part)
    return results


def subgroup(me: Rank, members: list[int], number: int, name: str = "") -> ctypes.c_void_p:
    ids = (ctypes.c_uint32 * len(members))(*members)
    part = ctypes.c_void_p()
    me.call(
        "HcclCreateSubCommConfig", ctypes.byref(me.group), len(members), ids, count64(number),
        members.index(me.rank), config(name=name), ctypes.byref(part),
    )  # fmt: skip
    return part


def outside(me: Rank) -> object:
    """How a rank says that it is not in a new group, and how it does not."""
    me.join()
    part = ctypes.c_void_p()
    settings = (0, config(), ctypes.byref(part))
    whole = ctypes.byref(me.group)
    stays_out = me.outcome("HcclCreateSubCommConfig", whole, 0, None, count64(NOT_SET), *settings)
    half = me.outcome("HcclCreateSubCommConfig", whole, 0, None, count64(3), *settings)
    return {"outside": stays_out["code"], "half": half["code"], "group": part.value}


def names(me: Rank) -> object:
    """The names of groups: chosen, cut to what fits, derived, and taken."""
    me.join()
    members = list(range(me.ranks))
    chosen = subgroup(me, members, 1, name="my-group")
    long = subgroup(me, members, 2, name="x" * 200)
    derived = subgroup(me, members, 3)
    info = me.root_info("second")
    again = ctypes.c_void_p()
    taken = me.outcome(
        "HcclCommInitRootInfoConfig", me.ranks, info, me.rank, config(name="my-group"), ctypes.byref(again)
    )
    whole = name_of(me, me.group)
    return {
        "chosen": name_of(me, chosen),
        "long": name_of(me, long),
        "derived": name_of(me, derived) == f"{whole}_sub_3",
        "taken": taken,
    }


def name_of(me: Rank, group: ctypes.c_void_p) -> str:
    name = ctypes.create_string_buffer(128)
    me.call("HcclGetCommName", group, name)
    return name.value.decode()


def configurations(me: Rank) -> object:
    """Structures of different age and content; the names say what is special about each."""
    cases = {
        "of 32 bytes": config(size=32),
        "of version 1 with a name": config(version=1, name="unknown-yet"),
        "of the future": config(version=99, size=4096),
        "without magic": config(magic=0),
        "no buffer": config(buffer=0),
        "unknown determinism": config(deterministic=3),
        "strict": config(deterministic=2),
        "zero copy 2": config(zero_copy=2),
        "zero copy before its version": config(version=6, zero_copy=2),
        "negative timeout": config(timeout=-5),
    }
    results = {}
    for index, (name, content) in enumerate(cases.items()):
        info = me.root_info(f"root-{index}")
        group = ctypes.c_void_p()
        settings = ctypes.create_string_buffer(content, 4096)
        results[name] = me.outcome(
            "HcclCommInitRootInfoConfig", me.ranks, info, me.rank, settings, ctypes.byref(group)
        )
    return results


def impatient(me: Rank) -> object:
    """A group with a timeout of its own, of one second, which rank 1 lets pass."""
    info = me.root_info()
    settings = config(timeout=1)
    me.call("HcclCommInitRootInfoConfig", me.ranks, info, me.rank, settings, ctypes.byref(me.group))
    if me.rank == 1:
        time.sleep(3)
        return None
    me.call("HcclBarrier", me.group, me.stream)
    return me.outcome("aclrtSynchronizeStream", me.stream)


def all_in_one(me: Rank) -> object:
    """A group of all devices in this one process, a thread for each."""
    count = 4
    groups = (ctypes.c_void_p * count)()
    twice = me.outcome("HcclCommInitAll", 2, (ctypes.c_int32 * 2)(1, 1), groups)
    me.call("HcclCommInitAll", count, (ctypes.c_int32 * count)(*reversed(range(count))), groups)
    sums = [0] * count

    def work(rank: int) -> None:
        runtime = Runtime(count - 1 - rank)
        value = runtime.upload(pack([10**rank], "int32"))
        arguments = (value, value, count64(1), TYPES["int32"][0], REDUCTIONS["sum"])
        runtime.call("HcclAllReduce", *arguments, ctypes.c_void_p(groups[rank]), runtime.stream)
        runtime.synchronize()
        sums[rank] = int(unpack(runtime.download(value, 4), "int32")[0])

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"twice": twice["code"], "sums": sums}


def one_thread(me: Rank) -> object:
    """This one thread joins for all devices, between the two calls that make it one."""
    count = 4
    groups = (ctypes.c_void_p * count)()
    info = me.root_info()
    me.call("HcclGroupStart")
    for rank in range(count):
        me.call("aclrtSetDevice", rank)
        place = ctypes.byref(groups, rank * ctypes.sizeof(ctypes.c_void_p))
        me.call("HcclCommInitRootInfo", count, info, rank, place)
    me.call("HcclGroupEnd")
    ranks = (ctypes.c_uint32 * count)()
    for rank in range(count):
        place = ctypes.byref(ranks, rank * ctypes.sizeof(ctypes.c_uint32))
        me.call("HcclGetRankId", ctypes.c_void_p(groups[rank]), place)
    return list(ranks)


def rank_table(me: Rank, device: dict[str, str] | None = None, **changes: object) -> str:
    """Writes a rank table for devices 0, 1 and so on, with other values for some items."""
    device = {"device_ip": "192.168.1.8"} | (device or {})
    devices = [{"device_id": str(rank), "rank_id": str(rank)} | device for rank in range(me.ranks)]
    servers = [{"server_id": "node_0", "device": devices}]
    table = {"status": "completed", "version": "1.0", "server_count": "1", "server_list": servers} | changes
    file = me.directory / f"rank-table-{me.rank}-{'-'.join(changes)}{len(device)}.json"
    file.write_text(json.dumps(table, indent=4))
    return str(file)


def by_table(me: Rank) -> object:
    """By a rank table, a subgroup of it, and once more after all that was destroyed."""
    file = rank_table(me).encode()
    results = []
    for _ in range(2):
        me.call("HcclCommInitClusterInfoConfig", file, me.rank, config(), ctypes.byref(me.group))
        part = subgroup(me, list(range(me.ranks)), 5)
        results += [me.sum_of_ranks(), me.sum_of_ranks(part), name_of(me, me.group)]
        me.call("HcclCommDestroy", part)
        me.call("HcclCommDestroy", me.group)
    return results


def wrong_tables(me: Rank) -> object:
    """Tables that are refused; the names say why."""
    broken = me.directory / "broken.json"
    broken.write_text('{"status": "completed", "server_list": [}')
    files = {
        "absent": str(me.directory / "absent.json"),
        "no JSON": str(broken),
        "not completed": rank_table(me, status="initializing"),
        "no server list": rank_table(me, server_list=[]),
        "wrong server count": rank_table(me, server_count="2"),
        "wrong rank": rank_table(me, device={"rank_id": "one"}),
        "device twice": rank_table(me, device={"device_id": "0"}),
    }
    results = {
        name: me.outcome("HcclCommInitClusterInfo", file.encode(), me.rank, ctypes.byref(me.group))
        for name, file in files.items()
    }
    me.call("aclrtSetDevice", 3)
    table = rank_table(me).encode()
    results["other device"] = me.outcome("HcclCommInitClusterInfo", table, 0, ctypes.byref(me.group))
    return results


def resumed(me: Rank) -> object:
    """A group is suspended with a task in it, refuses the next, and works again once all have resumed."""
    me.join()
    sums = [me.sum_of_ranks()]
    if me.rank == 0:
        me.call("HcclBarrier", me.group, me.stream)
        time.sleep(0.2)
        me.tell("waiting")
    me.wait_for("waiting")
    me.call("HcclCommSuspend", me.group)
    waiting = me.outcome("aclrtSynchronizeStream", me.stream)
    refused = me.outcome("HcclBarrier", me.group, me.stream)
    me.call("HcclCommResume", me.group)
    me.stream = me.another_stream()
    sums += [me.sum_of_ranks() for _ in range(3)]
    return {"sums": sums, "waiting": waiting["code"], "refused": refused["code"], "async": me.async_error()}


def windows(me: Rank) -> object:
    """Memory that is registered with a group, traded with the neighbour, and given up."""
    me.join()
    memory, handle, second = me.empty(1 << 20), ctypes.c_void_p(), ctypes.c_void_p()
    size, peers = count64(1 << 20), (ctypes.c_uint32 * me.ranks)(*range(me.ranks))
    outcomes = {
        "register": me.outcome("HcclCommRegister", me.group, memory, size, ctypes.byref(handle), 0),
        "again": me.outcome("HcclCommRegister", me.group, memory, size, ctypes.byref(second), 0),
        "exchange": me.outcome("HcclCommExchangeMem", me.group, handle, peers, me.ranks),
        "no handle": me.outcome("HcclCommExchangeMem", me.group, memory, peers, me.ranks),
        "give up": me.outcome("HcclCommDeregister", me.group, handle),
    }
    window, offset, inside = ctypes.c_void_p(), ctypes.c_size_t(), within(memory, 64)
    found = ctypes.c_void_p()
    where = (ctypes.c_size_t(64), ctypes.byref(found), ctypes.byref(offset))
    outcomes |= {
        "symmetric": me.outcome("HcclCommSymWinRegister", me.group, memory, size, ctypes.byref(window), 1),
        "wrong flag": me.outcome("HcclCommSymWinRegister", me.group, memory, size, ctypes.byref(second), 0),
        "find": me.outcome("HcclCommSymWinGet", me.group, inside, *where),
        "close": me.outcome("HcclCommSymWinDeregister", window),
        "close again": me.outcome("HcclCommSymWinDeregister", window),
        "find again": me.outcome("HcclCommSymWinGet", me.group, inside, *where),
    }
    return {name: outcome["code"] for name, outcome in outcomes.items()} | {"offset": offset.value}


def ranges(me: Rank) -> object:
    """Address ranges set and parts of them activated."""
    me.join()
    size, half, none = (ctypes.c_size_t(value) for value in (1 << 21, 1 << 20, 0))
    base, handle = me.empty(1 << 21), ctypes.c_void_p(1)
    middle = within(base, 1 << 20)
    beyond = within(base, 1 << 21)
    rest = (none, handle, none)
    calls: dict[str, Any] = {
        "activate too early": ("HcclCommActivateCommMemory", base, half, *rest),
        "set": ("HcclCommSetMemoryRange", base, size, none, none),
        "set over it": ("HcclCommSetMemoryRange", middle, size, none, none),
        "activate": ("HcclCommActivateCommMemory", base, half, *rest),
        "activate over it": ("HcclCommActivateCommMemory", base, size, *rest),
        "activate beyond": ("HcclCommActivateCommMemory", beyond, half, *rest),
        "deactivate elsewhere": ("HcclCommDeactivateCommMemory", middle),
        "deactivate": ("HcclCommDeactivateCommMemory", base),
        "unset": ("HcclCommUnsetMemoryRange", base),
        "unset again": ("HcclCommUnsetMemoryRange", base),
    }
    return {name: me.code(call[0], me.group, *call[1:]) for name, call in calls.items()}


if __name__ == "__main__":
    main(globals())
