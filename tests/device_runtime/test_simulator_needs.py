"""The simulated CANN has what the wheels of every supported torch_npu ask for, as their own files say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from device_runtime_builds import build_simulator, cache_directory, environment
from torch_npu_needs import DATA, OPERATORS, parse

NEEDS = parse(DATA.read_text())

# What the libraries of torch_npu that an import loads name as needed.
LIBRARIES = [
    f"lib{name}.so"
    for name in ("hccl", "ascendcl", "acl_op_compiler", "ge_runner", "graph", "acl_tdt_channel")
]


@pytest.fixture(scope="session")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


def missing(cann: Path, libraries: list[str], names: list[str]) -> list[str]:
    """Those of the names that none of the libraries exports."""
    program = f"""
import ctypes, sys
libraries = [ctypes.CDLL(name) for name in {libraries}]
for name in sys.stdin.read().split():
    if not any(hasattr(library, name) for library in libraries):
        print(name)
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(cann),
        input="\n".join(names),
        text=True,
        capture_output=True,
        check=True,
    )
    return run.stdout.split()


def test_every_function_that_an_import_needs_is_there(cann: Path) -> None:
    assert missing(cann, LIBRARIES, list(NEEDS.functions)) == []


def test_every_operator_is_known(cann: Path) -> None:
    names = [name + phase for name in NEEDS.operators for phase in ("GetWorkspaceSize", "")]
    assert missing(cann, ["libopapi.so"], names) == []


def test_the_look_up_can_fail(cann: Path) -> None:
    assert missing(cann, ["libopapi.so"], ["aclnnAbs", "aclnnNoSuchOperator"]) == ["aclnnNoSuchOperator"]


def test_the_data_is_canonical() -> None:
    assert NEEDS.dump() == DATA.read_text()
    assert {"2.7.1", "2.14.0"} <= set(NEEDS.versions)
    listed = [line for line in OPERATORS.read_text().splitlines() if not line.startswith("#")]
    assert listed == sorted(NEEDS.operators)
