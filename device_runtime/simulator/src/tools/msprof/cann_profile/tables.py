"""The tables: one row a run, an operator or a function, in the columns of CANN's."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, pvariance

from .kernels import DTYPES, FORMATS
from .records import Call, Operand, Profile, Task
from .times import microseconds, stamp

Row = Sequence[object]

SUMMARY = (
    "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Num,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats"
)
STATISTIC = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
TASKS = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"
CALLS = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
ANNOTATIONS = "pid,tid,event_type,Start_time(us),End_time(us),Domain,Message"


def write(profile: Profile, directory: Path) -> None:
    """Write every table, also those without a row: torch_npu waits for the first."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, header, rows in (
        ("op_summary", SUMMARY, summary(profile.tasks)),
        ("op_statistic", STATISTIC, statistic(profile.tasks)),
        ("task_time", TASKS, task_time(profile.tasks)),
        ("api_statistic", CALLS, api_statistic(profile.calls)),
        ("msprof_tx", ANNOTATIONS, marks(profile)),
    ):
        with (directory / f"{name}_{stamp(profile.began)}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header.split(","), *rows])


def summary(tasks: list[Task]) -> Iterable[Row]:
    """Operators and collectives, with the time their device had to wait for each."""
    free: dict[int, int] = {}
    for task in tasks:
        if task.kind not in {"operator", "collective"}:
            continue
        waited = max(0, task.began - free.get(task.device, task.began))
        free[task.device] = max(task.ended, free.get(task.device, 0))
        times = [microseconds(time) for time in (task.began, task.duration, waited)]
        # One thread of the host runs it.
        yield [
            *(task.device, task.id, task.stream, task.name, task.type, task.core, *times, 1),
            *described(task.inputs),
            *described(task.outputs),
        ]


def described(operands: list[Operand]) -> list[str]:
    """Shapes, dtypes and formats of the tensors, each in one field."""
    shapes = ";".join(",".join(map(str, operand.shape)) for operand in operands)
    dtypes = ";".join(DTYPES.get(operand.dtype, str(operand.dtype)) for operand in operands)
    formats = ";".join(FORMATS.get(operand.format, str(operand.format)) for operand in operands)
    return [f'"{shapes}"', dtypes, formats] if operands else ["N/A"] * 3


def statistic(tasks: list[Task]) -> Iterable[Row]:
    """Each type of operator on each device."""
    totals: dict[int, int] = {}
    durations: dict[tuple[int, str, str], list[int]] = {}
    for task in tasks:
        if task.kind in {"operator", "collective"}:
            durations.setdefault((task.device, task.type, task.core), []).append(task.duration)
            totals[task.device] = totals.get(task.device, 0) + task.duration
    for (device, kind, core), taken in sorted(durations.items(), key=lambda item: -sum(item[1])):
        times = [microseconds(round(time)) for time in (sum(taken), min(taken), fmean(taken), max(taken))]
        ratio = round(100 * sum(taken) / (totals[device] or 1), 3)
        yield [device, kind, core, len(taken), *times, ratio]


def task_time(tasks: list[Task]) -> Iterable[Row]:
    """Whatever ran on a stream."""
    for task in tasks:
        times = [microseconds(time) for time in (task.duration, task.began, task.ended)]
        yield [task.device, task.name, task.core, task.stream, task.id, *times]


def api_statistic(calls: list[Call]) -> Iterable[Row]:
    """Each function of the interface."""
    durations: dict[str, list[int]] = {}
    for call in calls:
        durations.setdefault(call.name, []).append(call.ended - call.began)
    for name, taken in sorted(durations.items()):
        average, least, most = (microseconds(round(time)) for time in (fmean(taken), min(taken), max(taken)))
        variance = round(pvariance(time / 1000 for time in taken), 3)
        yield ["host", "acl", name, microseconds(sum(taken)), len(taken), average, least, most, variance]


def marks(profile: Profile) -> Iterable[Row]:
    """Marks and ranges on the host."""
    for annotation in profile.annotations:
        times = [microseconds(annotation.began), microseconds(annotation.ended)]
        place = [profile.process, annotation.thread]
        yield [*place, annotation.kind, *times, annotation.domain, annotation.message]
