"""The machine to plan for, and the wheels that it accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import laptop
from packaging.tags import parse_tag
from planning import MATRIX
from planning import target as planned

from ascendenv.errors import UsageError
from ascendenv.host.gather import gather
from ascendenv.host.model import Host, OperatingSystem
from ascendenv.resolve.tags import ranked_tags, supported_tags
from ascendenv.resolve.target import OTHER_MACHINE_GLIBC, parse_arch, parse_python, target
from ascendenv.vocabulary import Arch, ChipFamily


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return gather(MATRIX, laptop(tmp_path).build())


def on_musl(host: Host) -> Host:
    system = OperatingSystem(name="Alpine 3.20", kernel="6", libc="musl", libc_version="1.2", where="a test")
    return host.model_copy(update={"os": system})


def test_the_own_machine_counts_as_far_as_nothing_else_is_said(host: Host) -> None:
    made = target(host, MATRIX, default_python="3.12")

    assert (made.arch, made.python, made.glibc) == (host.cpu.arch, "3.12", host.os.libc_version)


def test_another_machine_is_taken_for_the_oldest_that_will_do(host: Host) -> None:
    made = target(host, MATRIX, arch="arm64", python="3.11.7", chip="Ascend910B3", default_python="3.12")

    assert (made.arch, made.python, made.chip) == (Arch.AARCH64, "3.11", ChipFamily.CHIP_910B)
    assert made.glibc == OTHER_MACHINE_GLIBC


def test_a_machine_with_musl_is_told_so(host: Host) -> None:
    with pytest.raises(UsageError, match=r"Alpine 3\.20.*musl"):
        target(on_musl(host), MATRIX, default_python="3.12")

    assert target(on_musl(host), MATRIX, arch="aarch64", default_python="3.12").glibc == OTHER_MACHINE_GLIBC


def test_an_architecture_without_ascend_can_plan_for_another(host: Host) -> None:
    strange = host.model_copy(
        update={"cpu": host.cpu.model_copy(update={"arch": None, "machine": "riscv64"})}
    )

    with pytest.raises(UsageError, match="riscv64"):
        target(strange, MATRIX, default_python="3.12")
    assert target(strange, MATRIX, arch="x86_64", default_python="3.12").arch is Arch.X86_64


@pytest.mark.parametrize(("text", "arch"), [("AMD64", "x86_64"), ("x86-64", "x86_64"), ("ARM64", "aarch64")])
def test_architectures_have_other_names(text: str, arch: str) -> None:
    assert parse_arch(text) is Arch(arch)


def test_an_unknown_architecture_is_refused_with_a_guess() -> None:
    with pytest.raises(UsageError) as caught:
        parse_arch("aarch46")

    assert caught.value.hint is not None
    assert "aarch64" in caught.value.hint


@pytest.mark.parametrize("text", ["3", "2.7", "3.99", "python", "4.1"])
def test_what_is_no_python_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"unknown Python version `{text}`"):
        parse_python(MATRIX, text)


def test_a_python_without_wheels_is_no_typing_mistake() -> None:
    assert parse_python(MATRIX, "3.15") == "3.15"


@pytest.mark.parametrize(
    ("tag", "accepted"),
    [
        ("cp311-cp311-manylinux_2_28_x86_64", True),
        ("cp311-cp311-manylinux_2_17_x86_64", True),
        ("cp311-cp311-manylinux2014_x86_64", True),
        ("cp311-cp311-manylinux1_x86_64", True),
        ("cp311-cp311-linux_x86_64", True),
        ("cp38-abi3-manylinux_2_17_x86_64", True),
        ("py3-none-any", True),
        ("py3-none-manylinux_2_28_x86_64", True),
        ("cp311-cp311-manylinux_2_29_x86_64", False),
        ("cp312-cp312-manylinux_2_28_x86_64", False),
        ("cp312-abi3-manylinux_2_28_x86_64", False),
        ("cp311-cp311-manylinux_2_28_aarch64", False),
        ("cp311-cp311-musllinux_1_2_x86_64", False),
        ("cp311-cp311-macosx_11_0_x86_64", False),
        ("cp27-none-any", False),
    ],
)
def test_which_wheels_run(tag: str, accepted: bool) -> None:
    assert supported_tags(planned("x86_64", "3.11")).isdisjoint(parse_tag(tag)) is not accepted


def test_of_two_wheels_the_more_special_ranks_first() -> None:
    ranks = ranked_tags(planned("aarch64", "3.12"))
    (special,) = parse_tag("cp312-cp312-manylinux_2_28_aarch64")
    (older,) = parse_tag("cp312-cp312-manylinux_2_17_aarch64")
    (pure,) = parse_tag("py3-none-any")

    assert ranks[special] < ranks[older] < ranks[pure]
