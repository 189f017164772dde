"""What `matrix why` answers: each of these was somebody's question."""

from __future__ import annotations

import pytest

from ascendenv.compatibility.load import load
from ascendenv.compatibility.questions import question
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.compatibility.why import Explanation, why
from ascendenv.errors import UsageError

MATRIX = load()
OLDER = ("2.10.0.post4", "2.10.0.post2", "2.10.0")


def ask(subject: str, **target: str | None) -> Explanation:
    return why(MATRIX, question(MATRIX, parse_subjects(MATRIX, subject), **target))


def changes(explanation: Explanation) -> list[str]:
    return [alternative.change for alternative in explanation.instead]


def test_a_wheel_that_is_missing() -> None:
    found = ask("torch_npu==2.10.0.post6", arch="x86_64", python="3.12")
    assert not found.holds
    assert found.answer == "no: torch_npu 2.10.0.post6 has no wheel for x86_64 and Python 3.12"
    assert "aarch64: Python 3.10, 3.11, 3.12; x86_64: Python 3.10, 3.11" in [f.value for f in found.because]
    assert found.looked == (f"default index, its listing as of {MATRIX.indexes[0].read}",)
    assert changes(found) == [
        "keep torch_npu 2.10.0.post6 and x86_64: Python 3.11, 3.10",
        "keep torch_npu 2.10.0.post6 and Python 3.12: aarch64",
        f"keep torch 2.10.0, x86_64 and Python 3.12: torch_npu {', '.join(('2.10.0.post7', *OLDER))}",
    ]
    assert found.instead[0].command == (
        "ascendenv resolve --torch-npu 2.10.0.post6 --arch x86_64 --python 3.11"
    )


def test_a_pair_that_was_not_released_together() -> None:
    found = ask("cann==9.1.0 torch==2.6.0")
    assert not found.holds
    assert found.answer.startswith("not released together: CANN 9.1.0 and torch 2.6.0; the vendor declares")
    assert [fact.key for fact in found.because] == ["CANN 9.1.0", "torch 2.6.0"]
    assert changes(found)[0] == "keep CANN 9.1.0: torch 2.12.0, 2.11.0, 2.10.0, 2.9.0"
    assert changes(found)[1].startswith("keep torch 2.6.0: CANN 8.5.0")
    assert found.instead[-1].command.endswith("--torch-npu 2.6.0.post5 --allow-declared")


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        (
            "cann 9.1.0 torch 2.7.1",
            "yes: torch_npu 2.7.1.post10, 2.7.1.post8 go with CANN 9.1.0 and torch 2.7.1",
        ),
        ("cann 9.1.0 torch_npu 2.7.1.post8", "yes: CANN 9.1.0 and torch_npu 2.7.1.post8 go together"),
        ("torch_npu 2.7.1.post8", "yes: there is torch_npu 2.7.1.post8"),
        ("train 26.1.0 torch 2.12.0", "yes: torch_npu 2.12.0 goes with torch 2.12.0 and train 26.1.0"),
        ("torch 2.12.1", "no: there is no torch_npu to be had for torch 2.12.1"),
        ("torch_npu 2.1.0.post4", "no: there is no torch_npu 2.1.0.post4"),
        ("torch_npu 2.99.0", "no: there is no torch_npu 2.99.0"),
        ("cann 8.5.0 chip 950", "no: CANN 8.5.0 and chip 950 do not go together"),
        ("vllm-ascend 0.11.0", "no: there is no torch_npu to be had for vllm-ascend 0.11.0"),
        ("chip 350", "no: there is no torch_npu to be had for chip 350"),
    ],
)
def test_answers(subject: str, answer: str) -> None:
    found = ask(subject)
    assert found.answer == answer
    assert found.holds is answer.startswith("yes")
    assert found.because
    assert bool(found.instead) is not found.holds


@pytest.mark.parametrize(
    ("subject", "key", "value"),
    [
        ("torch 2.12.1", "torch 2.12.1", "is on the package index, but no torch_npu was released for it"),
        ("torch 2.0.0", "torch 2.0.0", "no torch_npu was released for it, as far as any source says"),
        (
            "torch_npu 2.1.0.post4",
            "torch_npu 2.1.0.post4",
            "is named by a table for CANN 8.0.RC1, but is on no",
        ),
        ("torch_npu 2.99.0", "torch_npu 2.99.0", "no index has it and no table names it"),
        (
            "cann 6.3.RC2",
            "CANN 6.3.RC2",
            "goes with torch_npu 2.0.1rc1, 1.11.0.post1, 1.8.1.post2, which are",
        ),
        ("cann 9.9.0", "CANN 9.9.0", "no source speaks of it"),
        ("cann 8.2.RC2", "CANN 8.2.RC2", "no torch_npu was released with it"),
        ("cann 8.5.0 chip 950", "CANN 8.5.0", "has operators for 310p, 310b, 910, 910b, a3"),
        (
            "vllm-ascend 0.11.0",
            "vllm-ascend 0.11.0",
            "pins torch_npu 2.7.1.post1, which is on no package",
        ),
        ("vllm-ascend 0.99.0", "vllm-ascend 0.99.0", "no row says what it goes with; known are 0.30.0rc2"),
        ("vllm-ascend 0.30.0rc1", "elsewhere", "torch_npu: a nightly of train 26.2.0"),
        ("torch_npu 2.13.0 cann 8.5.0", "elsewhere", "CANN: 8.5.0 (here: 9.2.0)"),
        ("chip 310", "chip 310", "no torch_npu knows it"),
        ("chip 950", "chip 950", "torch_npu knows it since train 26.0.0, CANN since 9.0.0"),
        ("torch 2.9.1", "torch 2.9.1", "has 1 torch_npu release from 2.9.1 to 2.9.1"),
    ],
)
def test_what_decides(subject: str, key: str, value: str) -> None:
    assert any(fact.key == key and fact.value.startswith(value) for fact in ask(subject).because)


def test_a_python_that_the_cann_does_not_support() -> None:
    found = ask("cann 9.0.0", python="3.14", arch=None)
    assert found.answer == "no: CANN 9.0.0 and Python 3.14 do not go together"
    assert "supports Python 3.7 to 3.13" in [fact.value for fact in found.because]
    assert "keep CANN 9.0.0: Python 3.13, 3.12, 3.11, 3.10" in changes(found)


def test_an_extension_with_the_rest_of_a_stack() -> None:
    assert ask("vllm-ascend 0.23.0 cann 9.1.0 torch_npu 2.10.0.post4").holds
    found = ask("vllm-ascend 0.23.0 cann 9.2.0")
    assert not found.holds
    assert any(change.startswith("vllm-ascend 0.30.0rc1") for change in changes(found)) is False
    assert ask("torchvision 0.22.1 torch 2.7.1").holds
    assert not ask("torchvision 0.22.1 torch 2.8.0").holds
    assert not ask("vllm-ascend 0.23.0", python="3.13").holds


def test_the_other_version_of_an_extension_is_final_and_can_be_had() -> None:
    (alternative,) = ask("vllm-ascend 0.11.0").instead
    assert alternative.change.startswith("vllm-ascend 0.23.0.post1, which goes with CANN 9.1.0, torch 2.10.0")
    assert alternative.command == "ascendenv matrix why vllm-ascend==0.23.0.post1"


@pytest.mark.parametrize(
    ("subject", "target", "message"),
    [
        ("torch newest", {}, "'newest' is no torch"),
        ("cann nine", {}, "'nine' is no CANN version"),
        ("cann 9.1.0 cann 9.0.0", {}, "CANN 9.1.0 and cann 9.0.0: only one"),
        ("cann 9.1.0", {"arch": "riscv64"}, "'riscv64' is no arch"),
        ("cann 9.1.0", {"chip": "911"}, "unknown chip '911'"),
    ],
)
def test_what_is_no_question(subject: str, target: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(subject, **target)
    assert message in caught.value.message
    assert caught.value.hint or "only one" in message


def test_an_extension_that_nothing_leaves_room_for() -> None:
    found = ask("vllm-ascend 0.23.0 torch 2.12.1")
    assert not [change for change in changes(found) if change.startswith("vllm-ascend")]


def test_a_matrix_without_releases_has_nothing_to_offer() -> None:
    empty = MATRIX.model_copy(update={"torch_npu": ()})
    assert why(empty, question(empty, parse_subjects(empty, "torch 2.12.0"))).instead == ()
