"""Versions as people ask for them: exact ones, bounds and lines."""

from __future__ import annotations

import pytest
from packaging.version import Version
from planning import MATRIX, chosen, refused, target

from ascendenv.errors import UsageError
from ascendenv.planning import Wanted, request_for
from ascendenv.resolve.model import Request
from ascendenv.resolve.ranges import CannRange, PackageRange
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Verdict


@pytest.mark.parametrize(
    ("text", "admitted", "refused_"),
    [
        ("2.9.0", ["2.9.0"], ["2.9.1", "2.9.0.post2", "2.9.0rc1"]),
        ("2.9", ["2.9.0"], ["2.9.1"]),
        ("==2.9.0", ["2.9.0"], ["2.9.0.post2"]),
        ("2.9.0+cpu", ["2.9.0"], ["2.9.1"]),
        ("2.7.1.*", ["2.7.1", "2.7.1.post8", "2.7.1rc1"], ["2.7.2", "2.8.0"]),
        (">=2.9", ["2.9.0", "2.9.0.post9", "2.14.0"], ["2.8.0.post5"]),
        (">=2.9,<2.12", ["2.11.0.post3"], ["2.12.0", "2.8.0"]),
        ("~=2.9.0", ["2.9.1"], ["2.10.0"]),
        ("!=2.9.0", ["2.9.0.post2"], ["2.9.0"]),
    ],
)
def test_packages(text: str, admitted: list[str], refused_: list[str]) -> None:
    wanted = PackageRange(text)

    assert [version for version in admitted if not wanted.admits(Version(version))] == []
    assert [version for version in refused_ if wanted.admits(Version(version))] == []


@pytest.mark.parametrize(
    ("text", "admitted", "refused_"),
    [
        ("9.1.0", ["9.1.0"], ["9.1.1", "9.1.0-beta.1"]),
        ("8.2.rc1", ["8.2.RC1"], ["8.2.RC2"]),
        ("9.1", ["9.1.0", "9.1.1"], ["9.0.1", "9.2.0"]),
        ("9.1.X", ["9.1.0", "9.1.1"], ["9.2.0"]),
        ("9.1.*", ["9.1.0", "9.1.1"], ["9.2.0"]),
        ("9", ["9.0.0", "9.2.0"], ["8.5.2"]),
        (">=8.5", ["8.5.0", "8.5.2", "9.1.0"], ["8.3.RC2"]),
        ("<=8.5", ["8.5.2", "8.2.RC1"], ["9.0.0"]),
        (">8.5", ["9.0.0"], ["8.5.0", "8.5.2"]),
        ("<9.1", ["9.0.1"], ["9.1.0"]),
        (">=8.2.RC1, <8.5.0", ["8.2.RC1", "8.2.RC2", "8.3.RC1"], ["8.1.RC1", "8.5.0"]),
        ("!=9.1.0", ["9.1.1"], ["9.1.0"]),
        ("!=9.1", ["9.2.0"], ["9.1.1"]),
    ],
)
def test_cann(text: str, admitted: list[str], refused_: list[str]) -> None:
    wanted = CannRange(text)

    assert [version for version in admitted if not wanted.admits(CannVersion(version))] == []
    assert [version for version in refused_ if wanted.admits(CannVersion(version))] == []


@pytest.mark.parametrize(
    ("text", "exact"), [("9.1.0", "9.1.0"), ("==9.1.0", "9.1.0"), ("9.1", None), (">=9.1.0", None)]
)
def test_which_cann_is_exact(text: str, exact: str | None) -> None:
    assert CannRange(text).exact == (None if exact is None else CannVersion(exact))


@pytest.mark.parametrize("text", ["", "9.1.0.0.0", ">=", "nine", "=9.1.0", ">=9.1.0;", "9.1.0,"])
def test_what_is_no_range_of_cann_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="neither a version nor a range"):
        CannRange(text).admits(CannVersion("9.1.0"))


@pytest.mark.parametrize("text", ["", "two", ">=", "=2.9", ">2.9<3"])
def test_what_is_no_range_of_a_package_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="neither a version nor a range"):
        PackageRange(text).admits(Version("2.9.0"))


def test_the_newest_within_the_bounds_is_chosen() -> None:
    choice = chosen(Request(cann=">=8.5,<9.1", torch="<2.8"), target("aarch64"))

    assert (choice.pairing.cann, choice.pairing.torch_npu) == ("9.0.0", "2.7.1.post4")


def test_what_is_developed_comes_before_what_is_newer_and_only_maintained() -> None:
    choice = chosen(Request(cann=">=8.5,<9.1", torch="<2.9"), target("aarch64"))

    assert (choice.pairing.cann, choice.pairing.torch_npu) == ("9.0.0", "2.7.1.post4")


def test_a_line_of_torch_npu_takes_the_best_of_its_post_releases() -> None:
    choice = chosen(Request(torch_npu="2.7.1.*", cann="9.1"), target("aarch64"))

    assert choice.pairing.torch_npu == "2.7.1.post10"


def test_a_range_admits_previews_only_when_it_names_one() -> None:
    within = Request(cann=">=8.2,<8.3")
    assert chosen(within, target("aarch64")).pairing.cann == "8.2.RC1"

    named = Request(cann=">=8.5.0.alpha001,<8.5.0", torch_npu=">=2.9.0rc1,<2.9.0")
    assert "alpha" not in chosen(Request(cann=">=8.5,<9"), target("aarch64")).pairing.cann
    conflict = refused(Request(cann="<8.5.0,>8.3"), target("aarch64"))
    assert conflict.constraints
    assert named.cann_range is not None
    assert named.cann_range.names_previews


def test_a_range_in_a_refusal_says_what_it_means() -> None:
    conflict = refused(Request(cann=">=9.1", torch="<2.7"), target("aarch64"))

    assert conflict.summary == "no torch_npu goes with CANN >=9.1 and torch <2.7"
    assert "means 9.2.0, 9.1.1 and 9.1.0: was released with" in conflict.constraints[0].text
    assert [near.change for near in conflict.nearest][:2] == [
        "keep torch <2.7, use CANN 8.5.0",
        "keep CANN >=9.1, use torch 2.7.1",
    ]


def test_what_a_report_contradicts_must_be_allowed() -> None:
    request = Request(cann="9.2.0", torch_npu="2.8.0")
    assert "--allow-reported" in refused(request, target("aarch64")).nearest[-1].options

    choice = chosen(request.model_copy(update={"allow_reported": True}), target("aarch64"))

    assert choice.pairing.verdict is Verdict.REPORTED_BROKEN
    assert "libgraph.so" in choice.warnings[0].because
    because = {reason.subject: reason.because for reason in choice.reasons}
    assert because["torch_npu 2.8.0"] == "train 7.2.0, which was reported to fail with CANN 9.2.0"


def test_allowing_reports_alone_changes_no_answer() -> None:
    assert chosen(Request(allow_reported=True)).pairing == chosen().pairing


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Wanted(cann=">=10"), "the matrix knows no CANN >=10"),
        (Wanted(cann="7.5"), "the matrix knows no CANN 7.5"),
        (Wanted(torch=">=3"), "the matrix knows no torch >=3"),
        (Wanted(torch_npu="2.7.9.*"), "the matrix knows no torch_npu 2.7.9.*"),
    ],
)
def test_bounds_that_nothing_known_satisfies_are_refused_at_once(wanted: Wanted, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        request_for(MATRIX, wanted)

    assert caught.value.message == text
    assert caught.value.hint is not None
    assert "known" in caught.value.hint
