"""HCCL of the simulated CANN over processes, compared with what plain Python computes."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hccl_rank
import pytest
from device_runtime_builds import build_simulator, cache_directory, environment
from hccl_rank import COUNT, REDUCTIONS, TYPES, Number, contribution, digest, noise

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT_OF_TASK = 507048
INVALID_PARAMETER_OF_TASK = 107000
PARA, PTR, NOT_SUPPORT, TIMEOUT = 1, 2, 5, 9

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "max": max,
    "min": min,
}


class Group:
    """Runs a scenario as one process a rank."""

    def __init__(self, cann: Path, directory: Path) -> None:
        self._cann, self._directory = cann, directory

    def start(self, scenario: str, ranks: int, **extra: str) -> list[subprocess.Popen[str]]:
        return [
            subprocess.Popen(
                [sys.executable, hccl_rank.__file__, scenario, str(rank), str(ranks), str(self._directory)],
                env=environment(self._cann, **extra),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]

    def run(self, scenario: str, ranks: int, **extra: str) -> list[Any]:
        """The outcomes by rank; None for a rank that was killed."""
        processes = self.start(scenario, ranks, **extra)
        try:
            return [self._outcome(process) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()

    @staticmethod
    def _outcome(process: subprocess.Popen[str]) -> object:
        stdout, stderr = process.communicate(timeout=60)
        if process.returncode == -signal.SIGKILL:
            return None
        assert process.returncode == 0, stderr
        return json.loads(stdout)


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


@pytest.mark.parametrize("ranks", [2, 4])
def test_reductions(group: Group, ranks: int) -> None:
    outcomes = group.run("reductions", ranks)
    for rank, results in enumerate(outcomes):
        for kind in TYPES:
            for name in REDUCTIONS:
                whole = [reduced(kind, name, ranks, index) for index in range(COUNT * ranks)]
                assert results[f"all_reduce {kind} {name}"] == whole
                assert results[f"reduce_scatter {kind} {name}"] == whole[rank * COUNT : (rank + 1) * COUNT]
                if rank == 1:
                    assert results[f"reduce {kind} {name}"] == whole[:COUNT]


@pytest.mark.parametrize("ranks", [2, 4])
def test_movements(group: Group, ranks: int) -> None:
    outcomes = group.run("movements", ranks)
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
    outcomes = group.run("uneven", ranks)
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
    largest = digest(bytes(map(max, *parts)))
    expected = {
        "all_gather": digest(b"".join(parts)),
        "all_reduce": largest,
        "all_reduce in place": largest,
    }
    assert group.run("large", ranks) == [expected] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_point_to_point(group: Group, ranks: int) -> None:
    count = (1 << 20) + 3
    whole = [digest(noise(rank, count)) for rank in range(ranks)]
    shorter = [digest(noise(rank, count)[:-1]) for rank in range(ranks)]
    outcomes = group.run("point_to_point", ranks)
    assert [results["ring"] for results in outcomes] == [whole[-1], *whole[:-1]]
    assert [results["batch"] for results in outcomes] == [[whole, shorter]] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_sends_and_receives_between_group_calls(group: Group, ranks: int) -> None:
    whole = [digest(noise(rank, (1 << 20) + 3)) for rank in range(ranks)]
    for rank, outcome in enumerate(group.run("batch_by_calls", ranks)):
        assert outcome["unopened"]["code"] == PARA
        assert outcome["received"] == whole[:rank] + whole[rank + 1 :]


@pytest.mark.parametrize("ranks", [2, 4])
def test_barrier(group: Group, ranks: int) -> None:
    assert group.run("barrier", ranks) == [[ranks] * 3] * ranks


def test_operations_keep_their_order(group: Group) -> None:
    assert group.run("many", 2) == [[2**12] * 4] * 2


def test_subgroups(group: Group) -> None:
    outcomes = group.run("subgroups", 4)
    assert outcomes == [[101, 1111] * 2, [1010, 1111] * 2, [101, 1111] * 2, [1010, 1111] * 2]


def test_counts_that_differ_are_refused(group: Group) -> None:
    for outcome in group.run("mismatch", 3):
        assert outcome["first"]["code"] == INVALID_PARAMETER_OF_TASK
        assert "EI0005" in outcome["first"]["message"]
        assert outcome["again"]["code"] == PARA
        assert outcome["async"] == PARA


def test_sends_that_differ_are_refused(group: Group) -> None:
    for outcome in group.run("mismatched_send", 2):
        assert outcome["first"]["code"] == INVALID_PARAMETER_OF_TASK
        assert "EI0005" in outcome["first"]["message"]
        assert outcome["async"] == PARA


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rank_that_dies_makes_the_others_time_out(group: Group, ranks: int) -> None:
    outcomes = group.run("killed", ranks, HCCL_EXEC_TIMEOUT="2")
    assert outcomes[-1] is None
    for outcome in outcomes[:-1]:
        assert outcome["first"]["code"] == TIMEOUT_OF_TASK
        assert outcome["async"] == TIMEOUT
    messages = [outcome["first"]["message"] for outcome in outcomes[:-1]]
    assert any("EI0002" in message and f"rank {ranks - 1}" in message for message in messages), messages
    assert not [path for path in Path("/dev/shm").iterdir() if "hccl" in path.name]


def test_a_rank_that_never_joins(group: Group) -> None:
    first, _ = group.run("absent", 2, HCCL_CONNECT_TIMEOUT="1")
    assert first["code"] == TIMEOUT
    assert "EI0006" in first["message"]
    assert "rank 1 did not join within 1 s (HCCL_CONNECT_TIMEOUT)" in first["message"]


def test_ranks_that_contradict_each_other(group: Group) -> None:
    first, second = group.run("contradiction", 2, HCCL_CONNECT_TIMEOUT="2")
    assert (first["code"], second["code"]) == (TIMEOUT, PARA)
    assert "rank 1 counts 3 ranks, others 2" in second["message"]


def test_a_timeout_that_is_no_number(group: Group) -> None:
    (first,) = group.run("no_number", 1, HCCL_CONNECT_TIMEOUT="soon")
    assert first["code"] == PARA
    assert "soon for environment variable HCCL_CONNECT_TIMEOUT" in first["message"]


def test_wrong_arguments(group: Group) -> None:
    for outcomes in group.run("refusals", 2):
        assert {name: outcome["code"] for name, outcome in outcomes.items()} == {
            "no such group": PARA,
            "null group": PTR,
            "null buffer": PTR,
            "host buffer": PARA,
            "beyond the buffer": PARA,
            "too many": PARA,
            "no such type": PARA,
            "no such reduction": PARA,
            "no reduction over float8": NOT_SUPPORT,
            "no such root": PARA,
            "send to itself": PARA,
            "not implemented": NOT_SUPPORT,
        }
        assert "HcclCommSuspend is not implemented" in outcomes["not implemented"]["message"]
