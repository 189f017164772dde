"""The simulated CANN's msprof on a small profile written by hand."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import msprof
import pytest
from cann_profile.times import difference, microseconds, union

EPOCH = 1_700_000_000_000_000  # microseconds
RAW = 5_000_000_000  # nanoseconds of the other clock at the same moment


def run(kind: str, name: str, began: int, ended: int, **more: object) -> dict[str, Any]:
    times = {"queued": RAW + began - 10, "began": RAW + began, "ended": RAW + ended}
    return {"kind": kind, "name": name, "thread": 7, "device": 2, "stream": 3, **times, **more}


TENSOR = {"dtype": 0, "format": 2, "shape": [4, 5]}
RUNS = [
    run("operator", "aclnnAdd", 1000, 3000, inputs=[TENSOR, TENSOR], outputs=[TENSOR]),
    run("collective", "HcclAllReduce", 2000, 5000, group="hccl_world"),
    run("collective", "HcclAllReduce", 5000, 6000, group="hccl_world"),
    run("copy", "aclrtMemcpyAsync", 8000, 8500, bytes=80),
    run("operator", "aclnnAdd", 9000, 9500, inputs=[TENSOR], outputs=[]),
]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    directory = tmp_path / "PROF_000001_20231114221320000_ABCDEFGH"
    start = {"collectionTimeBegin": str(EPOCH), "clockMonotonicRaw": str(RAW), "process": "41"}
    calls = [
        {"name": task["name"], "thread": 7, "began": task["queued"] - 5, "ended": task["queued"] + 5}
        for task in RUNS
    ]
    mark = {"domain": "default", "message": 'say "x"', "thread": 7, "began": RAW + 1, "ended": RAW + 1}
    for path, lines in {
        "host/start_info": [start],
        "host/data/calls.jsonl": calls,
        "host/data/annotations.jsonl": [mark],
        "device_2/data/runs.jsonl": RUNS,
    }.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return directory


def rows(profile: Path, table: str) -> list[dict[str, str]]:
    (path,) = (profile / "mindstudio_profiler_output").glob(f"{table}_*.csv")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def events(profile: Path) -> list[dict[str, Any]]:
    (path,) = (profile / "mindstudio_profiler_output").glob("msprof_*.json")
    made: list[dict[str, Any]] = json.loads(path.read_text())
    return made


def export(profile: Path, *more: str) -> None:
    msprof.main(["--export=on", f"--output={profile}", *more])


def test_the_timeline_holds_each_task_where_and_when_it_ran(profile: Path) -> None:
    export(profile)
    spans = {event["name"]: event for event in events(profile) if event["ph"] == "X"}
    add = spans["aclnnAdd"]
    assert (add["tid"], add["ts"], add["dur"]) == (3, f"{EPOCH + 9}.000", 0.5)
    assert add["args"]["Task Type"] == "AI_CORE"
    labels = {event["pid"]: event["args"] for event in events(profile) if event["name"] == "process_labels"}
    assert labels[add["pid"]] == {"labels": "NPU 2"}
    assert 'say "x"' in spans


def test_an_arrow_leads_from_the_call_to_each_task(profile: Path) -> None:
    export(profile)
    arrows = [event for event in events(profile) if event.get("cat") == "HostToDevice"]
    spans = {(event["pid"], event["tid"], event["ts"]) for event in events(profile) if event["ph"] == "X"}
    assert len(arrows) == 2 * len(RUNS)
    assert all((arrow["pid"], arrow["tid"], arrow["ts"]) in spans for arrow in arrows if arrow["ph"] == "f")
    calls = [event for event in events(profile) if event["name"].startswith("AscendCL@")]
    for arrow in (arrow for arrow in arrows if arrow["ph"] == "s"):
        within = [
            call
            for call in calls
            if call["tid"] == arrow["tid"]
            and float(call["ts"]) <= float(arrow["ts"]) <= float(call["ts"]) + call["dur"]
        ]
        assert len(within) == 1


def test_the_time_of_a_device_is_divided(profile: Path) -> None:
    export(profile)
    spent: dict[str, float] = {}
    for event in events(profile):
        if "analysis_type" in event.get("args", {}):
            spent[event["name"]] = spent.get(event["name"], 0) + event["dur"]
    assert spent == {
        "Computing": 2.5,
        "Communication": 4.0,
        "Communication(Not Overlapped)": 3.0,
        "Free": 3.0,
    }


def test_the_tables_tell_of_each_run_and_sum_up(profile: Path) -> None:
    export(profile)
    first, *_ = summary = rows(profile, "op_summary")
    assert len(summary) == 4  # the copy is no operator
    assert (first["Device_id"], first["Op Name"], first["OP Type"]) == ("2", "aclnnAdd", "Add")
    assert (first["Task Start Time(us)"], first["Task Duration(us)"]) == (f"{EPOCH + 1}.000", "2.000")
    assert (first["Input Shapes"], first["Input Data Types"]) == ('"4,5;4,5"', "FLOAT;FLOAT")
    assert summary[-1]["Task Wait Time(us)"] == "3.000"

    add = next(row for row in rows(profile, "op_statistic") if row["OP Type"] == "Add")
    assert (add["Count"], add["Total Time(us)"], add["Ratio(%)"]) == ("2", "2.500", "38.462")
    assert len(rows(profile, "task_time")) == len(RUNS)
    reduce = next(row for row in rows(profile, "api_statistic") if row["API Name"] == "HcclAllReduce")
    assert (reduce["Count"], reduce["Avg(us)"], reduce["Variance"]) == ("2", "0.010", "0.0")
    assert [row["Message"] for row in rows(profile, "msprof_tx")] == ['say "x"']


def test_collectives_of_a_communicator_are_numbered(profile: Path) -> None:
    export(profile)
    msprof.main(["--analyze=on", f"--output={profile}"])
    described = json.loads((profile / "analyze" / "communication.json").read_text())
    (first, time), (second, _) = described.items()
    assert first.startswith("hcom_allReduce__")
    assert first.endswith("_0_1@hccl_world")
    assert second == first.replace("_0_1@", "_1_1@")
    assert time["Communication Time Info"]["Elapse Time(ms)"] == 0.003


def test_the_database_connects_calls_and_tasks(profile: Path) -> None:
    export(profile, "--type=db")
    assert not (profile / "mindstudio_profiler_output").exists()
    (path,) = profile.glob("msprof_*.db")
    with sqlite3.connect(path) as database:
        launched = database.execute(
            "SELECT name.value, task.endNs - task.startNs FROM COMPUTE_TASK_INFO AS info "
            "JOIN STRING_IDS AS name ON info.name = name.id "
            "JOIN TASK AS task ON info.globalTaskId = task.globalTaskId "
            "JOIN CANN_API AS api ON api.connectionId = task.connectionId WHERE api.type = 10000"
        ).fetchall()
    database.close()
    assert launched == [("aclnnAdd", 2000), ("aclnnAdd", 500)]


def test_a_directory_of_profiles_will_do(profile: Path) -> None:
    export(profile.parent)
    assert rows(profile, "op_summary")


def test_what_it_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="knows --export=on and --analyze=on only"):
        msprof.main([f"--output={tmp_path}"])
    with pytest.raises(SystemExit, match="no profile in"):
        export(tmp_path)


def test_intervals() -> None:
    assert union([(5, 6), (1, 3), (2, 4)]) == [(1, 4), (5, 6)]
    assert difference([(0, 10)], [(2, 3), (3, 5), (9, 12)]) == [(0, 2), (5, 9)]
    assert difference([(0, 2), (4, 6)], [(1, 5)]) == [(0, 1), (5, 6)]
    assert difference([], [(1, 2)]) == []
    assert microseconds(1_234_567) == "1234.567"
