"""The ways in which ranks of the simulated CANN become a group, and what can be said of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hccl_joining_rank
import pytest
from device_runtime_builds import build_simulator, cache_directory
from hccl_group import A2, A3, Group

TIMEOUT_OF_TASK, ABORTED_TASK = 507048, 107022
PARA, NOT_SUPPORT, NOT_FOUND, SUSPENDING = 1, 5, 6, 22


@pytest.fixture(scope="module")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


@pytest.fixture
def group(cann: Path, tmp_path: Path) -> Group:
    return Group(cann, tmp_path)


def run(group: Group, scenario: str, ranks: int, soc: str = A2, **extra: str) -> list[Any]:
    return group.run(hccl_joining_rank, scenario, ranks, soc=soc, **extra)


def test_subgroups(group: Group) -> None:
    outcomes = run(group, "subgroups", 4)
    assert outcomes == [[101, 1111] * 2, [1010, 1111] * 2, [101, 1111] * 2, [1010, 1111] * 2]


def test_ranks_outside_a_subgroup(group: Group) -> None:
    assert run(group, "outside", 2) == [{"outside": 0, "half": PARA, "group": None}] * 2


def test_names(group: Group) -> None:
    for outcome in run(group, "names", 2):
        assert (outcome["chosen"], outcome["long"], outcome["derived"]) == ("my-group", "x" * 127, True)
        assert outcome["taken"]["code"] == PARA
        assert "The comm name[my-group] already exists" in outcome["taken"]["message"]


@pytest.mark.parametrize("soc", [A2, A3])
def test_configurations(group: Group, soc: str) -> None:
    for outcomes in run(group, "configurations", 1, soc):
        codes = {name: outcome["code"] for name, outcome in outcomes.items()}
        assert codes == {
            "of 32 bytes": 0,
            "of version 1 with a name": 0,
            "of the future": 0,
            "without magic": PARA,
            "no buffer": PARA,
            "unknown determinism": PARA,
            "strict": 0 if soc == A2 else PARA,
            "zero copy 2": PARA,
            "zero copy before its version": 0,
            "negative timeout": 0,
        }
        assert "EI0003" in outcomes["no buffer"]["message"]


def test_a_timeout_of_one_group(group: Group) -> None:
    outcome, _ = run(group, "impatient", 2)
    assert outcome["code"] == TIMEOUT_OF_TASK
    assert "EI0002" in outcome["message"]


def test_all_devices_in_one_process(group: Group) -> None:
    assert run(group, "all_in_one", 1) == [{"twice": PARA, "sums": [1111] * 4}]


def test_one_thread_for_all_devices(group: Group) -> None:
    assert run(group, "one_thread", 1) == [[0, 1, 2, 3]]


def test_a_rank_table(group: Group) -> None:
    assert run(group, "by_table", 3) == [[111, 111, "hccl_world_group"] * 2] * 3


def test_wrong_rank_tables(group: Group) -> None:
    for outcomes in run(group, "wrong_tables", 2):
        codes = {name: outcome["code"] for name, outcome in outcomes.items()}
        assert codes == dict.fromkeys(codes, PARA)
        told = {name: outcome["message"].partition(": ")[2][:6] for name, outcome in outcomes.items()}
        assert told == {
            "absent": "EI0004",
            "no JSON": "EI0004",
            "not completed": "EI0014",
            "no server list": "EI0014",
            "wrong server count": "EI0014",
            "wrong rank": "EI0014",
            "device twice": "EI0014",
            "other device": "EI0014",
        }
        assert "character 40: expected a value" in outcomes["no JSON"]["message"]


def test_suspended_groups(group: Group) -> None:
    for rank, outcome in enumerate(run(group, "resumed", 2)):
        assert outcome["waiting"] == (ABORTED_TASK if rank == 0 else 0)
        assert outcome["refused"] == SUSPENDING
        assert outcome["sums"] == [11] * 4
        assert outcome["async"] == 0


def test_registered_memory(group: Group) -> None:
    expected = {
        "register": 0,
        "again": NOT_SUPPORT,
        "exchange": 0,
        "no handle": NOT_FOUND,
        "give up": 0,
        "symmetric": 0,
        "wrong flag": PARA,
        "find": 0,
        "close": 0,
        "close again": PARA,
        "find again": NOT_FOUND,
        "offset": 64,
    }
    assert run(group, "windows", 2, A3) == [expected] * 2


def test_registered_memory_of_an_a2(group: Group) -> None:
    (outcome,) = run(group, "windows", 1)
    assert outcome["register"] == outcome["symmetric"] == NOT_SUPPORT


def test_ranges_of_memory(group: Group) -> None:
    expected = {
        "activate too early": PARA,
        "set": 0,
        "set over it": PARA,
        "activate": 0,
        "activate over it": PARA,
        "activate beyond": PARA,
        "deactivate elsewhere": PARA,
        "deactivate": 0,
        "unset": 0,
        "unset again": PARA,
    }
    assert run(group, "ranges", 2, A3) == [expected] * 2
    (alone,) = run(group, "ranges", 1)
    assert set(alone.values()) == {NOT_SUPPORT}
