"""The profilers of torch_npu and torch on the simulated CANN: what they make of a few training steps."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from e2e.main_job import Simulated, run

PROGRAM = Path(__file__).parent / "programs" / "profiled_training.py"
KERNELS_OF_A_STEP = {"aclnnAddmm", "aclnnRelu", "aclnnLogSoftmax", "aclnnNLLLoss", "aclnnMm"}
Event = dict[str, Any]


def profiles(simulated: Simulated, folder: Path, *names: str, **variables: str) -> dict[str, Path]:
    """Where the program's profiles are; all are made in one process."""
    environ = simulated.installed.environ() | variables
    done = run([simulated.installed.python, PROGRAM, folder, *names], environ, cwd=folder)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    return {name: Path(path) for name, path in json.loads(line.removeprefix("REPORT ")).items()}


@pytest.fixture(scope="module")
def results(simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """What torch_npu's profiler makes."""
    return profiles(simulated, tmp_path_factory.mktemp("profiles"), "level0", "level1", "chrome", "stacks")


def events_in(path: Path) -> list[Event]:
    content = json.loads(path.read_text())
    events: list[Event] = content["traceEvents"] if isinstance(content, dict) else content
    return events


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("level", ["level0", "level1"])
def test_the_trace_leads_from_operators_on_the_host_to_those_on_the_device(
    results: Mapping[str, Path], level: str
) -> None:
    events = events_in(results[level] / "trace_view.json")
    titles = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    spans = {(event["pid"], event["tid"], event["ts"]): event for event in events if event["ph"] == "X"}
    kernels = [
        event for event in spans.values() if titles.get(event["pid"], "").startswith("Ascend Hardware")
    ]
    assert {event["name"] for event in kernels} >= KERNELS_OF_A_STEP
    assert all(event["dur"] > 0 for event in kernels if event["name"] in KERNELS_OF_A_STEP)
    host = {event["name"] for event in events if event.get("cat") == "cpu_op"}
    assert host >= {"aten::addmm", "aten::relu", "ProfilerStep#2", "ProfilerStep#3"}

    arrows: dict[str, dict[str, Event]] = {}
    for event in events:
        if event.get("cat") == "async_npu":
            arrows.setdefault(event["id"], {})[event["ph"]] = spans[event["pid"], event["tid"], event["ts"]]
    reached = [arrow["f"]["name"] for arrow in arrows.values()]
    assert sorted(reached) == sorted(event["name"] for event in kernels if event["name"].startswith("aclnn"))
    assert all(arrow["s"]["cat"] == "cpu_op" for arrow in arrows.values())
    assert all(float(arrow["s"]["ts"]) <= float(arrow["f"]["ts"]) for arrow in arrows.values())


def test_every_kernel_of_both_steps_is_in_the_table(results: Mapping[str, Path]) -> None:
    kernels = rows(results["level1"], "kernel_details")
    steps = {step: [row["Name"] for row in kernels if row["Step Id"] == step] for step in ("2", "3")}
    assert steps["2"] == steps["3"]
    assert sum(len(names) for names in steps.values()) == len(kernels)
    assert set(steps["2"]) >= KERNELS_OF_A_STEP
    relu = next(row for row in kernels if row["Name"] == "aclnnRelu")
    assert (relu["Type"], relu["Input Shapes"], relu["Input Data Types"]) == ("Relu", '"16,64"', "FLOAT")
    assert float(relu["Duration(us)"]) > 0


def test_the_operators_of_the_host_have_the_time_of_their_kernels(results: Mapping[str, Path]) -> None:
    operators = rows(results["level1"], "operator_details")
    kernels = rows(results["level1"], "kernel_details")
    on_device = sum(float(row["Device Self Duration(us)"]) for row in operators)
    assert on_device == pytest.approx(sum(float(row["Duration(us)"]) for row in kernels), rel=1e-3)
    assert any("profiled_training.py" in row["Call Stack"] for row in operators)


def test_each_step_is_divided_into_computing_and_waiting(results: Mapping[str, Path]) -> None:
    first, second = rows(results["level1"], "step_trace_time")
    assert (first["Step"], second["Step"]) == ("2", "3")
    for step in (first, second):
        assert 0 < float(step["Computing"]) <= float(step["Stage"])
        assert float(step["Communication"]) == 0


@pytest.mark.parametrize(
    "table", ["operator_memory", "memory_record", "op_statistic", "api_statistic", "task_time"]
)
def test_the_other_tables_are_made(results: Mapping[str, Path], table: str) -> None:
    assert rows(results["level1"], table)


def test_the_database_joins_both_sides(results: Mapping[str, Path]) -> None:
    (path,) = results["level1"].glob("ascend_pytorch_profiler*.db")
    with sqlite3.connect(path) as database:
        joined = database.execute(
            "SELECT DISTINCT kernel.value FROM PYTORCH_API AS api "
            "JOIN CONNECTION_IDS AS ids ON api.connectionId = ids.id "
            "JOIN TASK AS task ON task.connectionId = ids.connectionId "
            "JOIN COMPUTE_TASK_INFO AS info ON info.globalTaskId = task.globalTaskId "
            "JOIN STRING_IDS AS kernel ON kernel.id = info.name"
        ).fetchall()
    database.close()
    assert {name for (name,) in joined} >= KERNELS_OF_A_STEP


def test_ranges_of_the_program_are_on_the_host_and_on_the_stream(results: Mapping[str, Path]) -> None:
    events = events_in(results["level1"] / "trace_view.json")
    labels = {event["pid"]: event["args"]["labels"] for event in events if event["name"] == "process_labels"}
    ranges = [event for event in events if event["name"] == "forward" and event["ph"] == "X"]
    assert sorted(labels[event["pid"]] for event in ranges) == ["CPU", "CPU", "NPU 0", "NPU 0"]


def test_a_trace_is_exported_where_it_is_wanted(results: Mapping[str, Path]) -> None:
    assert {event["name"] for event in events_in(results["chrome"])} >= KERNELS_OF_A_STEP


def test_stacks_are_exported_with_the_time_on_the_device(results: Mapping[str, Path]) -> None:
    lines = results["stacks"].read_text().splitlines()
    assert any("profiled_training.py" in line and float(line.rsplit(" ", 1)[1]) > 0 for line in lines)


@pytest.mark.parametrize("queue", ["0", "1"])
def test_the_profiler_of_torch_sees_the_device(simulated: Simulated, tmp_path: Path, queue: str) -> None:
    events = events_in(profiles(simulated, tmp_path, "torch", TASK_QUEUE_ENABLE=queue)["torch"])
    assert {event["name"] for event in events if event.get("cat") == "kernel"} >= KERNELS_OF_A_STEP
    begun = {event["id"] for event in events if event.get("cat") == "ac2g" and event["ph"] == "s"}
    reached = {event["id"] for event in events if event.get("cat") == "ac2g" and event["ph"] == "f"}
    assert begun == reached
    # What a kernel belongs to is known of the thread that launches it, which is not the queue's.
    assert bool(reached) == (queue == "0")
