"""How HCCL of the simulated CANN fails, and that it fails in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hccl_failing_rank
import pytest
from device_runtime_builds import build_simulator, cache_directory
from hccl_group import Group

TIMEOUT_OF_TASK = 507048
INVALID_PARAMETER_OF_TASK = 107000
LINK_ERROR_OF_TASK = 507056
PARA, PTR, NOT_SUPPORT, TIMEOUT, REMOTE = 1, 2, 5, 9, 21


@pytest.fixture(scope="module")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


@pytest.fixture
def group(cann: Path, tmp_path: Path) -> Group:
    return Group(cann, tmp_path)


def run(group: Group, scenario: str, ranks: int, **extra: str) -> list[Any]:
    return group.run(hccl_failing_rank, scenario, ranks, **extra)


def test_counts_that_differ_are_refused(group: Group) -> None:
    for rank, outcome in enumerate(run(group, "mismatch", 3)):
        assert outcome["first"]["code"] == INVALID_PARAMETER_OF_TASK
        message = outcome["first"]["message"]
        assert "EI0005: The arguments for collective communication are inconsistent between ranks" in message
        assert "operator AllReduce, group simulated-hccl-" in message
        assert f"parameter count, local rank {rank}: {4 + (rank == 1)}, remote rank" in message
        assert outcome["again"]["code"] == PARA
        assert outcome["async"] == PARA


def test_sends_that_differ_are_refused(group: Group) -> None:
    for outcome in run(group, "mismatched_send", 2):
        assert outcome["first"]["code"] == INVALID_PARAMETER_OF_TASK
        assert "EI0005" in outcome["first"]["message"]
        assert outcome["async"] == PARA


def test_operations_that_differ_are_refused(group: Group) -> None:
    first, second = run(group, "crossed", 2)
    assert (first["code"], second["code"]) == (INVALID_PARAMETER_OF_TASK, INVALID_PARAMETER_OF_TASK)
    assert "parameter cmdType, local rank 0: AllGather, remote rank 1: AllReduce." in first["message"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rank_that_dies(group: Group, ranks: int) -> None:
    outcomes = run(group, "killed", ranks, ASCENDENV_SIM_HCCL_HEARTBEAT="1")
    assert outcomes[-1] is None
    for outcome in outcomes[:-1]:
        assert outcome["first"]["code"] == TIMEOUT_OF_TASK
        assert outcome["async"] == 0  # HCCL tells of broken links this way, and not of dead ranks
    messages = [outcome["first"]["message"] for outcome in outcomes[:-1]]
    first = next(message for message in messages if "EI0002" in message)
    assert f"Waiting peer rank: rank {ranks - 1} (process " in first
    assert f"device {ranks - 1}), ExceptionType:[Heartbeat Lost Occurred]" in first
    assert not [path for path in Path("/dev/shm").iterdir() if "hccl" in path.name]


def test_a_rank_that_leaves(group: Group) -> None:
    first, _, third = run(group, "gone", 3, ASCENDENV_SIM_HCCL_HEARTBEAT="0.5")
    for outcome in (first, third):
        assert outcome["first"]["code"] == TIMEOUT_OF_TASK
        assert 0.4 < outcome["seconds"] < 20
    assert any("Heartbeat Lost Occurred" in outcome["first"]["message"] for outcome in (first, third))


def test_a_rank_that_is_late(group: Group) -> None:
    outcome, _ = run(group, "late", 2, HCCL_EXEC_TIMEOUT="1")
    assert outcome["code"] == TIMEOUT_OF_TASK
    assert "EI0002: A timeout occurs when the Notify register waits for execution" in outcome["message"]
    assert "HCCL_EXEC_TIMEOUT of 1s has passed" in outcome["message"]


def test_ranks_that_never_join(group: Group) -> None:
    outcomes = run(group, "absent", 4, ASCENDENV_SIM_HCCL_CONNECT_TIMEOUT="1")
    assert outcomes[1] is outcomes[3] is None
    for outcome in (outcomes[0], outcomes[2]):
        assert outcome["code"] == TIMEOUT
        assert "EI0015: Failed to collect cluster information of the communicator" in outcome["message"]
        assert 'List of unconnected ranks: "[1,3,]".' in outcome["message"]


def test_links_that_never_come_up(group: Group) -> None:
    outcomes = run(group, "cut_off", 3, ASCENDENV_SIM_FAULT="link-down@0")
    assert [(outcome["turn"], outcome["async"]) for outcome in outcomes] == [(0, 0)] * 3
    assert outcomes[0]["first"]["code"] == TIMEOUT_OF_TASK
    assert {outcome["first"]["code"] for outcome in outcomes} <= {TIMEOUT, TIMEOUT_OF_TASK}
    assert "EI0006: Getting socket times out. Reason: This node" in outcomes[0]["first"]["message"]


def test_links_that_go_down(group: Group) -> None:
    outcomes = run(group, "cut_off", 3, ASCENDENV_SIM_FAULT="link-down@0:4")
    assert [(outcome["turn"], outcome["async"]) for outcome in outcomes] == [(4, REMOTE)] * 3
    assert outcomes[0]["first"]["code"] == LINK_ERROR_OF_TASK
    assert {outcome["first"]["code"] for outcome in outcomes} <= {REMOTE, LINK_ERROR_OF_TASK}
    assert "EI0013: An error CQE occurred during operator execution" in outcomes[0]["first"]["message"]


def test_two_ranks_on_one_device(group: Group) -> None:
    for outcome in run(group, "shared_device", 3):
        assert outcome["code"] == PARA
        assert "EI0015" in outcome["message"]
        assert "Rank 0 has the same physical device ID 0 as the rank 1" in outcome["message"]


def test_ranks_that_contradict_each_other(group: Group) -> None:
    first, second = run(group, "contradiction", 2, ASCENDENV_SIM_HCCL_CONNECT_TIMEOUT="2")
    assert (first["code"], second["code"]) == (TIMEOUT, PARA)
    assert "The number of ranks[3]" in second["message"]


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("HCCL_CONNECT_TIMEOUT", "soon", "greater than or equal to 120s and less than or equal to 7200s"),
        ("HCCL_CONNECT_TIMEOUT", "119", "greater than or equal to 120s and less than or equal to 7200s"),
        ("HCCL_EXEC_TIMEOUT", "-1", "greater than or equal to 0s and less than or equal to 2147483647s"),
        ("ASCENDENV_SIM_HCCL_CONNECT_TIMEOUT", "0", "a positive number of seconds"),
    ],
)
def test_wrong_environment_variables(group: Group, variable: str, value: str, expected: str) -> None:
    (outcome,) = run(group, "no_number", 1, **{variable: value})
    assert outcome["code"] == PARA
    assert f"EI0001: Value {value} for environment variable {variable} is invalid." in outcome["message"]
    assert expected in outcome["message"]


def test_destroyed_groups(group: Group) -> None:
    outcome, _ = run(group, "destroyed", 2)
    assert outcome["later"]["code"] == PARA
    assert "not a live communicator" in outcome["later"]["message"]
    assert "was destroyed while rank 0 still waited" in outcome["waiting"]["message"]


def test_wrong_arguments(group: Group) -> None:
    for outcomes in run(group, "refusals", 2):
        assert {name: outcome["code"] for name, outcome in outcomes.items()} == {
            "no such group": PARA,
            "null group": PTR,
            "null stream": PTR,
            "null buffer": PTR,
            "host buffer": PARA,
            "beyond the buffer": PARA,
            "too many": PARA,
            "no such type": NOT_SUPPORT,
            "no such reduction": NOT_SUPPORT,
            "no reduction over float8": NOT_SUPPORT,
            "no product of int16": NOT_SUPPORT,
            "no 128 bits": NOT_SUPPORT,
            "no such root": PARA,
            "send to itself": PARA,
        }
        assert "Value int16 for parameter dataType is invalid" in outcomes["no product of int16"]["message"]
