"""HCCL of the simulated CANN over processes, compared with what plain Python computes."""

from __future__ import annotations

import struct
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hccl_rank
import pytest
from device_runtime_builds import build_simulator, cache_directory
from hccl_group import A2, ASCEND_950, Group
from hccl_process import COUNT, REDUCTIONS, TYPES, Number, contribution, digest, has_reduction, noise

if TYPE_CHECKING:
    from collections.abc import Callable

PARA = 1
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "max": max,
    "min": min,
}


@pytest.fixture(scope="module")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


@pytest.fixture
def group(cann: Path, tmp_path: Path) -> Group:
    return Group(cann, tmp_path)


def stored(value: Number, kind: str) -> Number:
    """The value as the type holds it: integers wrap, floats are rounded to nearest, ties to even."""
    if kind == "bfloat16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", rounded))[0])
    code = TYPES[kind][1]
    if "float" in kind:
        return float(struct.unpack(f"<{code}", struct.pack(f"<{code}", value))[0])
    size = struct.calcsize(code)
    low = (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return int(struct.unpack(f"<{code}", low)[0])


def reduced(kind: str, name: str, ranks: int, index: int) -> Number:
    return stored(reduce(COMBINE[name], (contribution(rank, kind, index) for rank in range(ranks))), kind)


@pytest.mark.parametrize(("ranks", "soc"), [(2, A2), (4, A2), (3, ASCEND_950)])
def test_reductions(group: Group, ranks: int, soc: str) -> None:
    outcomes = group.run(hccl_rank, "reductions", ranks, soc=soc)
    for rank, results in enumerate(outcomes):
        assert len(results) >= 2 * (25 if soc == A2 else 33)
        for kind in TYPES:
            for name in REDUCTIONS:
                if not has_reduction(soc, kind, name):
                    continue
                whole = [reduced(kind, name, ranks, index) for index in range(COUNT * ranks)]
                assert results[f"all_reduce {kind} {name}"] == whole
                assert results[f"reduce_scatter {kind} {name}"] == whole[rank * COUNT : (rank + 1) * COUNT]
                if rank == 1:
                    assert results[f"reduce {kind} {name}"] == whole[:COUNT]


@pytest.mark.parametrize("ranks", [2, 4])
def test_movements(group: Group, ranks: int) -> None:
    outcomes = group.run(hccl_rank, "movements", ranks)
    for kind in TYPES:
        sent = [[contribution(rank, kind, index) for index in range(COUNT * ranks)] for rank in range(ranks)]
        for rank, results in enumerate(outcomes):
            mine = slice(rank * COUNT, (rank + 1) * COUNT)
            assert results[f"all_gather {kind}"] == [value for part in sent for value in part]
            assert results[f"scatter {kind}"] == sent[1][mine]
            assert results[f"all_to_all {kind}"] == [value for part in sent for value in part[mine]]
            assert results[f"broadcast {kind}"] == sent[1][:COUNT]


@pytest.mark.parametrize("ranks", [2, 4])
def test_counts_for_each_rank(group: Group, ranks: int) -> None:
    outcomes = group.run(hccl_rank, "uneven", ranks)
    gathered: list[Number] = []
    for peer in range(ranks):
        gathered += [contribution(peer, "int32", index) for index in range(peer + 1)] + [-1]
    for rank, results in enumerate(outcomes):
        spaced: list[Number] = []
        packed: list[Number] = []
        for peer in range(ranks):
            before = sum(peer + 2 * other for other in range(rank))
            length = peer + 2 * rank
            spaced += [contribution(peer, "int32", before + rank + at) for at in range(length)] + [-1]
            packed += [contribution(peer, "int32", before + at) for at in range(length)]
        assert results["all_to_all_v"] == spaced
        assert results["all_to_all_vc"] == packed
        assert results["all_gather_v"] == gathered
        start = rank * (rank + 1) // 2 + rank
        sums = [reduced("int32", "sum", ranks, start + at) for at in range(rank + 1)]
        assert results["reduce_scatter_v"] == sums


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_more_than_fits_at_once(group: Group, ranks: int) -> None:
    count = (3 << 20) + 7
    parts = [noise(rank, count) for rank in range(ranks)]
    flip = bytes(byte ^ 0x80 for byte in range(256))  # the order of signed bytes is that of the flipped ones
    largest = digest(bytes(map(max, *(part.translate(flip) for part in parts))).translate(flip))
    expected = {
        "all_gather": digest(b"".join(parts)),
        "all_reduce": largest,
        "all_reduce in place": largest,
    }
    assert group.run(hccl_rank, "large", ranks) == [expected] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_point_to_point(group: Group, ranks: int) -> None:
    count = (1 << 20) + 3
    whole = [digest(noise(rank, count)) for rank in range(ranks)]
    shorter = [digest(noise(rank, count)[:-1]) for rank in range(ranks)]
    outcomes = group.run(hccl_rank, "point_to_point", ranks)
    assert [results["ring"] for results in outcomes] == [whole[-1], *whole[:-1]]
    assert [results["batch"] for results in outcomes] == [[whole, shorter]] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_sends_and_receives_between_group_calls(group: Group, ranks: int) -> None:
    whole = [digest(noise(rank, (1 << 20) + 3)) for rank in range(ranks)]
    for rank, outcome in enumerate(group.run(hccl_rank, "batch_by_calls", ranks)):
        assert outcome["unopened"]["code"] == PARA
        assert outcome["received"] == whole[:rank] + whole[rank + 1 :]


@pytest.mark.parametrize("ranks", [2, 4])
def test_barrier(group: Group, ranks: int) -> None:
    assert group.run(hccl_rank, "barrier", ranks) == [[ranks] * 3] * ranks


def test_operations_keep_their_order(group: Group) -> None:
    assert group.run(hccl_rank, "many", 2) == [[2**12] * 4] * 2


@pytest.mark.parametrize("ranks", [2, 4])
def test_groups_on_streams_and_threads_of_their_own(group: Group, ranks: int) -> None:
    assert group.run(hccl_rank, "side_by_side", ranks) == [[ranks**30] * 3] * ranks


def test_nothing_to_do(group: Group) -> None:
    assert group.run(hccl_rank, "nothing", 2) == [[0] * 10, []]


@pytest.mark.parametrize("ranks", [8, 16])
def test_many_ranks(group: Group, ranks: int) -> None:
    devices = {"ASCENDENV_SIM_DEVICES": str(ranks)}
    assert group.run(hccl_rank, "many", ranks, **devices) == [[stored(ranks**12, "int32")] * 4] * ranks
    assert group.run(hccl_rank, "barrier", ranks, **devices) == [[ranks] * 3] * ranks
