"""The database `msprof_<time>.db`, in the tables and columns of CANN's that torch_npu joins with its own."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path

from .kernels import DTYPES, FORMATS
from .records import Call, Operand, Profile, Task
from .times import stamp

ACL_LEVEL, NODE_LEVEL = 20000, 10000

TABLES = {
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "ENUM_API_TYPE": "id INTEGER PRIMARY KEY, name TEXT",
    "CANN_API": "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, "
    "name INTEGER",
    "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
    "globalPid INTEGER, taskType INTEGER, streamId INTEGER, taskId INTEGER",
    "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER, blockNum INTEGER, taskType INTEGER, "
    "opType INTEGER, inputShapes INTEGER, inputDataTypes INTEGER, inputFormats INTEGER, "
    "outputShapes INTEGER, outputDataTypes INTEGER, outputFormats INTEGER",
    "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, "
    "groupName INTEGER, opId INTEGER, opType INTEGER",
    "MSTX_EVENTS": "startNs INTEGER, endNs INTEGER, eventType INTEGER, globalTid INTEGER, domainId INTEGER, "
    "message INTEGER, connectionId INTEGER",
}


class Strings:
    """The numbers that stand for texts."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        return self._ids.setdefault(text, len(self._ids))

    def rows(self) -> Iterable[tuple[int, str]]:
        """Each number with its text."""
        return ((number, text) for text, number in self._ids.items())


def write(profile: Profile, directory: Path) -> None:
    """Write the database anew."""
    path = directory / f"msprof_{stamp(profile.began)}.db"
    path.unlink(missing_ok=True)
    strings = Strings()
    computing = [task for task in profile.tasks if task.kind == "operator"]
    communicating = [task for task in profile.tasks if task.kind == "collective"]
    rows: dict[str, Iterable[Sequence[object]]] = {
        "ENUM_API_TYPE": [(ACL_LEVEL, "acl"), (NODE_LEVEL, "node")],
        "CANN_API": [*_calls(profile, strings), *_launches(profile, strings)],
        "TASK": [_task(profile, task, strings) for task in profile.tasks],
        "COMPUTE_TASK_INFO": [_computing(task, strings) for task in computing],
        "COMMUNICATION_OP": [_communicating(task, strings) for task in communicating],
        "MSTX_EVENTS": list(_annotations(profile, strings)),
    }
    with sqlite3.connect(path) as database:
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE {name} ({columns})")
        for name, content in {**rows, "STRING_IDS": strings.rows()}.items():
            places = ",".join("?" * (TABLES[name].count(",") + 1))
            database.executemany(f"INSERT INTO {name} VALUES ({places})", content)  # noqa: S608  # our names
    database.close()


def _thread(profile: Profile, thread: int) -> int:
    return profile.process << 32 | thread


def _calls(profile: Profile, strings: Strings) -> Iterable[Sequence[object]]:
    for call in profile.calls:
        thread = _thread(profile, call.thread)
        yield call.began, call.ended, ACL_LEVEL, thread, None, strings[call.name]


def _launches(profile: Profile, strings: Strings) -> Iterable[Sequence[object]]:
    """Within the call that queued it, from when it was queued: what CANN calls the launch of an operator."""
    calls: dict[int, list[Call]] = {}
    for call in profile.calls:
        calls.setdefault(call.thread, []).append(call)
    begins = {thread: [call.began for call in made] for thread, made in calls.items()}
    for task in profile.tasks:
        index = bisect_right(begins.get(task.thread, []), task.queued) - 1
        if index >= 0 and task.queued <= (ended := calls[task.thread][index].ended):
            thread = _thread(profile, task.thread)
            yield task.queued, ended, NODE_LEVEL, thread, task.id, strings["launch"]


def _task(profile: Profile, task: Task, strings: Strings) -> Sequence[object]:
    place = (task.device, task.id, task.id, profile.process, strings[task.core], task.stream, task.id)
    return (task.began, task.ended, *place)


def _computing(task: Task, strings: Strings) -> Sequence[object]:
    tensors = [strings[text] for side in (task.inputs, task.outputs) for text in _described(side)]
    return (strings[task.name], task.id, 1, strings[task.core], strings[task.type], *tensors)


def _described(operands: list[Operand]) -> list[str]:
    return [
        ";".join(",".join(map(str, operand.shape)) for operand in operands),
        ";".join(DTYPES.get(operand.dtype, str(operand.dtype)) for operand in operands),
        ";".join(FORMATS.get(operand.format, str(operand.format)) for operand in operands),
    ]


def _communicating(task: Task, strings: Strings) -> Sequence[object]:
    names = (strings[task.group], task.id, strings[task.type])
    return (strings[task.name], task.began, task.ended, task.id, *names)


def _annotations(profile: Profile, strings: Strings) -> Iterable[Sequence[object]]:
    for number, annotation in enumerate(profile.annotations):
        thread = _thread(profile, annotation.thread)
        texts = (strings[annotation.domain], strings[annotation.message])
        yield annotation.began, annotation.ended, strings[annotation.kind], thread, *texts, number
