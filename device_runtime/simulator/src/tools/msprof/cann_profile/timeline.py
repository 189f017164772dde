"""The timeline in the format of Chrome's trace viewer, in CANN's layers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any

from .records import Annotation, Profile, Task
from .times import Interval, difference, microseconds, stamp, union

Event = dict[str, Any]

HOST = 127  # where others have the number of a device


class Layer(IntEnum):
    """The layers, in the order in which a viewer shows them."""

    CANN = 7
    HARDWARE = 13
    ANNOTATIONS = 14
    COMMUNICATION = 16
    OVERLAP = 17


TITLES = {
    Layer.CANN: "CANN",
    Layer.HARDWARE: "Ascend Hardware (simulated)",
    Layer.ANNOTATIONS: "MindStudio Tools Extension",
    Layer.COMMUNICATION: "Communication",
    Layer.OVERLAP: "Overlap Analysis",
}


def write(profile: Profile, directory: Path) -> None:
    """Write `msprof_<time>.json`."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"msprof_{stamp(profile.began)}.json"
    path.write_text(json.dumps(list(events(profile))))


def events(profile: Profile) -> Iterator[Event]:
    """All events, those that name the layers first."""
    pages = Pages(profile.process)
    drawn = [*_calls(profile, pages), *_annotations(profile.annotations, pages)]
    for task in profile.tasks:
        drawn += _task(task, pages)
    for device in profile.devices:
        drawn += _overlaps([task for task in profile.tasks if task.device == device], device, pages)
    yield from pages.names()
    yield from drawn


class Pages:
    """The numbers that stand for the layers of a process, and what to call them and their rows."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._rows: dict[tuple[Layer, int], dict[int, str]] = {}

    def place(self, layer: Layer, device: int, row: int, title: str) -> dict[str, int]:
        """Where in the timeline an event stands."""
        self._rows.setdefault((layer, device), {})[row] = title
        return {"pid": self._number(layer, device), "tid": row}

    def names(self) -> Iterator[Event]:
        """The events that name and order layers and rows."""
        for (layer, device), rows in self._rows.items():
            page = {"ph": "M", "pid": self._number(layer, device)}
            label = "CPU" if device == HOST else f"NPU {device}"
            yield {**page, "name": "process_name", "tid": 0, "args": {"name": TITLES[layer]}}
            yield {**page, "name": "process_labels", "tid": 0, "args": {"labels": label}}
            yield {**page, "name": "process_sort_index", "tid": 0, "args": {"sort_index": int(layer)}}
            for row, title in rows.items():
                yield {**page, "name": "thread_name", "tid": row, "args": {"name": title}}
                yield {**page, "name": "thread_sort_index", "tid": row, "args": {"sort_index": row}}

    def _number(self, layer: Layer, device: int) -> int:
        return self._process << 12 | layer << 7 | device


def _span(name: str, began: int, ended: int, place: dict[str, int], args: Event) -> Event:
    duration = round((ended - began) / 1000, 3)
    return {"ph": "X", "name": name, **place, "ts": microseconds(began), "dur": duration, "args": args}


def _calls(profile: Profile, pages: Pages) -> Iterator[Event]:
    for call in profile.calls:
        place = pages.place(Layer.CANN, HOST, call.thread, f"Thread {call.thread}")
        args = {"Thread Id": call.thread, "level": "acl", "id": call.name}
        yield _span(f"AscendCL@{call.name}", call.began, call.ended, place, args)


def _task(task: Task, pages: Pages) -> Iterator[Event]:
    """The task, and the arrow to it from the call that queued it."""
    if task.kind == "collective":
        title = f"Group {task.group} Communication"
        place = pages.place(Layer.COMMUNICATION, task.device, task.stream, title)
    else:
        place = pages.place(Layer.HARDWARE, task.device, task.stream, f"Stream {task.stream}")
    args = {"Task Type": task.core, "Stream Id": task.stream, "Task Id": task.id, "connection_id": task.id}
    yield _span(task.name, task.began, task.ended, place, args)

    arrow = {"name": f"HostToDevice{task.id}", "cat": "HostToDevice", "id": str(task.id)}
    caller = pages.place(Layer.CANN, HOST, task.thread, f"Thread {task.thread}")
    yield {**arrow, "ph": "s", **caller, "ts": microseconds(task.queued)}
    yield {**arrow, "ph": "f", "bp": "e", **place, "ts": microseconds(task.began)}


def _annotations(annotations: list[Annotation], pages: Pages) -> Iterator[Event]:
    for annotation in annotations:
        args = {"Domain": annotation.domain, "event_type": annotation.kind}
        host = pages.place(Layer.ANNOTATIONS, HOST, annotation.thread, f"Thread {annotation.thread}")
        yield _span(annotation.message, annotation.began, annotation.ended, host, args)
        if annotation.device >= 0:
            row, title = annotation.stream, f"Stream {annotation.stream}"
            place = pages.place(Layer.ANNOTATIONS, annotation.device, row, title)
            yield _span(annotation.message, annotation.reached, annotation.left, place, args)


def _overlaps(tasks: list[Task], device: int, pages: Pages) -> Iterator[Event]:
    """How the time of a device divides between computing, communicating and neither."""
    for row, (name, intervals) in enumerate(divide(tasks).items()):
        for began, ended in intervals:
            place = pages.place(Layer.OVERLAP, device, row, name)
            yield _span(name, began, ended, place, {"analysis_type": name})


def divide(tasks: list[Task]) -> dict[str, list[Interval]]:
    """What a device did when, by CANN's names for it."""
    computing = union((task.began, task.ended) for task in tasks if task.kind == "operator")
    communicating = union((task.began, task.ended) for task in tasks if task.kind == "collective")
    busy = union([*computing, *communicating])
    whole = [(busy[0][0], busy[-1][1])] if busy else []
    return {
        "Computing": computing,
        "Communication": communicating,
        "Communication(Not Overlapped)": difference(communicating, computing),
        "Free": difference(whole, busy),
    }
