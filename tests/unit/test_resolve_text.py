"""What plans and refusals look like, held still in `tests/golden`.

After a change that is meant, write the files anew and read the difference before it is committed:
`ASCENDENV_WRITE_GOLDEN=1 python -m pytest tests/unit/test_resolve_text.py`.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from planning import EVERYTHING, Shelf, ask, chosen, target
from rich.console import Console

from ascendenv.errors import NetworkError
from ascendenv.render.text import print_message, render
from ascendenv.resolve.model import Package, Plan, Reason, Request, Target
from ascendenv.resolve.resolver import Choice
from ascendenv.result import Message

GOLDEN = Path(__file__).parents[1] / "golden"
WIDTH = 100
PACKAGES = tuple(
    Package(name=name, version="1", url=f"https://example.org/{name}.whl", sha256="0" * 64, size=1000)
    for name in ("torch", "torch-npu", "numpy", "pyyaml")
)

CASES: dict[str, tuple[Request, Target, Shelf]] = {
    "plan-newest": (Request(), target(), EVERYTHING),
    "plan-aarch64-cuda-trap": (Request(cann="9.1.0"), target("aarch64", chip="910b"), EVERYTHING),
    "plan-passed-over": (
        Request(cann="9.1.0"),
        target("aarch64"),
        Shelf(without=("torch 2.12.0+cpu", "torch 2.11.0+cpu")),
    ),
    "plan-cpu-index-unreachable": (Request(), target("aarch64"), Shelf(unreachable=True)),
    "plan-declared": (
        Request(cann="9.0.0", torch_npu="2.7.1.post8", allow_declared=True),
        target("aarch64"),
        EVERYTHING,
    ),
    "plan-preview": (Request(torch_npu="2.5.1rc1"), target("aarch64", "3.10"), EVERYTHING),
    "refusal-cann-torch": (Request(cann="9.1.0", torch="2.6.0"), target("aarch64"), EVERYTHING),
    "refusal-cann-torch-npu": (Request(cann="9.0.0", torch_npu="2.7.1.post8"), target("aarch64"), EVERYTHING),
    "refusal-torch-torch-npu": (Request(torch="2.9.0", torch_npu="2.12.0"), target("aarch64"), EVERYTHING),
    "refusal-nothing-fits": (
        Request(cann="9.1.0", torch="2.5.1", torch_npu="2.6.0.post5"),
        target("aarch64", "3.13", chip="a3"),
        EVERYTHING,
    ),
    "refusal-no-wheel-for-python": (
        Request(torch_npu="2.10.0.post6"),
        target("x86_64", "3.12"),
        EVERYTHING,
    ),
    "refusal-unsure-nearest": (
        Request(torch_npu="2.12.0"),
        target("x86_64", "3.14"),
        Shelf(unreachable=True),
    ),
    "refusal-cann-python": (Request(cann="8.0.0"), target("aarch64", "3.12"), EVERYTHING),
    "refusal-python": (Request(), target("x86_64", "3.15"), EVERYTHING),
    "refusal-cann-chip": (Request(cann="8.5.0"), target("aarch64", chip="950"), EVERYTHING),
    "refusal-chip": (Request(), target(chip="350"), EVERYTHING),
    "refusal-glibc": (Request(cann="9.1.0"), target("aarch64", glibc="2.17"), EVERYTHING),
    "refusal-reported": (Request(cann="9.2.0", torch_npu="2.8.0"), target("aarch64"), EVERYTHING),
    "refusal-range": (Request(cann=">=9.1", torch="<2.7"), target("aarch64"), EVERYTHING),
    "refusal-preview-python": (Request(torch_npu="2.12.0"), target("aarch64", "3.14"), EVERYTHING),
    "refusal-driver": (Request(cann="9.1.0"), target("aarch64", chip="910b", driver="25.0.rc1"), EVERYTHING),
    "refusal-driver-torch-npu": (
        Request(torch_npu="2.14.0"),
        target("aarch64", chip="910b", driver="24.1.rc2"),
        EVERYTHING,
    ),
    "refusal-triton": (Request(packages=("triton", "triton-ascend")), target("aarch64"), EVERYTHING),
    "refusal-triton-brought": (
        Request(packages=("triton", "vllm-ascend==0.23.0")),
        target("aarch64"),
        EVERYTHING,
    ),
    "refusal-triton-ascend-torch": (
        Request(torch="2.12.0", packages=("triton-ascend",)),
        target("aarch64"),
        EVERYTHING,
    ),
    "refusal-numpy": (Request(cann="8.0.0", packages=("numpy>=2",)), target("aarch64"), EVERYTHING),
    "refusal-numpy-alone": (Request(packages=("numpy<1.19",)), target("aarch64"), EVERYTHING),
    "refusal-vllm-ascend-pin": (Request(packages=("vllm-ascend==0.18.0",)), target("aarch64"), EVERYTHING),
    "refusal-vllm-ascend-pair": (
        Request(packages=("vllm-ascend==0.30.0rc1",)),
        target("aarch64"),
        EVERYTHING,
    ),
    "refusal-vllm-ascend-python": (
        Request(packages=("vllm-ascend==0.19.1rc1",)),
        target("aarch64", "3.12"),
        EVERYTHING,
    ),
    "refusal-vllm-ascend-cann": (
        Request(cann="8.5.0", packages=("vllm-ascend>=0.20",)),
        target("aarch64"),
        EVERYTHING,
    ),
    "plan-vllm-ascend": (Request(packages=("vllm-ascend",)), target("aarch64"), EVERYTHING),
    "plan-vllm-ascend-passed-over": (
        Request(packages=("vllm-ascend",)),
        target("aarch64"),
        Shelf(without=("vllm_ascend 0.23.0.post1",)),
    ),
    "plan-triton-ascend": (
        Request(packages=("triton-ascend", "numpy<2")),
        target("x86_64"),
        EVERYTHING,
    ),
    "plan-reported": (
        Request(cann="9.2.0", torch_npu="2.8.0", allow_reported=True),
        target("aarch64"),
        EVERYTHING,
    ),
    "refusal-nothing-to-be-had": (Request(cann="9.1.0"), target("aarch64"), Shelf(without=("torch_npu",))),
    "network-torch": (Request(torch="2.12.0"), target("aarch64"), Shelf(unreachable=True)),
}


def shown(request: Request, on: Target, shelf: Shelf) -> str:
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False, markup=False, emoji=False)
    try:
        answer = ask(request, on, shelf)
    except NetworkError as error:
        print_message(console, Message.from_error(error))
    else:
        console.print(render(_planned(answer) if isinstance(answer, Choice) else answer))
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def _planned(choice: Choice) -> Plan:
    """What the lock makes of a choice, with packages that do not change with the world."""
    return Plan(
        target=choice.target,
        pairing=choice.pairing,
        packages=PACKAGES,
        reasons=choice.reasons,
        warnings=choice.warnings,
        passed_over=choice.passed_over,
        indexes=choice.indexes,
        constraints=("torch==1",),
        lock="",
    )


@pytest.mark.parametrize("name", CASES)
def test_text(name: str) -> None:
    text = shown(*CASES[name])
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("ASCENDENV_WRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_there_is_no_file_without_its_case() -> None:
    assert {
        path.stem for path in GOLDEN.glob("*.txt") if path.stem.startswith(("plan-", "refusal-", "network-"))
    } == set(CASES)


def test_a_field_report_against_a_plan_is_shown() -> None:
    plan = _planned(chosen())
    report = Reason(
        subject="torch_npu 2.13.0 on CANN 9.2.0", because="reported to fail: hangs", source="issue 1"
    )
    console = Console(file=io.StringIO(), width=WIDTH)

    console.print(render(plan.model_copy(update={"warnings": (report,)})))

    assert isinstance(console.file, io.StringIO)
    line = next(line for line in console.file.getvalue().splitlines() if "!" in line)
    assert line.split(maxsplit=3)[:3] == ["!", "field", "report"]
    assert "torch_npu 2.13.0 on CANN 9.2.0 was reported to fail: hangs (issue 1)" in line


def test_the_python_is_shown_with_its_reason() -> None:
    plan = _planned(chosen())
    why = Reason(subject="Python 3.11", because="the first one here with a plan", source="host")
    console = Console(file=io.StringIO(), width=WIDTH)
    console.print(render(plan.model_copy(update={"reasons": (*plan.reasons, why)})))
    assert isinstance(console.file, io.StringIO)
    assert re.search(
        r"^ +Python 3\.11 +the first one here with a plan *$", console.file.getvalue(), re.MULTILINE
    )
