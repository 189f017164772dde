"""A pytest plugin that writes down what happens as it happens, so that a crash loses one test and no more.

It runs in the environment under test, with nothing but pytest. ``CONFORMANCE_RECORD`` names a file of JSON
lines: ``collected`` with the tests of the file, ``start`` and ``end`` for each, ``finished`` at the end.
What an earlier process has begun is not run again.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from pathlib import Path

import pytest

RECORD = Path(os.environ["CONFORMANCE_RECORD"])
SECONDS = float(os.environ["CONFORMANCE_SECONDS"])
KEPT = 4000  # characters of a failure's text: enough for the error of a child process in it
# Not sys.stderr, which pytest replaces while a test runs.
_STDERR = os.fdopen(os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2), "w")


class _Outcome:
    """What the phases of one test, and its subtests, come to."""

    def __init__(self) -> None:
        self.outcome = "passed"
        self.reason = ""
        self.detail = ""

    def add(self, report: pytest.TestReport) -> None:
        if report.failed and self.outcome != "failed":
            self.outcome = "failed"
            self.reason, self.detail = _failure(report)
        elif report.skipped and self.outcome == "passed" and not hasattr(report, "wasxfail"):
            self.outcome = "skipped"
            self.reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""


_running: dict[str, _Outcome] = {}


def _write(event: str, **values: object) -> None:
    with RECORD.open("a", encoding="utf-8") as record:
        record.write(json.dumps({"event": event, **values}) + "\n")


def _failure(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str]:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext
    reason = crash.message if crash else text.strip().rpartition("\n")[2]
    printed = "".join(f"\n--- {name}\n{content[-KEPT:]}" for name, content in report.sections)
    return reason[:KEPT], text[-KEPT:] + printed


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported is one failure; one that skips itself is one skip."""
    if report.failed:
        reason, detail = _failure(report)
        _write("end", test="import", outcome="failed", reason=reason, detail=detail)
    elif report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _write("end", test="import", outcome="skipped", reason=reason, detail="")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what an earlier process has begun."""
    begun = set()
    if RECORD.exists():
        events = map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())
        begun = {event["test"] for event in events if event["event"] == "start"}
    left = [item for item in items if item.nodeid not in begun]
    if not begun:
        _write("collected", tests=[item.nodeid for item in items])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in begun])
    items[:] = left


def pytest_runtest_logstart(nodeid: str) -> None:
    """A test that has no end after this one crashed or hung."""
    _write("start", test=nodeid)
    _running[nodeid] = _Outcome()
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=_STDERR)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One phase of a test, or one of its subtests."""
    _running[report.nodeid].add(report)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """All phases are over."""
    faulthandler.cancel_dump_traceback_later()
    ended = _running.pop(nodeid)
    _write("end", test=nodeid, outcome=ended.outcome, reason=ended.reason, detail=ended.detail)


def pytest_sessionfinish() -> None:
    """Nothing is left to run. Whatever goes wrong from here on, such as in an exit handler, fails no test."""
    _write("finished")
