"""Version numbers of CANN, drivers and trains, by the examples that the vendor published."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ascendenv.versions import (
    CannVersion,
    HdkVersion,
    InvalidCannVersionError,
    InvalidHdkVersionError,
    train_covers,
    train_key,
)

CANN = [
    "6.3.RC2",
    "6.3.RC3",
    "6.3.RC3.1",
    "7.0.RC1",
    "7.0.0",
    "8.0.RC1.alpha001",
    "8.0.RC1",
    "8.0.0.alpha001",
    "8.0.0",
    "8.2.RC1.alpha001",
    "8.2.RC1.alpha003",
    "8.2.RC1",
    "8.2.RC2",
    "8.2.0",
    "8.5.0.alpha001",
    "8.5.0",
    "8.5.1",
    "8.5.X",
    "9.0.0-beta.1",
    "9.0.0-beta.2",
    "9.0.0",
    "9.1.0-beta.1",
    "9.1.0",
    "9.1.1",
    "9.1.X",
    "9.2.0",
    "10.0.0",
]
HDK = [
    "20.2.0",
    "22.0.3.1",
    "22.0.4",
    "23.0.rc2.2",
    "23.0.rc3",
    "23.0.0",
    "24.1.rc3",
    "24.1.rc3.b999",
    "24.1.rc3.1",
    "24.1.rc3.7",
    "24.1.0",
    "24.1.0.1",
    "25.0.RC1",
    "25.0.rc1.1",
    "25.0.X",
    "25.5.1",
    "25.7.RC1",
    "25.7.rc1.6",
    "26.1.0",
    "26.1.0.b083",
]
TRAINS = [
    "5.0.rc3",
    "5.0.0",
    "6.0.rc2 alpha",
    "6.0.rc2",
    "6.0.rc3",
    "6.0.0 alpha",
    "6.0.0",
    "7.0.0",
    "7.1.RC1.alpha001",
    "7.1.0",
    "7.2.RC1 alpha",
    "7.2.0",
    "7.2.0.1",
    "7.3.0.alpha",
    "7.3.0",
    "26.0.0",
    "26.1.1",
    "preview",
]


def test_cann_order() -> None:
    versions = [CannVersion(text) for text in CANN]
    assert all(a < b for a, b in pairwise(versions))


def test_hdk_order() -> None:
    versions = [HdkVersion(text) for text in HDK]
    assert all(a < b for a, b in pairwise(versions))


def test_train_order() -> None:
    assert all(train_key(a) < train_key(b) for a, b in pairwise(TRAINS))


@pytest.mark.parametrize(
    "text",
    ["", "9", "9.1", "9.1.0.0", "v9.1.0", "9.1.RC", "9.1.X-beta.1", "9.1.0-gamma.1", "9.1.0 beta", "٩.1.0"],
)
def test_what_is_no_cann_version(text: str) -> None:
    with pytest.raises(InvalidCannVersionError, match="is not a CANN version such as"):
        CannVersion(text)


@pytest.mark.parametrize("text", ["", "25", "25.0", "25.0.rc", "25.0.0-1", "25.X.0", "25.0.X.1", "25.0.0.c1"])
def test_what_is_no_hdk_version(text: str) -> None:
    with pytest.raises(InvalidHdkVersionError, match="is not a driver version such as"):
        HdkVersion(text)


def test_spelling_does_not_matter_to_equality() -> None:
    assert CannVersion("8.2.rc1") == CannVersion("8.2.RC1")
    assert CannVersion("9.1.0.beta1") == CannVersion("9.1.0-beta.1")
    assert hash(CannVersion(" 8.2.rc1 ")) == hash(CannVersion("8.2.RC1"))
    assert HdkVersion("25.0.RC1") == HdkVersion("25.0.rc1")
    assert hash(HdkVersion("25.0.RC1")) == hash(HdkVersion("25.0.rc1"))
    assert str(CannVersion("8.2.rc1")) == "8.2.rc1"
    assert str(HdkVersion("25.0.RC1")) == "25.0.RC1"


def test_versions_of_different_kinds_are_never_equal() -> None:
    assert CannVersion("9.1.0") != "9.1.0"
    assert HdkVersion("9.1.0") != CannVersion("9.1.0")


@pytest.mark.parametrize(
    ("pattern", "text", "covered"),
    [
        ("9.1.X", "9.1.0", True),
        ("9.1.x", "9.1.7", True),
        ("8.3.X", "8.3.RC1", True),
        ("9.1.X", "9.1.0-beta.3", False),
        ("8.5.X", "8.5.0.alpha001", False),
        ("9.1.X", "9.0.1", False),
        ("9.1.0", "9.1.0", True),
        ("9.1.0", "9.1.1", False),
        ("9.1.X", "9.1.X", True),
        ("9.1.0", "9.1.X", False),
    ],
)
def test_cann_covers(pattern: str, text: str, *, covered: bool) -> None:
    assert CannVersion(pattern).covers(CannVersion(text)) is covered


@pytest.mark.parametrize(
    ("pattern", "text", "covered"),
    [
        ("25.0.X", "25.0.rc1.1", True),
        ("25.5.X", "25.5.1", True),
        ("25.5.X", "25.7.rc1", False),
        ("25.7.RC1", "25.7.rc1.6", True),
        ("25.7.RC1", "25.7.rc2", False),
        ("24.1.0", "24.1.0.1", True),
        ("24.1.0.1", "24.1.0", False),
        ("25.5.1", "25.5.2", False),
    ],
)
def test_hdk_covers(pattern: str, text: str, *, covered: bool) -> None:
    assert HdkVersion(pattern).covers(HdkVersion(text)) is covered


def test_kinds_of_versions() -> None:
    assert CannVersion("9.1.X").is_wildcard
    assert not CannVersion("9.1.0").is_wildcard
    assert HdkVersion("25.5.X").is_wildcard
    assert not HdkVersion("25.5.1").is_wildcard
    assert CannVersion("8.2.RC1.alpha003").is_prerelease
    assert CannVersion("9.1.0-beta.1").is_prerelease
    assert not CannVersion("8.2.RC1").is_prerelease
    assert CannVersion("8.2.RC1").release_line == (8, 2)


@pytest.mark.parametrize(
    ("pattern", "train", "covered"),
    [
        ("26.1.X", "26.1.0", True),
        ("26.1.X", "26.10.0", False),
        ("7.2.X", "7.2.0.1", True),
        ("7.3.X", "7.3.0.alpha", False),
        ("7.2.0", "7.2.0", True),
        ("7.2.0", "7.2.0.1", False),
        ("26.1.X", "preview", False),
    ],
)
def test_train_covers(pattern: str, train: str, *, covered: bool) -> None:
    assert train_covers(pattern, train) is covered
