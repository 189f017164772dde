"""Which files of a checkout count, and why the others do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from torch_npu_suite.results import TOP_LEVEL

FOLDERS = (
    "optim",
    "autograd",
    "allocator",
    "trans_contiguous",
    "nn",
    "npu",
    TOP_LEVEL,
    "contrib",
    "custom_ops",
    "distributed",
    "profiler",
)
WITH_TORCH = {"functorch"}  # a folder of tests bears this name too, but the package comes with torch


def find(tests: Path, folder: str) -> tuple[list[str], dict[str, str]]:
    """The files of ``folder`` that count, and those that do not with the reason, by path below ``tests``."""
    pattern = "test_*.py" if folder == TOP_LEVEL else f"{folder}/**/test_*.py"
    names = sorted(path.relative_to(tests).as_posix() for path in tests.glob(pattern))
    blocked = _left_out_of_ci(tests)
    counted, left_out = [], {}
    for name in names:
        reason = _why_not(tests, name, blocked)
        if reason:
            left_out[name] = reason
        else:
            counted.append(name)
    return counted, left_out


def is_program(file: Path) -> bool:
    """Whether ``file`` runs its tests from a ``main`` of its own, which starts the ranks that they need."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = {statement.name for statement in body if isinstance(statement, ast.FunctionDef)}
    cases = [statement for statement in body if isinstance(statement, ast.ClassDef)]
    return "main" in functions and not any(
        "TestCase" in ast.unparse(base) for case in cases for base in case.bases
    )


def looks_at_its_environment(file: Path) -> bool:
    """Whether ``file`` reads or sets variables, which must hold before torch_npu is imported."""
    return "environ" in file.read_text(encoding="utf-8")


def _why_not(tests: Path, name: str, blocked: frozenset[str]) -> str | None:
    if name.removesuffix(".py") in blocked:
        return "torch_npu's own ordinary CI leaves it out"
    missing = _missing_module(tests, tests / name)
    return f"needs {missing} of upstream PyTorch's tests" if missing else None


def _left_out_of_ci(tests: Path) -> frozenset[str]:
    """``SLOW_TEST_BLOCKLIST``: mostly sweeps over all operators of PyTorch, tens of thousands of tests."""
    constants = tests.parent / "ci/access_control/constants.py"
    for statement in ast.parse(constants.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="SLOW_TEST_BLOCKLIST")], value=value):
                return frozenset(ast.literal_eval(value))
    raise ValueError(f"{constants} has no SLOW_TEST_BLOCKLIST")


@cache
def _missing_module(tests: Path, file: Path) -> str | None:
    """The first module of the tests themselves that ``file`` needs and that is not there.

    Some of torch_npu's tests are completed by files of upstream PyTorch's ``test/`` folder.
    """
    for module in _imports(file):
        top = module.partition(".")[0]
        found = tests.joinpath(*module.split("."))
        if "." in module and top not in WITH_TORCH and (tests / top).is_dir() and not _importable(found):
            return found.with_suffix(".py").relative_to(tests).as_posix()
        needed = found.with_suffix(".py")
        if needed.exists() and needed != file and (missing := _missing_module(tests, needed)):
            return missing
    return None


def _importable(module: Path) -> bool:
    return module.is_dir() or module.with_suffix(".py").exists()


def _imports(file: Path) -> Iterator[str]:
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
