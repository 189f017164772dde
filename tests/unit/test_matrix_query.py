"""Questions about the matrix."""

from __future__ import annotations

import pytest
from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import CannRelease, TorchNpuRelease
from ascendenv.errors import ExitCode, UsageError
from ascendenv.versions import CannVersion, HdkVersion
from ascendenv.vocabulary import Arch, ChipFamily, Evidence, Verdict

MATRIX = load()


def release(torch_npu: str) -> TorchNpuRelease:
    (row,) = query.select(MATRIX, torch_npu=Version(torch_npu))
    return row


def judge(
    cann: str, torch_npu: str, chip: ChipFamily | None = None, python: str | None = None
) -> query.Judgement:
    return query.judge(MATRIX, CannVersion(cann), release(torch_npu), chip=chip, python=python)


@pytest.mark.parametrize(
    ("cann", "torch_npu", "verdict", "evidence"),
    [
        ("9.1.0", "2.7.1.post8", Verdict.PAIRED, Evidence.OFFICIAL),
        ("9.1.1", "2.7.1.post10", Verdict.PAIRED, Evidence.OFFICIAL),
        ("9.0.1", "2.7.1.post6", Verdict.PAIRED, Evidence.DERIVED),
        ("9.0.0", "2.7.1.post4", Verdict.PAIRED, Evidence.OFFICIAL),
        ("9.1.1", "2.7.1.post8", Verdict.DECLARED_COMPATIBLE, Evidence.OFFICIAL),
        ("8.5.2", "2.14.0", Verdict.DECLARED_COMPATIBLE, Evidence.OFFICIAL),
        ("8.0.0", "2.8.0", Verdict.DECLARED_COMPATIBLE, Evidence.OFFICIAL),
        ("9.0.0", "2.7.1", Verdict.REPORTED_BROKEN, Evidence.FIELD_REPORT),
        ("9.2.0", "2.8.0", Verdict.REPORTED_BROKEN, Evidence.FIELD_REPORT),
        ("9.1.0-beta.3", "2.7.1.post10", Verdict.UNKNOWN, Evidence.UNKNOWN),
        ("9.1.0", "2.6.0", Verdict.UNKNOWN, Evidence.UNKNOWN),
        ("9.1.0", "2.13.0rc1", Verdict.UNKNOWN, Evidence.UNKNOWN),
    ],
)
def test_verdicts(cann: str, torch_npu: str, verdict: Verdict, evidence: Evidence) -> None:
    judgement = judge(cann, torch_npu)
    assert (judgement.verdict, judgement.evidence) == (verdict, evidence)
    assert torch_npu in judgement.because or release(torch_npu).train in judgement.because
    assert judgement.source


def test_a_pairing_stands_against_reports_which_come_along() -> None:
    judgement = judge("8.3.RC1", "2.7.1")
    assert judgement.verdict is Verdict.PAIRED
    assert ["libatb" in report.symptom for report in judgement.reports] == [True]


def test_a_report_about_one_chip_decides_for_that_chip_only() -> None:
    anywhere = judge("9.1.0", "2.9.0")
    assert anywhere.verdict is Verdict.DECLARED_COMPATIBLE
    assert [report.hardware for report in anywhere.reports] == ["Ascend950PR"]
    assert judge("9.1.0", "2.9.0", chip=ChipFamily.CHIP_950).verdict is Verdict.REPORTED_BROKEN
    elsewhere = judge("9.1.0", "2.9.0", chip=ChipFamily.CHIP_910B)
    assert (elsewhere.verdict, elsewhere.reports) == (Verdict.DECLARED_COMPATIBLE, ())


def test_a_report_about_one_python_decides_for_that_python_only() -> None:
    assert judge("8.3.RC2", "2.8.0").verdict is Verdict.UNKNOWN
    assert judge("8.3.RC2", "2.8.0", python="3.12").verdict is Verdict.REPORTED_BROKEN
    assert judge("8.3.RC2", "2.8.0", python="3.11").reports == ()


@pytest.mark.parametrize(
    ("cann", "driver", "supported", "because"),
    [
        ("9.1.0", "26.1.0", True, "is in the vendor's list"),
        ("9.1.0", "25.5.1", True, "is in the vendor's list"),
        ("9.1.0", "25.7.rc1.6", True, "is in the vendor's list"),
        ("9.2.0", "26.2.0", True, "is in the vendor's list"),
        ("9.1.0", "25.0.rc1", False, "excludes driver 25.0.rc1"),
        ("9.1.0", "24.1.0", False, "older than CANN 9.1.0 allows (25.2.0 or newer)"),
        ("8.2.RC1", "23.0.2", False, "older than CANN 8.2.RC1 allows (24.1.RC2 or newer)"),
        ("9.1.0", "27.0.0", None, "no vendor list speaks of driver 27.0.0"),
        ("6.3.RC2", "24.1.0", None, "no vendor list speaks of"),
    ],
)
def test_driver_support(cann: str, driver: str, *, supported: bool | None, because: str) -> None:
    answer = query.driver_support(MATRIX, CannVersion(cann), HdkVersion(driver))
    assert answer.supported is supported
    assert because in answer.because
    assert bool(answer.source) is (cann != "6.3.RC2")


def test_driver_support_tells_the_minimum_and_the_pair() -> None:
    answer = query.driver_support(MATRIX, CannVersion("9.1.1"), HdkVersion("24.1.rc3"))
    assert (answer.minimum, answer.paired) == (HdkVersion("25.2.0"), HdkVersion("26.1.1"))
    unknown = query.driver_support(MATRIX, CannVersion("6.3.RC2"), HdkVersion("24.1.rc3"))
    assert (unknown.minimum, unknown.paired, unknown.evidence) == (None, None, Evidence.UNKNOWN)


@pytest.mark.parametrize(
    ("cann", "python", "answer"),
    [
        ("9.1.0", "3.14", True),
        ("9.0.0", "3.14", False),
        ("8.3.RC1", "3.11.9", True),
        ("8.3.RC1", "3.12", False),
        ("8.0.0", "3.6", False),
        ("9.2.0", "3.11", None),
        ("4.0.0", "3.11", None),
    ],
)
def test_python_supported_by_cann(cann: str, python: str, *, answer: bool | None) -> None:
    assert query.python_supported_by_cann(MATRIX, CannVersion(cann), python) is answer


def test_a_python_range_that_is_half_known_is_not_known() -> None:
    row = CannRelease(cann="9.9.0", python_min="3.9", evidence=Evidence.UNKNOWN, source="test")
    matrix = MATRIX.model_copy(update={"cann": (row,)})
    assert query.python_supported_by_cann(matrix, CannVersion("9.9.0"), "3.11") is None


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("910b", ChipFamily.CHIP_910B),
        ("910B", ChipFamily.CHIP_910B),
        ("Ascend910B3", ChipFamily.CHIP_910B),
        ("910b4-1", ChipFamily.CHIP_910B),
        ("Ascend910B", ChipFamily.CHIP_910),
        ("910PremiumA", ChipFamily.CHIP_910),
        ("A3", ChipFamily.A3),
        ("910c", ChipFamily.A3),
        ("Ascend910", ChipFamily.A3),
        (" ascend910_9392 ", ChipFamily.A3),
        ("310P3", ChipFamily.CHIP_310P),
        ("Ascend950PR", ChipFamily.CHIP_950),
    ],
)
def test_parse_chip(text: str, family: ChipFamily) -> None:
    assert query.parse_chip(MATRIX, text) is family


def test_an_unknown_chip_is_answered_with_what_was_meant() -> None:
    with pytest.raises(UsageError, match="unknown chip '910bb'") as caught:
        query.parse_chip(MATRIX, "910bb")
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean `910b`? known: 310, 310p")


def test_chip_of_soc() -> None:
    found = query.chip_of_soc(MATRIX, "ascend910b3")
    assert found is not None
    assert found.family is ChipFamily.CHIP_910B
    first = query.chip_of_soc(MATRIX, "Ascend910B")
    assert first is not None
    assert first.family is ChipFamily.CHIP_910
    assert query.chip_of_soc(MATRIX, "Ascend910_5591") is None


def test_parse_cann_gives_the_vendors_spelling() -> None:
    assert str(query.parse_cann(MATRIX, "8.2.rc1")) == "8.2.RC1"
    assert str(query.parse_cann(MATRIX, "9.1.0.beta1")) == "9.1.0-beta.1"


@pytest.mark.parametrize("text", ["9.1.9", "9.1", "9.1.X", "latest"])
def test_an_unknown_cann_is_answered_with_those_known(text: str) -> None:
    with pytest.raises(UsageError, match="unknown CANN version") as caught:
        query.parse_cann(MATRIX, text)
    assert caught.value.hint is not None
    assert "9.2.0, 9.1.1, 9.1.0, 9.0.1" in caught.value.hint
    assert ("did you mean `9.1" in caught.value.hint) is (text != "latest")


def test_known_versions_are_newest_first() -> None:
    canns = query.cann_versions(MATRIX)
    assert canns[0] == CannVersion("9.2.0")
    assert list(canns) == sorted(canns, reverse=True)
    torches = query.torch_versions(MATRIX)
    assert torches[0] == Version("2.14.0")
    assert list(torches) == sorted(set(torches), reverse=True)


def names(releases: tuple[TorchNpuRelease, ...]) -> list[str]:
    return [row.torch_npu for row in releases]


def test_select_everything() -> None:
    assert len(query.select(MATRIX)) == len(MATRIX.torch_npu)


def test_select_by_cann_and_torch() -> None:
    selected = query.select(MATRIX, cann=CannVersion("9.1.0"), torch=Version("2.7.1+cpu"))
    assert names(selected) == ["2.7.1.post10", "2.7.1.post8"]


def test_select_by_train_or_its_line() -> None:
    assert len(query.select(MATRIX, train="26.1.0")) == 5
    assert len(query.select(MATRIX, train="26.1.X")) == 10


def test_select_by_arch_and_python() -> None:
    post6 = Version("2.10.0.post6")
    assert query.select(MATRIX, torch_npu=post6, arch=Arch.X86_64, python="3.12") == ()
    assert names(query.select(MATRIX, torch_npu=post6, python="3.12")) == ["2.10.0.post6"]
    assert names(query.select(MATRIX, torch_npu=post6, arch=Arch.X86_64)) == ["2.10.0.post6"]


def test_select_by_chip() -> None:
    assert query.select(MATRIX, chip=ChipFamily.CHIP_350) == ()
    for_950 = query.select(MATRIX, chip=ChipFamily.CHIP_950)
    assert {row.train for row in for_950 if not row.prerelease} == {
        "26.0.0",
        "26.0.1",
        "26.1.0",
        "26.1.1",
        "26.2.0",
    }
    assert [row.torch_npu for row in for_950 if row.prerelease] == ["2.13.0rc1"]
    assert "2.1.0" in names(query.select(MATRIX, chip=ChipFamily.CHIP_910B))


def test_a_family_without_a_row_is_known_to_no_release() -> None:
    matrix = MATRIX.model_copy(update={"chips": ()})
    assert query.select(matrix, chip=ChipFamily.CHIP_910B) == ()


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("tocrh", ["torch", "train"], "torch"),
        ("TORCH ", ["torch", "train"], "torch"),
        ("zzz", ["torch", "train"], None),
        ("torch", [], None),
        ("2.13.0.post99", ["2.9.0.post9", "2.13.0", "2.12.0.post2"], "2.13.0"),
    ],
)
def test_did_you_mean(word: str, known: list[str], meant: str | None) -> None:
    assert query.did_you_mean(word, known) == meant
