"""Operators, modules and optimizers of the simulated CANN against CPU torch, on PyTorch's own samples.

Some calls of a sample of the cases run here; ``bin/test tests/slow/test_every_conformity_case.py`` runs all.
What torch_npu itself limits is named in ``conformity_limits.py``, with the reason.
"""

from __future__ import annotations

from pathlib import Path

from e2e.conformity import names_of_cases, run_cases, unexpected, what_samples_need
from e2e.conformity_limits import LIMITS
from e2e.main_job import Installed

CALLS = 2  # of each case


def test_operators_modules_and_optimizers_agree_with_the_cpu(installed: Installed, tmp_path: Path) -> None:
    environ = what_samples_need(installed, tmp_path)
    outcomes = run_cases(installed, names_of_cases(installed, environ, every=False), environ, calls=CALLS)
    assert sum(outcome.compared for outcome in outcomes) > len(outcomes)
    assert unexpected(outcomes, LIMITS) == []
