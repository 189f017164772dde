"""No races in the queues, events and memory of the simulated runtime.

To build everything with all sanitizers takes minutes: `bin/test tests/slow/test_simulator_sanitized.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sanitized import built, check_clean

SUBJECTS = ["abort_test", "event_test", "memory_stress_test", "stream_test"]


@pytest.fixture(scope="session")
def executables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("thread", SUBJECTS, tmp_path_factory)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject_is_free_of_races(subject: str, executables: Path, tmp_path: Path) -> None:
    check_clean(subject, executables, tmp_path)
