"""Every conformity case: `bin/test tests/slow/test_every_conformity_case.py -n0 -s`, a quarter of an hour.

It prints what it did and which operators no case runs; most of these have tests of their own. It fails for a
problem without a named limit, and for a limit that is not there any more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from e2e.conformity import (
    Outcome,
    implemented,
    names_of_cases,
    operators_run,
    run_cases,
    unexpected,
    unused,
    what_samples_need,
)
from e2e.conformity_limits import LIMITS
from e2e.conftest import installed  # noqa: F401  # the fixture
from e2e.main_job import Installed


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conformity") / "trace.jsonl"


@pytest.fixture(scope="module")
def outcomes(installed: Installed, trace: Path) -> list[Outcome]:  # noqa: F811
    environ = what_samples_need(installed, trace.parent)
    names = names_of_cases(installed, environ, every=True)
    return run_cases(installed, names, environ | {"ASCENDENV_SIM_TRACE": str(trace)}, calls=1000)


def test_operators_modules_and_optimizers_agree_with_the_cpu(
    installed: Installed,  # noqa: F811
    outcomes: Sequence[Outcome],
    trace: Path,
) -> None:
    told = " ".join(problem for outcome in outcomes for problem in outcome.problems)
    refused = sorted(set(re.findall(r"refused (\w+)", told)))
    ran, known = operators_run(trace), implemented(installed)
    print(  # noqa: T201  # what the test is run for
        f"\n{len(outcomes)} cases, {sum(outcome.compared for outcome in outcomes)} calls compared;"
        f" {sum(bool(outcome.problems) for outcome in outcomes)} cases with problems;"
        f" {len(ran & known)} of {len(known)} operators ran; refused: {refused}"
        f"\nnot run: {' '.join(sorted(known - ran))}"
    )
    assert unexpected(outcomes, LIMITS) == []


def test_every_limit_that_is_named_is_there(outcomes: Sequence[Outcome]) -> None:
    assert [limit.reason for limit in unused(outcomes, LIMITS)] == []
