"""Tables narrowed by what is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.version import Version

from ascendenv.compatibility.listing import Axes, ReleaseList, RowList, find_table, list_rows
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import all_tables
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, ChipFamily

MATRIX = load()


def listed(table: str, **axes: Any) -> list[Any]:  # noqa: ANN401  # a value of any axis
    found = list_rows(MATRIX, table, Axes(**axes))
    assert isinstance(found, RowList)
    return list(found.rows)


def column(table: str, name: str, **axes: Any) -> list[Any]:  # noqa: ANN401  # likewise
    return [row[name] for row in listed(table, **axes)]


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.field)
def test_every_table_can_be_listed(table: Any) -> None:  # noqa: ANN401  # its rows have any type
    found = list_rows(MATRIX, table.field, Axes())
    rows = found.releases if isinstance(found, ReleaseList) else found.rows
    assert len(rows) == len(getattr(MATRIX, table.field))


def test_releases_by_every_axis() -> None:
    found = list_rows(
        MATRIX,
        "torch-npu",
        Axes(
            cann=CannVersion("9.1.0"),
            torch=Version("2.7.1"),
            train="26.1.X",
            arch=Arch.X86_64,
            python="3.11",
            chip=ChipFamily.CHIP_950,
        ),
    )
    assert isinstance(found, ReleaseList)
    assert [row.torch_npu for row in found.releases] == ["2.7.1.post10", "2.7.1.post8"]


def test_by_cann() -> None:
    assert column("drivers", "cann", cann=CannVersion("9.1.1")) == ["9.1.X", "9.1.1"]
    numpy = column("requirements", "requirement", cann=CannVersion("8.3.RC2"))
    assert "numpy>=1.19.2,<=1.24" in numpy
    assert "numpy>=1.19.2" not in numpy
    assert "protobuf" not in numpy
    assert len(listed("ops-mixing", cann=CannVersion("9.0.1"))) == 1


def test_by_torch_and_by_torch_npu() -> None:
    assert column("cuda-torch", "arch", torch=Version("2.10.0")) == ["x86_64"]
    assert column("cuda-torch", "arch", torch=Version("2.11.0")) == ["x86_64", "aarch64"]
    assert {row["package"] for row in listed("extensions", torch=Version("2.7.1+cpu"))} == {
        "triton-ascend",
        "vllm-ascend",
        "torchvision",
        "torchaudio",
        "torchtitan-npu",  # of some of its versions nothing is stated: they hold for every torch
    }
    glibc = column("tools", "requirement", torch_npu=Version("2.5.1"), arch=Arch.X86_64)
    assert ">=2.17" in glibc
    assert ">=2.28" not in glibc
    assert column("reports", "cann", torch_npu=Version("2.8.0")) == ["9.2.0", "8.3.X"]


def test_by_train_python_and_chip() -> None:
    assert column("trains", "train", train="26.1.X") == ["26.1.1", "26.1.0"]
    assert len(listed("compatibility", train="26.1.0")) == 1
    assert "2.13.0" in column("torch-pythons", "torch", python="3.14")
    assert "2.10.0" not in column("torch-pythons", "torch", python="3.14")
    assert "9.1.0" in column("cann", "cann", python="3.14")
    assert not {"9.0.0", "8.3.RC1"} & set(column("cann", "cann", python="3.14"))
    assert "8.3.RC1" not in column("cann", "cann", python="3.6")
    vllm = column("extensions", "version", python="3.12", cann=CannVersion("9.1.0"))
    assert "0.23.0" in vllm
    assert "0.20.2rc1" not in vllm
    assert "0.26.0rc1" not in column("extensions", "version", python="3.13")
    assert {tuple(row["chips"]) for row in listed("drivers-seen", chip=ChipFamily.A3)} == {("a3",)}
    assert [row["family"] for row in listed("boards", chip=ChipFamily.A3)] == ["a3"]
    assert any("A3" in row["chips"] for row in listed("image-tags", chip=ChipFamily.A3))


def test_what_a_table_says_nothing_of_is_refused() -> None:
    with pytest.raises(UsageError, match="drivers say nothing of --torch") as caught:
        listed("drivers", torch=Version("2.7.1"))
    assert caught.value.hint == "they can be narrowed by --cann"
    with pytest.raises(UsageError, match="placeholders say nothing of --cann") as caught:
        listed("placeholders", cann=CannVersion("9.1.0"))
    assert caught.value.hint is None


def test_tables_may_be_spelled_either_way_and_are_guessed() -> None:
    assert find_table("image_tags") is find_table("image-tags")
    with pytest.raises(UsageError, match="unknown table 'image-tag'") as caught:
        find_table("image-tag")
    assert caught.value.hint is not None
    assert "did you mean `image-tags`?" in caught.value.hint
