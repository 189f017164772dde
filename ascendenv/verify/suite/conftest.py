"""The suite as a pytest plugin: order by layer, stop above a failed layer, write the journal, limit the time.

It runs in the environment's Python, where ascendenv itself cannot be imported.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Generator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import pytest
from suite_checks import LAYERS, Declared, declared

DECLARED = pytest.StashKey[Declared]()
Phases = list[tuple[pytest.TestReport, pytest.CallInfo[None]]]

PHASES = pytest.StashKey[Phases]()
SEEN = pytest.StashKey[str]()
SUITE = Path(__file__).parent
OUTPUT_LINES = 20


class Journal:
    """The file that the runner reads; see ``ascendenv/verify/journal.py`` for its events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished: set[str] = set()
        self.failed: dict[str, str] = {}
        for event in self.events():
            if event["event"] == "finish":
                self._remember(event["id"], event["outcome"])

    def events(self) -> list[dict[str, Any]]:
        """What earlier processes of the same run have written."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return [json.loads(line) for line in lines]

    def write(self, event: str, **fields: object) -> None:
        """Add an event; it is in the file when this returns."""
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps({"event": event, **fields}).encode() + b"\n")

    def finish(self, id_: str, outcome: str, seconds: float, detail: str, output: str = "") -> None:
        """Write down the outcome of a check."""
        self.write("finish", id=id_, outcome=outcome, seconds=round(seconds, 3), detail=detail, output=output)
        self._remember(id_, outcome)

    def _remember(self, id_: str, outcome: str) -> None:
        self.finished.add(id_)
        if outcome == "failed":
            self.failed.setdefault(id_.split(".", 1)[0], id_)

    def blocked(self, check: Declared) -> str | None:
        """Why a check cannot be run: the lowest failed layer below its own."""
        below = LAYERS[: LAYERS.index(check.layer)]
        layer = next((layer for layer in below if layer in self.failed), None)
        return None if layer is None else f"not run: layer {layer} failed: {self.failed[layer]}"


class Plugin:
    """Hooks of pytest that need the journal."""

    def __init__(self, journal: Journal, trace: IO[str], limit: float) -> None:
        self.journal = journal
        self.trace = trace
        self.limit = limit
        self.layer: str | None = None
        self._limit_time()

    def _limit_time(self) -> None:
        """End this process unless it comes to its next check, or to its end, in time.

        The timer needs no interpreter lock, so it also ends what hangs inside a native call.
        """
        faulthandler.dump_traceback_later(self.limit, exit=True, file=self.trace)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        """Order the checks by layer."""
        items.sort(key=lambda item: LAYERS.index(item.stash[DECLARED].layer))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say which checks there are."""
        if session.testsfailed == 0:
            plan = [asdict(item.stash[DECLARED]) for item in session.items]
            self.journal.write("plan", checks=plan)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run a check unless it is done, a layer below it failed, or its turn comes in another process."""
        check = item.stash[DECLARED]
        if check.id in self.journal.finished:
            return True
        reason = self.journal.blocked(check)
        if reason is not None:
            self.journal.finish(check.id, "not_run", 0.0, reason)
            return True
        if self.layer not in (None, check.layer):
            # Each layer gets an interpreter: what one leaves in a process must not help or harm the next.
            item.session.shouldstop = f"layer {self.layer} is done"
            return True
        self.layer = check.layer
        self.journal.write("start", id=check.id)
        self._limit_time()
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write the outcome down when the last phase of a check is over."""
        report = yield
        phases = item.stash.setdefault(PHASES, [])
        phases.append((report, call))
        if report.when == "teardown":
            self._finish(item, phases)
            self._limit_time()
        return report

    def _finish(self, item: pytest.Item, phases: Phases) -> None:
        outcome, detail = _judge(phases)
        seconds = sum(report.duration for report, _ in phases)
        output = _tail(phases[-1][0]) if outcome == "failed" else ""
        self.journal.finish(
            item.stash[DECLARED].id, outcome, seconds, detail or item.stash.get(SEEN, ""), output
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say whether anything is left for another process."""
        if session.items and all(item.stash[DECLARED].id in self.journal.finished for item in session.items):
            self.journal.write("end")


def pytest_configure(config: pytest.Config) -> None:
    """Open the journal and the file that a dying interpreter writes its last frames to."""
    config.addinivalue_line("markers", "check(id, title, advice): a check of the verification suite")
    path = Path(os.environ["ASCENDENV_VERIFY_REPORT"])
    trace = path.with_suffix(".trace").open("w", encoding="utf-8")
    faulthandler.enable(trace)
    limit = float(os.environ.get("ASCENDENV_VERIFY_LIMIT", "120"))
    config.pluginmanager.register(Plugin(Journal(path), trace, limit), "ascendenv-verify")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Read what the test declares, so that a selection is over ids."""
    if not isinstance(item, pytest.Function):
        raise TypeError(f"{item.nodeid} is no test function")
    item.stash[DECLARED] = declared(item)
    item.extra_keyword_matches.add(item.stash[DECLARED].id)


def _judge(phases: Phases) -> tuple[str, str]:
    for report, call in phases:
        if report.failed and call.excinfo is not None:
            told = call.excinfo.exconly(tryshort=True).removeprefix("AssertionError: ")
            return "failed", told + _place(call.excinfo)
        if report.skipped and call.excinfo is not None:
            return "skipped", str(call.excinfo.value)
    return "passed", ""


def _place(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    own = [entry for entry in excinfo.traceback if Path(entry.path).parent == SUITE]
    return f" ({Path(own[-1].path).name}:{own[-1].lineno + 1})" if own else ""


def _tail(report: pytest.TestReport) -> str:
    lines = (report.capstdout + report.capstderr).splitlines()
    return "\n".join(lines[-OUTPUT_LINES:])


class Told:
    """What a check says about itself beside passing."""

    def __init__(self, item: pytest.Item, journal: Journal) -> None:
        self._item = item
        self._journal = journal

    def seen(self, text: str) -> None:
        """Put what was seen into the detail of a check that passes."""
        self._item.stash[SEEN] = text

    def device(self, *, soc: str, count: int) -> None:
        """Tell the report what it is about."""
        self._journal.write("device", soc=soc, count=count)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Told:
    """For what a check wants to say beside passing."""
    plugin = request.config.pluginmanager.get_plugin("ascendenv-verify")
    assert isinstance(plugin, Plugin)
    return Told(request.node, plugin.journal)


@pytest.fixture(scope="session")
def limit() -> float:
    """Seconds that child processes of a check get: less than the check, which says which one hangs."""
    return 0.8 * float(os.environ.get("ASCENDENV_VERIFY_LIMIT", "120"))


@pytest.fixture(scope="session")
def probe() -> ModuleType:
    """The device-runtime probe: the lowest layer, without torch."""
    return import_module("ascendenv_device_probe")


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch with its NPU backend. As a fixture, a failing import fails checks and not the collection."""
    module = import_module("torch")
    import_module("torch_npu")
    return module
