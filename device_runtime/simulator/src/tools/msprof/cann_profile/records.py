"""What the simulated runtime recorded, with all times as nanoseconds since the epoch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .kernels import kernel_name, kernel_type, task_type


@dataclass(frozen=True)
class Operand:
    """A tensor of an operator: its dtype and format as the runtime numbers them, and its shape."""

    dtype: int
    format: int
    shape: list[int]


@dataclass(frozen=True)
class Task:
    """One run of a task on a stream of a device."""

    id: int  # counts the tasks of the profile
    kind: str  # operator, copy, memset or collective
    call: str  # the function of the interface that queued it
    group: str  # the communicator of a collective
    name: str
    type: str
    core: str
    device: int
    stream: int
    thread: int  # of the host, that queued it
    queued: int
    began: int
    ended: int
    size: int  # bytes of a copy or memset
    inputs: list[Operand]
    outputs: list[Operand]

    @property
    def duration(self) -> int:
        """Nanoseconds from begin to end."""
        return self.ended - self.began


@dataclass(frozen=True)
class Call:
    """One call of the interface by a thread of the host."""

    name: str
    thread: int
    began: int
    ended: int


@dataclass(frozen=True)
class Annotation:
    """A mark or range of the program; `reached` and `left` are its times on a stream, if it has one."""

    domain: str
    message: str
    thread: int
    began: int
    ended: int
    device: int
    stream: int
    reached: int
    left: int

    @property
    def kind(self) -> str:
        """As CANN calls them."""
        return "marker" if self.began == self.ended else "start/end"


@dataclass(frozen=True)
class Profile:
    """All that was recorded between a start and a stop."""

    process: int
    began: int
    devices: list[int]
    tasks: list[Task]  # by the time they began
    calls: list[Call]  # likewise
    annotations: list[Annotation]  # likewise


def load(directory: Path) -> Profile:
    """Read the profile in a PROF_* directory."""
    start = json.loads((directory / "host" / "start_info").read_text())
    began = int(start["collectionTimeBegin"]) * 1000
    shift = began - int(start["clockMonotonicRaw"])
    devices = {int(path.name.removeprefix("device_")): path for path in directory.glob("device_*")}
    runs = [run for path in devices.values() for run in _lines(path / "data" / "runs.jsonl", shift)]
    runs.sort(key=lambda run: int(run["began"]))
    calls = [Call(**line) for line in _lines(directory / "host" / "data" / "calls.jsonl", shift)]
    annotations = [_annotation(line) for line in _lines(directory / "host/data/annotations.jsonl", shift)]
    return Profile(
        process=int(start["process"]),
        began=began,
        devices=sorted(devices),
        tasks=_tasks(runs),
        calls=sorted(calls, key=lambda call: call.began),
        annotations=sorted(annotations, key=lambda annotation: annotation.began),
    )


TIMES = ("queued", "began", "ended", "reached", "left")


def _lines(path: Path, shift: int) -> list[dict[str, Any]]:
    """The objects in a file of JSON lines, none if there is no file, their times moved to the epoch."""
    if not path.exists():
        return []
    made: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    for line in made:
        line.update({name: line[name] + shift for name in TIMES if name in line})
    return made


def _tasks(runs: list[dict[str, Any]]) -> list[Task]:
    """The tasks in order; collectives of one name on one communicator are numbered."""
    seen: dict[tuple[str, str], int] = {}
    tasks = []
    for number, run in enumerate(runs):
        kind, call, group = run["kind"], run["name"], run.get("group", "")
        count = seen[call, group] = seen.get((call, group), -1) + 1
        tasks.append(
            Task(
                id=number,
                kind=kind,
                call=call,
                group=group,
                name=kernel_name(kind, call, group, count),
                type=kernel_type(kind, call),
                core=task_type(kind),
                device=run["device"],
                stream=run["stream"],
                thread=run["thread"],
                queued=run["queued"],
                began=run["began"],
                ended=run["ended"],
                size=run.get("bytes", 0),
                inputs=[Operand(**operand) for operand in run.get("inputs", [])],
                outputs=[Operand(**operand) for operand in run.get("outputs", [])],
            )
        )
    return tasks


def _annotation(line: dict[str, Any]) -> Annotation:
    return Annotation(**{"device": -1, "stream": -1, "reached": 0, "left": 0, **line})
