"""Public tables in Markdown, and where they disagree."""

from __future__ import annotations

import pytest

from ascendenv.compatibility.load import load
from ascendenv.drift.against import compare_with_table
from ascendenv.errors import UsageError

MATRIX = load()

OFFICIAL = """
| TorchNPU package version | Branch | PyTorch Version | CANN version |
|:---:|:---:|:---:|:---:|
{rows}
"""
PYTHONS = """
| PyTorch Version | Python version |
|:---:|:---:|
{rows}
"""
POLICY = """
| vLLM Ascend | vLLM | Python | Stable CANN | PyTorch/torch_npu | Triton Ascend |
|---|---|---|---|---|---|
{rows}
"""


def disagreements(text: str, *rows: str) -> list[tuple[str, str, str]]:
    drift = compare_with_table(MATRIX, text.format(rows="\n".join(rows)), "table.md")
    assert (drift.compared_with, drift.compared) == ("table.md", len(rows))
    return [(d.subject, d.matrix, d.there) for d in drift.differences]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| **2.12.0** | v2.12.0-26.1.0 | [2.12.0](https://example.org) | CANN 9.1.0 |", []),
        (
            "| 2.12.0 | v | 2.12.0 | CANN 9.0.0 |",
            [("torch_npu 2.12.0", "CANN 9.1.0", "CANN 9.0.0")],
        ),
        ("| 2.12.0 | v | 2.11.0 | CANN 9.1.0 |", [("torch_npu 2.12.0", "torch 2.12.0", "torch 2.11.0")]),
        (
            "| 2.13.0rc1 | v | 2.13.0 | 9.2.0 |",
            [("torch_npu 2.13.0rc1", "CANN not stated", "CANN 9.2.0")],
        ),
        (
            "| 2.1.0.post4 | v | 2.1.0 | 8.0.RC1 |",
            [("torch_npu 2.1.0.post4", "no wheel on the index", "listed")],
        ),
        (
            "| 1.11.0.rc2(beta) | v | 1.11.0 | 6.0.1 |",
            [("torch_npu 1.11.0rc2", "no wheel on the index", "listed")],
        ),
        (
            "| 2.99.0 | v | 2.99.0 | 9.9.0 |",
            [("torch_npu 2.99.0", "no row, and no wheel on the index", "listed")],
        ),
        ("| nightly | v | main | master |", []),
        ("| 2.12.0.x.y | v | 2.12.0 | 9.1.0 |", []),
        ("| 2.12.0 | v | main | master |", []),
    ],
)
def test_the_vendors_table(row: str, found: list[tuple[str, str, str]]) -> None:
    assert disagreements(OFFICIAL, row) == found


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| PyTorch 2.8.0 | Python3.9, Python3.10, Python 3.11, Python 3.12, Python 3.13 |", []),
        (
            "| PyTorch 2.8.0 | Python3.9 |",
            [
                ("torch 2.8.0, Pythons stated", "3.9, 3.10, 3.11, 3.12, 3.13", "3.9"),
                ("torch 2.8.0, wheels of torch_npu", "3.9, 3.10, 3.11, 3.12, 3.13", "3.9"),
            ],
        ),
        (
            "| PyTorch 1.11.0 | Python3.7(>=3.7.5), Python3.8, Python3.9, Python3.10 |",
            [],
        ),
        ("| PyTorch 2.99.0 | 3.14 |", [("torch 2.99.0, Pythons stated", "no row", "3.14")]),
        ("| main | 3.14 |", []),
    ],
)
def test_the_vendors_table_of_pythons(row: str, found: list[tuple[str, str, str]]) -> None:
    assert disagreements(PYTHONS, row) == found


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| v0.23.0 | v0.23.0 | >= 3.10 | 9.1.0 | 2.10.0 / 2.10.0.post4 | 3.2.2 |", []),
        (
            "| v0.23.0 | v0.23.0 | >= 3.10 | 9.2.0 | 2.9.0 / 2.9.0 | 3.2.2 |",
            [
                ("vllm-ascend 0.23.0", "CANN 9.1.0", "CANN 9.2.0"),
                ("vllm-ascend 0.23.0", "torch 2.10.0", "torch 2.9.0"),
                ("vllm-ascend 0.23.0", "torch_npu 2.10.0.post4", "torch_npu 2.9.0"),
            ],
        ),
        (
            "| v0.11.0 | v0.11.0 | >= 3.9 | 8.3.RC2 | 2.7.1 / 2.7.1.post1 | |",
            [("vllm-ascend 0.11.0", "torch_npu 2.7.1.post1 is on no index", "torch_npu 2.7.1.post1")],
        ),
        (
            "| v0.30.0rc2 | v0.30.0 | >= 3.10 | main | 2.10.0 / 2.10.0.post4 | |",
            [
                ("vllm-ascend 0.30.0rc2", "torch ", "torch 2.10.0"),
                ("vllm-ascend 0.30.0rc2", "torch_npu not stated", "torch_npu 2.10.0.post4"),
            ],
        ),
        ("| v0.23.0 | v0.23.0 | >= 3.10 | 9.1.0 | 2.10.0 | 3.2.2 |", []),
        ("| v0.99.0 | v0.99.0 | >= 3.10 | 9.9.0 | 2.99.0 | |", [("vllm-ascend 0.99.0", "no row", "listed")]),
        ("| main | main | >= 3.10 | 9.9.0 | 2.99.0 | |", []),
    ],
)
def test_the_policy_of_vllm_ascend(row: str, found: list[tuple[str, str, str]]) -> None:
    assert disagreements(POLICY, row) == found


def test_several_tables_and_what_is_none_of_them() -> None:
    other = "\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    text = OFFICIAL.format(rows="| 2.12.0 | v | 2.12.0 | CANN 9.0.0 |\n| short |") + other
    drift = compare_with_table(MATRIX, text + PYTHONS.format(rows="| PyTorch 2.8.0 | 3.9 |"), "page.md")
    assert drift.compared == 2
    assert len(drift.differences) == 3


def test_a_page_without_such_a_table_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no table that is understood is in README\.md") as caught:
        compare_with_table(MATRIX, "| a | b |\n|---|---|\n| 1 | 2 |\n", "README.md")
    assert caught.value.hint == (
        "tables need columns for: vllm_ascend, cann, stack; torch_npu, torch, cann; torch, python"
    )
