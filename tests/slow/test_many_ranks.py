"""Sixteen ranks over the simulated HCCL, against gloo: `bin/test tests/slow/test_many_ranks.py`."""

from __future__ import annotations

from e2e.conftest import installed, simulated  # noqa: F401  # the fixtures
from e2e.main_job import Simulated
from e2e.test_simulator_distributed import launch, report


def test_sixteen_ranks(simulated: Simulated) -> None:  # noqa: F811
    told = report(launch(simulated, "collectives.py", 16, 4, 60))
    assert sum(told["tried"].values()) > 15
    told = report(launch(simulated, "data_parallel.py", 16))
    assert told["plain"] < 2e-6
