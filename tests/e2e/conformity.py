"""What the conformity tests share: running cases of ``programs/conformity``, and judging what came out."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.conformity_limits import Limit
from e2e.main_job import Installed, beside

PROGRAM = "e2e.programs.conformity.run"
_TESTS = Path(__file__).parents[1]
_FAULTED = 3  # the device did not recover from a case; the rest is for another process
_SECONDS = 3600


@dataclass(frozen=True)
class Outcome:
    """A case that was run."""

    case: str
    compared: int
    problems: Sequence[str]


def what_samples_need(installed: Installed, folder: Path) -> dict[str, str]:
    """The environment of a process that makes PyTorch's samples."""
    environ = installed.environ() | beside(installed, ["expecttest==0.3.0"], folder)
    path = os.pathsep.join([str(_TESTS), environ["PYTHONPATH"]])
    # Without the task queue an operator that is refused raises where it is called.
    return environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "TASK_QUEUE_ENABLE": "0"}


def names_of_cases(installed: Installed, environ: Mapping[str, str], *, every: bool) -> list[str]:
    """The names of a sample of the cases, or of every case."""
    listed = _run(installed, environ, ["--list", *(["--every"] if every else [])], "")
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.split()


def run_cases(
    installed: Installed, names: Sequence[str], environ: Mapping[str, str], calls: int
) -> list[Outcome]:
    """The outcomes of cases, of each at most ``calls`` that are compared."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(names):
        left = names[len(outcomes) :]
        done = _run(installed, environ, ["--calls", str(calls)], "\n".join(left))
        outcomes += [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]
        if done.returncode not in {0, _FAULTED}:
            outcomes.append(Outcome(names[len(outcomes)], 0, [f"the process ended with {done.returncode}"]))
    return outcomes


def _run(
    installed: Installed, environ: Mapping[str, str], arguments: Sequence[str], given: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed.python, "-W", "ignore", "-m", PROGRAM, *arguments],
        env=dict(environ),
        input=given,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def implemented(installed: Installed) -> set[str]:
    """The names of the operators that the simulated CANN implements."""
    home = Path(installed.environ()["ASCEND_HOME_PATH"])
    return set((home / "share/info/simulator/operators.txt").read_text().split())


def operators_run(trace: Path) -> set[str]:
    """The names of the operators in a trace."""
    with trace.open() as lines:
        return {name[1] for line in lines if (name := re.search(r'"name": ?"(acl\w+)"', line))}


def unexpected(outcomes: Iterable[Outcome], limits: Sequence[Limit]) -> list[str]:
    """The problems that no limit explains."""
    return [
        f"{outcome.case}: {problem}"
        for outcome in outcomes
        for problem in outcome.problems
        if not any(limit.explains(outcome.case, problem) for limit in limits)
    ]


def unused(outcomes: Sequence[Outcome], limits: Sequence[Limit]) -> list[Limit]:
    """The limits that explain nothing: what they say is no longer so."""
    found = [(outcome.case, problem) for outcome in outcomes for problem in outcome.problems]
    return [limit for limit in limits if not any(limit.explains(*one) for one in found)]
