"""Run the tests of one file, in one process, or in as many as it crashes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefork import Start

from ascendenv.vocabulary import Outcome
from torch_npu_suite.files import is_program, looks_at_its_environment
from torch_npu_suite.results import CaseResult, FileResult
from torch_npu_suite.start import Fresh

BENCHMARKS = Path(__file__).parents[1]
CRASHES = 25  # after so many, what is left of a file did not run
TAIL = 4000
DISABLED_TESTS = "unsupported_test_cases/.pytorch-disabled-tests.json"


@dataclass(frozen=True)
class Limits:
    """In seconds."""

    test: float
    file: float


@dataclass(frozen=True)
class Place:
    """What the files of a run share: the environment's Python, a copy of the tests, the limits.

    With ``preforked``, a file whose process may be a fork gets one; if a test of it fails, all of it runs
    again in a fresh process, and that counts.
    """

    python: str
    tests: Path
    limits: Limits
    preforked: Start | None = None

    @property
    def fresh(self) -> Start:
        """Starts a process of its own."""
        return Fresh(self.python)


def run_file(place: Place, name: str, record: Path) -> FileResult:
    """Run ``name``; ``record`` is a file of its own that is not there yet."""
    file = place.tests / name
    if is_program(file):
        return _timed(lambda: {"main": _run_program(place, name, record)})
    if place.preforked and not looks_at_its_environment(file):
        preforked = place.preforked
        found = _timed(lambda: _run_with_pytest(place, name, record, preforked))
        if not found.failed():
            return found
        record.unlink(missing_ok=True)
    return _timed(lambda: _run_with_pytest(place, name, record, place.fresh))


def _timed(tests: Callable[[], dict[str, CaseResult]]) -> FileResult:
    begin = time.monotonic()
    found = tests()
    return FileResult(seconds=round(time.monotonic() - begin, 1), tests=found)


def _run_program(place: Place, name: str, record: Path) -> CaseResult:
    end = _one_process(place, [name], record, place.limits.file, place.fresh)
    if end.reason == "ended":
        return CaseResult(outcome=Outcome.PASSED)
    return CaseResult(outcome=Outcome.FAILED, reason=end.reason, detail=end.said)


def _run_with_pytest(place: Place, name: str, record: Path, start: Start) -> dict[str, CaseResult]:
    command = ["-m", "pytest", "-p", "torch_npu_suite.record", "-p", "no:cacheprovider", "-q"]
    command += ["--rootdir", str(place.tests), "-c", os.devnull, "--tb=short", name]
    deadline = time.monotonic() + place.limits.file
    for _ in range(CRASHES):
        end = _one_process(place, command, record, deadline - time.monotonic(), start)
        events = _events(record)
        if events and events[-1]["event"] == "finished":
            break
        if not _count_as_failed(record, events, end) or time.monotonic() > deadline:
            break
    return _tests(_events(record))


@dataclass(frozen=True)
class _End:
    """How a process ended: ``ended``, or what went wrong."""

    reason: str
    said: str


def _one_process(place: Place, arguments: list[str], record: Path, seconds: float, start: Start) -> _End:
    # What the suite's own runner does: from the folder of the tests, which some look for files in.
    ended = start(arguments, _environ(os.environ, place, record), place.tests, seconds)
    said = (ended.stdout + ended.stderr)[-TAIL:]
    if ended.code is None:
        return _End(f"hung: its file had not ended after {place.limits.file:g} s", said)
    if ended.code < 0:
        return _End(f"crashed: {signal.Signals(-ended.code).name}", said)
    if "Timeout (" in ended.stderr:
        return _End(f"hung: it had not ended after {place.limits.test:g} s", said)
    return _End(f"crashed: exit code {ended.code}" if ended.code else "ended", said)


def _environ(environ: Mapping[str, str], place: Place, record: Path) -> dict[str, str]:
    paths = [str(BENCHMARKS), environ.get("PYTHONPATH", "")]
    # Tests that compile link against stubs, which a build of torch_npu leaves in its checkout.
    libraries = [f"{environ.get('ASCEND_HOME_PATH', '')}/lib64", environ.get("LIBRARY_PATH", "")]
    return {
        **environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "LIBRARY_PATH": os.pathsep.join(filter(None, libraries)),
        "CONFORMANCE_RECORD": str(record),
        "CONFORMANCE_SECONDS": str(place.limits.test),
        "DISABLED_TESTS_FILE": str(place.tests / DISABLED_TESTS),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
    }


def _count_as_failed(record: Path, events: list[dict[str, Any]], end: _End) -> bool:
    """Write the end of the test that the process died in; whether there is more to run after it."""
    ended = {event["test"] for event in events if event["event"] == "end"}
    begun = [event["test"] for event in events if event["event"] == "start"]
    died = next((test for test in reversed(begun) if test not in ended), None if events else "import")
    if died:
        failed = {"event": "end", "test": died, "outcome": "failed", "reason": end.reason, "detail": end.said}
        with record.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(failed) + "\n")
    return died not in {None, "import"}


def _tests(events: list[dict[str, Any]]) -> dict[str, CaseResult]:
    """The tests by their names in the file."""
    never = CaseResult(outcome=Outcome.NOT_RUN, reason="did not run: its file ended before")
    collected = [test for event in events if event["event"] == "collected" for test in event["tests"]]
    found = dict.fromkeys(collected, never)
    found |= {event["test"]: CaseResult.model_validate(event) for event in events if event["event"] == "end"}
    return {name.partition("::")[2] or name: test for name, test in found.items()}


def _events(record: Path) -> list[dict[str, Any]]:
    if not record.exists():
        return []
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
