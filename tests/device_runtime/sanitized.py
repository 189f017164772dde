"""The C++ tests of the simulated runtime under the compiler's sanitizers. Nothing is suppressed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from device_runtime_builds import SOURCES, build_sanitized_tests, cache_directory

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SUBJECTS = sorted(path.stem for path in (SOURCES / "simulator" / "tests").glob("*_test.cpp"))


def built(sanitizers: str, subjects: list[str], factory: pytest.TempPathFactory) -> Path:
    """Directory of these tests' executables."""
    return build_sanitized_tests(cache_directory(factory), sanitizers, subjects)


def check_clean(subject: str, executables: Path, scratch: Path) -> None:
    """A sanitizer that finds something ends the program with a failure."""
    completed = subprocess.run(
        [executables / subject],
        cwd=scratch,
        env={
            "PATH": "/usr/bin:/bin",
            "ASCENDENV_SIM_STATE": str(scratch),
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert completed.stdout.splitlines()[-1] == "all checks hold"
