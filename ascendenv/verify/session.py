"""Run a suite in an environment's Python to its end, whatever becomes of the interpreters on the way."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ascendenv import process
from ascendenv.errors import AscendenvError, ExitCode, UsageError
from ascendenv.verify.journal import Journal, followed
from ascendenv.verify.model import Check
from ascendenv.vocabulary import Outcome

PYTEST_USAGE_ERROR = 4
PYTEST_NOTHING_SELECTED = 5
TRACE_LINES = 8


class VerificationError(AscendenvError):
    """The suite could not be run at all, which says nothing about the devices."""

    exit_code = ExitCode.PROBLEM_FOUND
    code = "verify"


@dataclass(frozen=True)
class Limits:
    """Seconds that each check and the whole run may take."""

    check: float = 120.0
    run: float = 1800.0


@dataclass(frozen=True)
class Session:
    """How to run a suite.

    ``tools`` is the folder with pytest; ``scratch`` is an empty folder for the journal and what CANN leaves
    in the working directory.
    """

    python: Path
    environ: Mapping[str, str]
    suite: Path
    tools: Path
    scratch: Path
    limits: Limits = Limits()
    select: str | None = None

    def run(self, on_check: Callable[[Check], None]) -> Journal:
        """Run the checks, tell ``on_check`` of each as it finishes, return what is written down.

        The suite ends its interpreter after each layer and is started again for the next. When an
        interpreter dies or hangs in a check, that check has failed and a new one goes on with the rest.
        Raises :class:`~ascendenv.errors.UsageError` for a selection that is wrong or empty.
        """
        journal = Journal(self.scratch / "journal.jsonl")
        deadline = time.monotonic() + self.limits.run
        with followed(journal, on_check):
            while not journal.ended():
                self._go_on(journal, deadline)
        return journal

    def _go_on(self, journal: Journal, deadline: float) -> None:
        left = len(journal.unfinished())
        started = time.monotonic()
        try:
            completed = process.run(
                self._command(),
                env=self._child_environ(journal),
                cwd=self.scratch,
                timeout=max(0.0, deadline - started),
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._give_up(journal, f"the time limit of {self.limits.run:g} s for the whole run was reached")
            return
        if journal.ended():
            return
        self._raise_unless_begun(journal, completed)
        running = journal.running()
        if running is not None:
            reason = self._cause_of_death(completed.returncode)
            seconds = round(time.monotonic() - started, 3)
            journal.finish(running, Outcome.FAILED, reason, seconds, output=_tail(completed))
        elif len(journal.unfinished()) == left:
            self._give_up(journal, f"the interpreter died between checks: {_exit(completed.returncode)}")

    def _command(self) -> list[str | Path]:
        selection = [] if self.select is None else ["-k", self.select]
        return [self.python, self.suite / "run.py", self.tools, *selection]

    def _child_environ(self, journal: Journal) -> dict[str, str]:
        theirs = {name: value for name, value in self.environ.items() if name not in _PYTEST_VARIABLES}
        return {
            **theirs,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "ASCENDENV_VERIFY_REPORT": str(journal.path),
            "ASCENDENV_VERIFY_LIMIT": str(self.limits.check),
        }

    def _raise_unless_begun(self, journal: Journal, completed: process.Completed) -> None:
        if completed.returncode == PYTEST_NOTHING_SELECTED:
            raise UsageError(
                f"no check matches `{self.select}`", hint="`-k tensor` selects a layer, `-k matmul` a kind"
            )
        if completed.returncode == PYTEST_USAGE_ERROR and self.select is not None:
            raise UsageError(
                f"`{self.select}` is not a selection: {_tail(completed)}",
                hint="try `-k 'tensor and not mlp'`",
            )
        if not journal.plan():
            raise VerificationError(
                f"the suite could not be started with {self.python}: {_exit(completed.returncode)}\n"
                f"{_tail(completed)}",
                hint="`ascendenv doctor` looks at this environment without running anything in it",
            )

    def _give_up(self, journal: Journal, reason: str) -> None:
        running = journal.running()
        if not journal.plan():
            raise VerificationError(f"the suite did not start: {reason}")
        for id_ in journal.unfinished():
            if id_ == running:
                journal.finish(id_, Outcome.FAILED, reason)
            else:
                journal.finish(id_, Outcome.NOT_RUN, f"not run: {reason}")
        journal.end()

    def _cause_of_death(self, returncode: int) -> str:
        trace = _read(self.scratch / "journal.trace")
        frames = "\n".join(line for line in trace.splitlines() if line.startswith("  File"))
        where = "\n".join(frames.splitlines()[:TRACE_LINES])
        if trace.startswith("Timeout"):
            return f"no answer within {self.limits.check:g} s; it was in\n{where}"
        return f"the interpreter died ({_exit(returncode)})" + (f" in\n{where}" if where else "")


_PYTEST_VARIABLES = frozenset({"PYTEST_ADDOPTS", "PYTEST_PLUGINS"})


def _exit(returncode: int) -> str:
    return f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"


def _tail(completed: process.Completed) -> str:
    text = completed.stderr if completed.stderr.strip() else completed.stdout
    return "\n".join(text.strip().splitlines()[-process.TAIL_LINES :])


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
