"""Scenarios of a rank whose group works; see `hccl_process.py`."""

from __future__ import annotations

import os
import threading
import time

from hccl_process import (
    COUNT,
    RECEIVE,
    REDUCTIONS,
    SEND,
    TYPES,
    Item,
    Number,
    Rank,
    array64,
    contents,
    count64,
    digest,
    has_reduction,
    main,
    noise,
    pack,
    unpack,
)


def reductions(me: Rank) -> object:
    """Every type with every reduction that the chip has, by the three calls that reduce."""
    me.join()
    soc = os.environ["ASCENDENV_SIM_SOC"]
    results: dict[str, list[Number]] = {}
    for kind, (code, _) in TYPES.items():
        content = contents(me.rank, kind, COUNT * me.ranks)
        part = len(content) // me.ranks
        send, receive = me.upload(content), me.empty(len(content))
        for name, operation in REDUCTIONS.items():
            if not has_reduction(soc, kind, name):
                continue
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
    code = TYPES["int8"][0]
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


def nothing(me: Rank) -> object:
    """Calls without an element succeed at once, without buffers and without the other ranks."""
    me.join()
    if me.rank != 0:
        return []
    none, kind, rest = count64(0), TYPES["float32"][0], (me.group, me.stream)
    codes = [
        me.code("HcclAllReduce", None, None, none, kind, 0, *rest),
        me.code("HcclReduce", None, None, none, kind, 0, 1, *rest),
        me.code("HcclBroadcast", None, none, kind, 1, *rest),
        me.code("HcclScatter", None, None, none, kind, 1, *rest),
        me.code("HcclAllGather", None, None, none, kind, *rest),
        me.code("HcclReduceScatter", None, None, none, kind, 0, *rest),
        me.code("HcclAlltoAll", None, none, kind, None, none, kind, *rest),
        me.code("HcclSend", None, none, kind, 1, *rest),
        me.code("HcclRecv", None, none, kind, 1, *rest),
        me.code("HcclBatchSendRecv", None, 0, *rest),
    ]
    me.synchronize()
    return codes


def side_by_side(me: Rank) -> object:
    """Three groups of the same ranks, each worked by a thread and a stream of its own at the same time."""
    lanes = [Lane(me, index) for index in range(3)]
    threads = [threading.Thread(target=lane.run) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [lane.value for lane in lanes]


class Lane:
    """One group with its stream."""

    def __init__(self, me: Rank, index: int) -> None:
        self.me, self.index, self.value = me, index, 0
        self.group = me.another_group(f"lane-{index}")
        self.stream = me.another_stream()

    def run(self) -> None:
        me = self.me
        me.call("aclrtSetDevice", me.rank)
        buffer = me.upload(pack([1], "int64"))
        for turn in range(30):
            # The threads of the ranks begin with different groups and go on in step with nobody.
            time.sleep(0.001 * ((me.rank + self.index + turn) % 3))
            arguments = (buffer, buffer, count64(1), TYPES["int64"][0], 0)
            me.call("HcclAllReduce", *arguments, self.group, self.stream)
        me.call("aclrtSynchronizeStream", self.stream)
        self.value = int(unpack(me.download(buffer, 8), "int64")[0])


if __name__ == "__main__":
    main(globals())
