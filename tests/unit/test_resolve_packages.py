"""Packages on top of torch_npu: what may be wished for, what is picked, and what is then required."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import server
from planning import MATRIX, Shelf, chosen, refused, target

from ascendenv.errors import UsageError
from ascendenv.host.gather import gather
from ascendenv.planning import Wanted, request_for
from ascendenv.resolve.drivers import driver_for, judge_driver, listed_drivers
from ascendenv.resolve.model import Request
from ascendenv.resolve.packages import Extensions, wish
from ascendenv.resolve.target import target as make_target
from ascendenv.versions import CannVersion, HdkVersion
from ascendenv.vocabulary import Evidence


def row(package: str, version: str) -> Extensions:
    found = next(r for r in MATRIX.extensions if (r.package, r.version) == (package, version))
    return Extensions(rows=(found,))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Triton_Ascend", "triton-ascend"),
        ("vllm-ascend==0.18.0", "vllm-ascend 0.18.0"),
        ("numpy>=2,<3", "numpy >=2,<3"),
        ("numpy==2.*", "numpy ==2.*"),
    ],
)
def test_a_wish_is_named_by_its_project(text: str, shown: str) -> None:
    assert str(wish(text, MATRIX)) == shown


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("cann", "only bears the name", "--cann"),
        ("Ascend.CANN_toolkit", "only bears the name", "--cann"),
        ("torch", "an option of its own", "use --torch"),
        ("torch_npu==2.7.1", "an option of its own", "use --torch-npu"),
        ("numpy>", "is not a package", "such as"),
        ("", "is not a package", "such as"),
    ],
)
def test_what_cannot_be_wished_for(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        request_for(MATRIX, Wanted(packages=(text,)))

    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_release_that_the_matrix_does_not_know_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match=r"the matrix knows no vllm-ascend 0\.99") as caught:
        request_for(MATRIX, Wanted(packages=("vllm-ascend==0.99",)))

    assert "0.23.0.post1, 0.23.0," in (caught.value.hint or "")


def test_an_extension_decides_the_stack() -> None:
    choice = chosen(Request(packages=("vllm-ascend==0.13.0",)), target("aarch64"))

    assert (choice.pairing.cann, choice.pairing.torch_npu) == ("8.5.0", "2.8.0.post2")
    assert {"vllm-ascend==0.13.0", "vllm==0.13.0", "triton-ascend==3.2.0"} <= set(choice.requirements)


def test_what_is_known_to_be_right_holds_whatever_others_declare() -> None:
    """vllm 0.13.0 declares a newer torch than torch_npu has, and xgrammar declares triton."""
    choice = chosen(Request(packages=("vllm-ascend==0.13.0",)), target("aarch64"))

    assert choice.overrides == (
        "torch==2.8.0",
        "torch-npu==2.8.0.post2",
        "triton; python_version < '0'",
    )
    assert chosen().overrides == ()


def test_the_newest_extension_that_can_be_had_is_taken() -> None:
    shelf = Shelf(without=("vllm_ascend 0.23.0.post1", "vllm 0.23.0"))
    choice = chosen(Request(packages=("vllm-ascend>=0.14",)), target("aarch64"), shelf)

    assert "vllm-ascend==0.26.0rc1" in choice.requirements
    assert [passed.wheel for passed in choice.passed_over][:2] == ["vllm_ascend 0.23.0.post1", "vllm 0.23.0"]


def test_a_package_that_only_the_index_knows_is_required_as_it_was_written() -> None:
    choice = chosen(Request(packages=("transformers<5",)), target("aarch64"))

    assert "transformers<5" in choice.requirements
    assert choice.pairing == chosen(on=target("aarch64")).pairing


def test_bounds_that_the_cann_can_do_with_choose_the_cann() -> None:
    choice = chosen(Request(packages=("numpy<=1.24",), cann="<9"), target("aarch64", "3.10"))

    assert "numpy<=1.24" in choice.requirements


def test_two_extensions_have_to_agree() -> None:
    packages = ("vllm-ascend==0.23.0", "triton-ascend==3.2.1")
    conflict = refused(Request(packages=packages), target("aarch64"))

    assert conflict.summary == "vllm-ascend 0.23.0 and triton-ascend 3.2.1 cannot be in one environment"
    assert "brings vllm==0.23.0, triton-ascend==3.2.2" in conflict.constraints[0].text


def test_what_an_extension_brings_satisfies_the_wish_for_it() -> None:
    choice = chosen(Request(packages=("triton-ascend", "vllm-ascend==0.23.0")), target("aarch64"))

    assert choice.requirements.count("triton-ascend==3.2.2") == 1


def test_extensions_fit_together_when_they_settle_nothing_twice() -> None:
    vllm, triton = row("vllm-ascend", "0.23.0"), row("triton-ascend", "3.2.1")

    assert vllm.fit_together(MATRIX.exclusive)
    assert not Extensions(rows=(*vllm.rows, *triton.rows)).fit_together(MATRIX.exclusive)
    assert not Extensions(rows=vllm.rows, plain=frozenset({"triton"})).fit_together(MATRIX.exclusive)


def test_the_driver_of_the_machine_counts(tmp_path: Path) -> None:
    host = gather(MATRIX, server(tmp_path, driver="25.0.rc1").build())

    made = make_target(host, MATRIX, default_python="3.11")
    assert (made.driver, made.driver_from) == ("25.0.rc1", "/usr/local/Ascend/driver/version.info")
    assert make_target(host, MATRIX, driver="any", default_python="3.11").driver is None
    assert make_target(host, MATRIX, driver="26.1.0", default_python="3.11").driver == "26.1.0"
    assert make_target(host, MATRIX, arch="x86_64", default_python="3.11").driver is None
    assert make_target(host, MATRIX, chip="950", default_python="3.11").driver is None


def test_a_driver_that_is_none_is_refused(tmp_path: Path) -> None:
    host = gather(MATRIX, server(tmp_path).build())

    with pytest.raises(UsageError, match="'new' is not a driver version"):
        make_target(host, MATRIX, driver="new", default_python="3.11")


def test_the_best_cann_for_an_old_driver_is_chosen() -> None:
    choice = chosen(on=target("aarch64", driver="25.0.rc1"))

    driver = HdkVersion("25.0.rc1")
    assert judge_driver(MATRIX, CannVersion(choice.pairing.cann), driver).supported is not False
    assert CannVersion(choice.pairing.cann) < CannVersion("9.1.0")


def test_a_driver_of_an_unknown_form_stands_in_no_way() -> None:
    assert chosen(on=target("aarch64", driver="V100R001")).pairing == chosen(on=target("aarch64")).pairing


def test_the_floor_of_an_older_cann_holds_for_a_newer_one_without_a_list() -> None:
    rows = tuple(row for row in MATRIX.drivers if not row.cann.startswith("9.2"))
    matrix = MATRIX.model_copy(update={"drivers": rows})

    judged = judge_driver(matrix, CannVersion("9.2.0"), HdkVersion("24.1.rc2"))
    assert (judged.supported, judged.evidence) == (False, Evidence.INFERRED)
    assert "older than CANN 9.1.1, which came before, allows (25.2.0 or newer)" in judged.because
    assert judge_driver(matrix, CannVersion("9.2.0"), HdkVersion("25.5.1")).supported is None
    without = MATRIX.model_copy(update={"drivers": ()})
    assert judge_driver(without, CannVersion("9.2.0"), HdkVersion("24.1.rc2")).supported is None


def test_which_driver_to_upgrade_to() -> None:
    assert driver_for(MATRIX, CannVersion("9.1.0")) == "26.1.0"
    assert driver_for(MATRIX, CannVersion("7.0.RC1")) is None
    assert listed_drivers(MATRIX, CannVersion("9.1.0"))[:2] == ("26.1.0", "25.2.X")
