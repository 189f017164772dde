"""All C++ tests of the simulated CANN under the compiler's sanitizers: memory, undefined behaviour, races.

`bin/test tests/slow/test_simulator_sanitized.py`
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sanitized import SUBJECTS, built, check_clean


@pytest.fixture(scope="session", params=["address,undefined", "thread"])
def executables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(request.param, SUBJECTS, tmp_path_factory)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject_is_clean(subject: str, executables: Path, tmp_path: Path) -> None:
    check_clean(subject, executables, tmp_path)
