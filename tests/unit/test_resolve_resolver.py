"""Which combination is chosen, which builds of torch will do, and what comes along as a warning."""

from __future__ import annotations

import pytest
from packaging.version import Version
from planning import CPU_INDEX, MATRIX, Shelf, ask, chosen, refused, target

from ascendenv.compatibility.model import ContradictingReport
from ascendenv.errors import NetworkError, UsageError
from ascendenv.resolve.model import Request
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.vocabulary import ChipFamily, Evidence, Verdict


def test_the_newest_officially_paired_combination_is_chosen() -> None:
    choice = chosen()

    newest = max(
        (row for row in MATRIX.torch_npu if row.cann_version and not row.cann_version.is_prerelease),
        key=lambda row: (row.cann_version, row.version),
    )
    assert (choice.pairing.cann, choice.pairing.torch_npu) == (newest.cann, newest.torch_npu)
    assert choice.pairing.verdict is Verdict.PAIRED
    assert choice.pairing.evidence is Evidence.OFFICIAL


def test_every_version_has_a_reason_and_a_source() -> None:
    choice = chosen(Request(cann="9.1.0"), target("aarch64"))

    subjects = [reason.subject for reason in choice.reasons]
    assert subjects[:3] == ["CANN 9.1.0", "torch 2.12.0+cpu", "torch_npu 2.12.0.post2"]
    assert all(reason.because and reason.source for reason in choice.reasons)


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_there_is_a_combination_for_every_supported_machine(arch: str, python: str) -> None:
    choice = chosen(on=target(arch, python))

    row = next(row for row in MATRIX.torch_npu if row.torch_npu == choice.pairing.torch_npu)
    assert python in row.wheels[choice.target.arch].pythons
    assert f"torch=={choice.torch}" in choice.requirements


@pytest.mark.parametrize(
    ("arch", "torch", "build", "index"),
    [
        ("x86_64", "2.7.1", "2.7.1+cpu", CPU_INDEX.url),
        ("x86_64", "2.12.0", "2.12.0+cpu", CPU_INDEX.url),
        ("aarch64", "2.7.1", "2.7.1", None),
        ("aarch64", "2.10.0", "2.10.0", None),
        ("aarch64", "2.11.0", "2.11.0+cpu", CPU_INDEX.url),
        ("aarch64", "2.12.0", "2.12.0+cpu", CPU_INDEX.url),
    ],
)
def test_only_a_cpu_build_of_torch_is_taken(arch: str, torch: str, build: str, index: str | None) -> None:
    choice = chosen(Request(torch=torch, cann="9.1.0"), target(arch))

    assert choice.torch == Version(build)
    assert choice.requirements[0] == f"torch=={build}"
    assert choice.indexes == ((index,) if index else ())


def test_the_cuda_trap_is_named_as_the_reason() -> None:
    because = {r.subject: r.because for r in chosen(Request(torch="2.12.0"), target("aarch64")).reasons}

    assert "CUDA build" in because["torch 2.12.0+cpu"]
    because = {r.subject: r.because for r in chosen(Request(torch="2.10.0"), target("aarch64")).reasons}
    assert "CUDA" not in because["torch 2.10.0"]


def test_a_plain_wheel_is_not_taken_for_a_cpu_build_where_it_may_be_a_cuda_build() -> None:
    conflict = refused(Request(torch="2.12.0"), target("aarch64"), Shelf(without=("torch 2.12.0+cpu",)))

    assert conflict.constraints[0].subject == "torch 2.12.0+cpu"


def test_a_labelled_build_will_do_where_the_plain_one_is_a_cpu_build() -> None:
    choice = chosen(Request(torch="2.10.0"), target("aarch64"), Shelf(without=("torch 2.10.0",)))

    assert choice.torch == Version("2.10.0+cpu")


def test_a_cpu_label_in_the_request_is_kept() -> None:
    assert chosen(Request(torch="2.10.0+cpu"), target("aarch64")).torch == Version("2.10.0+cpu")


@pytest.mark.parametrize("label", ["cu118", "rocm6.2", "xpu"])
def test_a_build_for_another_accelerator_is_refused_by_name(label: str) -> None:
    with pytest.raises(UsageError, match=rf"torch 2\.7\.1\+{label} is not a CPU build") as caught:
        ask(Request(torch=f"2.7.1+{label}"))

    assert caught.value.hint == "ask for --torch 2.7.1; the right build is chosen for the machine"


def test_better_combinations_without_wheels_are_passed_over_with_the_places() -> None:
    choice = chosen(
        Request(cann="9.1.0"), target("aarch64"), Shelf(without=("torch 2.12.0+cpu",), unreachable=False)
    )

    assert choice.pairing.torch == "2.11.0"
    assert [passed.torch_npu for passed in choice.passed_over] == ["2.12.0.post2", "2.12.0"]
    (looked,) = choice.passed_over[0].looked
    assert (looked.outcome, looked.places, looked.answered) == (
        "only other versions",
        ("the default index",),
        True,
    )


def test_what_nobody_could_be_asked_for_is_passed_over_too() -> None:
    choice = chosen(Request(cann="9.1.0"), target("aarch64"), Shelf(unreachable=True))

    assert choice.torch == Version("2.10.0")
    assert choice.passed_over[0].looked[0].outcome == "not reachable"
    assert not choice.passed_over[0].looked[0].answered


def test_not_found_anywhere_is_a_refusal() -> None:
    conflict = refused(Request(cann="9.1.0"), shelf=Shelf(without=("torch_npu",)))

    assert conflict.summary == "what fits the request has no wheel that can be had from here"
    assert (
        conflict.constraints[0].text
        == "torch_npu 2.12.0.post2 was not found: only other versions: the default index"
    )
    assert conflict.nearest == ()


def test_not_found_where_not_all_could_be_asked_is_no_refusal_but_a_network_error() -> None:
    with pytest.raises(NetworkError) as caught:
        ask(Request(torch="2.7.1"), target("x86_64"), Shelf(unreachable=True))

    assert caught.value.message.splitlines() == [
        "torch 2.7.1+cpu was not found, and not every place could be asked",
        "  not reachable: pytorch-cpu",
        "  only other versions: the default index",
    ]
    assert caught.value.hint is not None
    assert "PIP_FIND_LINKS" in caught.value.hint


def test_a_network_error_names_what_can_be_had_instead() -> None:
    with pytest.raises(NetworkError) as caught:
        ask(Request(torch="2.12.0"), target("aarch64"), Shelf(unreachable=True))

    assert caught.value.hint is not None
    assert caught.value.hint.endswith(
        "or keep Python 3.11, use torch 2.10.0: ascendenv install --torch 2.10.0 --python 3.11"
    )


def test_what_is_only_declared_compatible_must_be_allowed() -> None:
    request = Request(cann="9.0.0", torch_npu="2.7.1.post8")
    refused(request, target("aarch64"))

    choice = chosen(request.model_copy(update={"allow_declared": True}), target("aarch64"))

    assert choice.pairing.verdict is Verdict.DECLARED_COMPATIBLE
    because = {reason.subject: reason.because for reason in choice.reasons}
    assert because["torch_npu 2.7.1.post8"].endswith(
        "declared compatible by the vendor, not shown, with CANN 9.0.0"
    )


def test_a_cann_without_a_release_of_its_own_takes_what_the_vendor_declares() -> None:
    assert chosen(Request(cann="8.5.2"), target("aarch64")).pairing.verdict is Verdict.DECLARED_COMPATIBLE


def test_previews_are_taken_when_asked_for_by_name_and_never_else() -> None:
    preview = next(row for row in MATRIX.torch_npu if row.prerelease and row.cann and "alpha" in row.cann)

    choice = chosen(Request(torch_npu=preview.torch_npu), target("aarch64", "3.10"))
    assert choice.pairing.cann == preview.cann

    choice = chosen(Request(cann=preview.cann), target("aarch64", "3.10"))
    assert choice.pairing.torch_npu == preview.torch_npu

    choice = chosen(Request(torch=preview.torch), target("aarch64", "3.10"))
    assert choice.pairing.torch_npu != preview.torch_npu


def test_a_field_report_against_the_vendors_pairing_comes_along() -> None:
    report = ContradictingReport(
        torch_npu="2.13.0", cann="9.2.0", symptom="hangs", evidence=Evidence.FIELD_REPORT, source="somewhere"
    )
    scoped = report.model_copy(update={"chips": (ChipFamily.CHIP_910B,), "pythons": ("3.11",)})
    matrix = MATRIX.model_copy(update={"reports": (report, scoped)})

    answer = resolve(Request(torch_npu="2.13.0"), target(), matrix, Shelf())

    assert isinstance(answer, Choice)
    assert answer.pairing.verdict is Verdict.PAIRED
    assert [(w.subject, w.because, w.source) for w in answer.warnings] == [
        ("torch_npu 2.13.0 on CANN 9.2.0", "reported to fail: hangs", "somewhere"),
        ("torch_npu 2.13.0 on CANN 9.2.0", "reported to fail (chip 910b, Python 3.11): hangs", "somewhere"),
    ]


def test_a_report_about_another_chip_is_no_warning() -> None:
    report = ContradictingReport(
        torch_npu="2.13.0", cann="9.2.0", symptom="hangs", chips=(ChipFamily.CHIP_950,),
        evidence=Evidence.FIELD_REPORT, source="somewhere",
    )  # fmt: skip
    matrix = MATRIX.model_copy(update={"reports": (report,)})

    answer = resolve(Request(torch_npu="2.13.0"), target(chip="910b"), matrix, Shelf())

    assert isinstance(answer, Choice)
    assert answer.warnings == ()


@pytest.mark.parametrize(
    ("cann", "python", "numpy"),
    [
        ("8.0.0", "3.10", ["numpy>=1.19.2,<=1.24", "numpy"]),
        ("9.1.0", "3.11", ["numpy>=1.19.2", "numpy"]),
    ],
)
def test_the_numpy_that_the_cann_can_do_with_is_required(cann: str, python: str, numpy: list[str]) -> None:
    requirements = chosen(Request(cann=cann), target("aarch64", python)).requirements

    assert [r for r in requirements if r.startswith("numpy")] == numpy


def test_what_torch_npu_needs_undeclared_is_required() -> None:
    names = {requirement.split(">")[0].split("=")[0] for requirement in chosen().requirements}

    assert names >= {"pyyaml", "numpy", "setuptools", "decorator", "attrs", "psutil", "scipy", "pip"}


def test_an_unknown_cann_on_the_machine_is_no_crash() -> None:
    conflict = refused(Request(cann="12.0.0"))

    assert conflict.summary == "no torch_npu goes with CANN 12.0.0"
    assert conflict.nearest[0].pairing.cann == "9.2.0"
