"""The file through which the suite, in the environment's Python, tells the runner what it does.

One JSON object a line, written as things happen, so that a dying interpreter takes nothing with it:

- ``{"event": "plan", "checks": [{id, layer, title, proves, advice}]}`` once the suite knows its checks,
- ``{"event": "start", "id": ...}`` and ``{"event": "finish", "id": ..., outcome, seconds, detail, output}``,
- ``{"event": "device", soc, count}`` as soon as the probe has seen the devices,
- ``{"event": "end"}`` when every check of the plan has an outcome.

A suite that is started again on the same journal goes on after the checks that are finished in it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendenv.verify.model import Check
from ascendenv.vocabulary import Outcome

POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Journal:
    """A journal file; absent is empty."""

    path: Path

    def events(self) -> list[dict[str, Any]]:
        """All events so far. A line that is still being written is left out."""
        if not self.path.exists():
            return []
        whole = self.path.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def plan(self) -> list[dict[str, str]]:
        """The checks of the suite in order, each with id, layer, title, proves and advice."""
        return next((event["checks"] for event in self.events() if event["event"] == "plan"), [])

    def device(self) -> dict[str, Any]:
        """``soc`` and ``count`` as the probe saw them; empty when it did not come to that."""
        seen = [event for event in self.events() if event["event"] == "device"]
        return {key: seen[-1][key] for key in ("soc", "count")} if seen else {}

    def running(self) -> str | None:
        """The id of the check that was started and not finished."""
        events = self.events()
        finished = {event["id"] for event in events if event["event"] == "finish"}
        started = [event["id"] for event in events if event["event"] == "start"]
        return next((id_ for id_ in reversed(started) if id_ not in finished), None)

    def ended(self) -> bool:
        """Whether the suite came to its end."""
        return any(event["event"] == "end" for event in self.events())

    def checks(self) -> list[Check]:
        """The finished checks, in the plan's order."""
        finished = {event["id"]: event for event in self.events() if event["event"] == "finish"}
        return [
            _check(planned, finished[planned["id"]]) for planned in self.plan() if planned["id"] in finished
        ]

    def unfinished(self) -> list[str]:
        """The ids of the checks that have no outcome yet."""
        done = {check.id for check in self.checks()}
        return [planned["id"] for planned in self.plan() if planned["id"] not in done]

    def finish(self, id_: str, outcome: Outcome, detail: str, seconds: float = 0.0, output: str = "") -> None:
        """Write down the outcome of a check whose process could not do so itself."""
        what = {"outcome": str(outcome), "seconds": seconds, "detail": detail, "output": output}
        self._write({"event": "finish", "id": id_, **what})

    def end(self) -> None:
        """Write down that nothing more will come."""
        self._write({"event": "end"})

    def _write(self, event: Mapping[str, object]) -> None:
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(event).encode() + b"\n")


@contextmanager
def followed(journal: Journal, on_check: Callable[[Check], None]) -> Iterator[None]:
    """Call ``on_check`` once for each check that finishes inside the block, in the order of finishing.

    The calls come from a thread. All of them are made by the time the block is left in an orderly way.
    """
    told: set[str] = set()
    left = threading.Event()

    def tell() -> None:
        for check in journal.checks():
            if check.id not in told:
                on_check(check)
                told.add(check.id)

    def follow() -> None:
        while not left.wait(POLL_SECONDS):
            try:
                tell()
            except Exception:  # noqa: BLE001  # the last call below meets it again, where the caller sees it
                return

    follower = threading.Thread(target=follow, name="verify-journal", daemon=True)
    follower.start()
    try:
        yield
    finally:
        left.set()
        follower.join()
    tell()


def _check(planned: Mapping[str, str], finished: Mapping[str, Any]) -> Check:
    told = {key: finished[key] for key in ("outcome", "seconds", "detail", "output")}
    return Check.model_validate({**planned, **told})
