"""What `matrix list` and `matrix show` hand to the renderer."""

from __future__ import annotations

import pytest

from ascendenv.compatibility import describe, listing, query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.errors import UsageError
from ascendenv.vocabulary import Arch

MATRIX = load()


def facts(subject: str) -> dict[str, list[str]]:
    entry = describe.show(MATRIX, subject)
    found: dict[str, list[str]] = {}
    for fact in entry.facts:
        assert fact.source
        found.setdefault(fact.key, []).append(fact.value)
    return found


def test_release_list() -> None:
    rows = listing.release_list(query.select(MATRIX)).releases
    assert len(rows) == 67
    row = next(row for row in rows if row.torch_npu == "2.10.0.post6")
    assert (row.torch, row.train, row.cann) == ("2.10.0", "26.1.1", "9.1.X")
    assert row.pythons[Arch.X86_64] == ("3.10", "3.11")


@pytest.mark.parametrize(
    "subject",
    ["torch_npu==2.7.1.post8", "torch-npu == 2.7.1.post8", "TORCH_NPU 2.7.1.post8", "torch_npu=2.7.1.post8"],
)
def test_a_subject_may_be_spelled_in_several_ways(subject: str) -> None:
    assert describe.show(MATRIX, subject).subject == "torch_npu 2.7.1.post8"


def test_torch_npu() -> None:
    found = facts("torch_npu==2.7.1.post8")
    assert found["torch"] == ["2.7.1"]
    assert found["train"] == ["26.1.0"]
    assert found["CANN"] == ["9.1.0"]
    assert found["declared compatible"] == ["CANN 8.5.X, 9.0.X, 9.1.X, 9.2.X"]
    assert found["wheels for x86_64"] == [
        "Python 3.9, 3.10, 3.11, 3.12, 3.13; manylinux_2_28; requires torch==2.7.1+cpu"
    ]


def test_torch_npu_with_reports() -> None:
    assert any("Ascend950PR" in text for text in facts("torch_npu==2.9.0")["reported to fail"])
    assert any("Python 3.12" in text for text in facts("torch_npu==2.8.0")["reported to fail"])


def test_a_preview_without_cann_and_wheels_without_requirements() -> None:
    preview = facts("torch_npu==2.13.0rc1")
    assert preview["CANN"] == ["not stated"]
    assert preview["uploaded"] == ["2026-08-12 (preview)"]
    assert "requires" not in facts("torch_npu==2.1.0")["wheels for aarch64"][0]


def test_torch() -> None:
    found = facts("torch 2.11.0+cpu")
    assert "2.11.0.post3 (train 26.2.0, CANN 9.2.0)" in found["torch_npu"]
    assert "default index, aarch64" in found
    assert "default index, aarch64" not in facts("torch 2.10.0")


def test_train() -> None:
    found = facts("train 26.1.1")
    assert found["CANN"] == ["9.1.X"]
    assert found["released"] == ["2026-09-01"]
    assert len(found["torch_npu"]) == 5
    assert "released" not in facts("train 7.2.0.1")


def test_cann() -> None:
    found = facts("cann 9.1.0")
    assert found["Python"] == ["3.7 to 3.14"]
    assert found["driver released with it"] == ["26.1.0"]
    assert found["drivers excluded"] == ["25.0.X"]
    assert found["oldest driver listed"] == ["25.2.0"]
    assert "2.7.1.post8 (train 26.1.0, torch 2.7.1)" in found["torch_npu"]
    assert any(text.startswith("decorator>=4.4.0 (CANN: ") for text in found["needs"])
    assert any("Ascend950PR" in text for text in found["reported to fail"])


def test_a_cann_of_which_little_is_known() -> None:
    found = facts("cann 7.0.0")
    assert found["Python"] == ["not known"]
    assert found["chips"] == ["not known"]


def test_chip() -> None:
    found = facts("chip Ascend910_9392")
    assert describe.show(MATRIX, "chip Ascend910_9392").subject == "chip a3"
    assert found["torch_npu"] == ["since train 6.0.rc3; Ascend910_9363 since 26.1.1"]
    assert "CANN 8.2.RC1" in found["operator package"]
    assert facts("chip 950")["CANN"] == ["since 9.0.0"]


def test_a_chip_that_no_torch_npu_knows() -> None:
    found = facts("chip 350")
    assert found["torch_npu"] == ["no train knows it"]
    assert not found.keys() & {"PCI device", "products", "operator package"}


@pytest.mark.parametrize(
    ("subject", "message", "hint"),
    [
        ("torch_npu==2.7.1.post88", "unknown torch_npu version", "did you mean `2.7.1.post8`?"),
        ("torch 2.7.2", "unknown torch version", "did you mean `2.7.1`?"),
        ("torch stable", "unknown torch version", "known: 2.14.0"),
        ("train 26.1.7", "unknown torch_npu train", "did you mean `26.1"),
        ("cann 9.1.9", "unknown CANN version", "did you mean `9.1"),
        ("chip 910x", "unknown chip", "did you mean `910"),
        ("cnan 9.1.0", "unknown subject 'cnan'", "did you mean `cann`?"),
        ("9.1.0", "'9.1.0' names nothing in the matrix", "say for example"),
    ],
)
def test_unknown_subjects(subject: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        describe.show(MATRIX, subject)
    assert message in caught.value.message
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_version_that_only_a_table_names() -> None:
    found = facts("torch_npu==2.1.0.post4")
    assert found["wheels"] == ["on no package index: only a table names this version"]
    assert (found["train"], found["CANN"]) == (["6.0.rc1"], ["8.0.RC1"])
    assert found["note"] == ["the index has 2.1.0.post3 for this train"]
    assert "train" not in facts("torch_npu==2.8.0.post1")
    unstated = MATRIX.unpublished[0].model_copy(update={"torch_npu": "2.98.0", "cann": None})
    matrix = MATRIX.model_copy(update={"unpublished": (unstated,)})
    assert "CANN" not in {fact.key for fact in describe.show(matrix, "torch_npu==2.98.0").facts}


def test_a_torch_without_torch_npu() -> None:
    assert facts("torch 2.12.1")["torch_npu"] == ["none was released for it"]


def test_support_and_contradictions() -> None:
    assert facts("torch 2.5.1")["support"] == ["ended 2026-08-08"]
    assert facts("torch 2.12.0")["support"] == ["development, maintenance from 2027-01-26"]
    assert facts("torch 2.12.0")["torchvision"] == ["0.27.0"]
    assert facts("torch 2.13.0")["triton-ascend"] == ["3.6.0 (train 26.2.0)"]
    assert facts("cann 9.0.0")["contradicted"][0].startswith("Python: 3.7 to 3.11 (here:")
    assert "vllm-ascend 0.23.0" in facts("torch_npu==2.10.0.post4")["pinned by"]


def test_how_a_cann_is_delivered() -> None:
    found = facts("cann 9.1.1")
    assert any(url.endswith("/Ascend-cann-A3-ops_9.1.1_linux-{arch}.run") for url in found["run package"])
    assert "ascend-cann-a3-ops=9.1.1" in found["apt package"]
    assert "operators run" in found
    assert any("cann-hccl" in text for text in found["parts of the operators"])
    assert "parts of the toolkit" in found
    assert facts("cann 8.3.RC1")["operators run"] == ["on the same toolkit only"]
    assert "apt package" not in facts("cann 8.3.RC1")
    assert facts("cann 9.1.0")["images"][0].startswith("quay.io/ascend/cann:9.1.0-{310p,910b,a3,950}-")
    assert "25.5.1 on a3" in facts("cann 9.1.0")["driver seen working"]
    without = MATRIX.model_copy(update={"channels": ()})
    assert not [f for f in describe.show(without, "cann 9.1.0").facts if f.key.endswith(" package")]


def test_extension() -> None:
    found = facts("vllm-ascend 0.11.0")
    assert found["goes with"][0].startswith("CANN 8.3.RC2, torch 2.7.1, torch_npu 2.7.1.post1")
    assert found["torch_npu"] == ["2.7.1.post1 is on no package index"]
    assert facts("vllm-ascend 0.30.0rc1")["contradicted"]
    assert facts("triton-ascend==3.2.1")["never together with"][0].startswith("triton: ")
    assert facts("torchtitan-npu 0.2.2.post2")["goes with"] == ["nothing is stated"]


def test_several_subjects_are_a_question() -> None:
    with pytest.raises(UsageError, match="one subject at a time is shown") as caught:
        describe.show(MATRIX, "cann 9.1.0 torch 2.7.1")
    assert caught.value.hint == "what holds between them: ascendenv matrix why cann 9.1.0 torch 2.7.1"
    assert str(parse_subjects(MATRIX, "cann 9.1.0 torch 2.7.1")[0]) == "CANN 9.1.0"
    with pytest.raises(UsageError, match=r"unknown vllm-ascend version '0\.99\.0'"):
        describe.show(MATRIX, "vllm-ascend 0.99.0")
