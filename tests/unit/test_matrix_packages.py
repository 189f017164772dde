"""What CANN is delivered in: names, URLs, hashes, and how well each is known."""

from __future__ import annotations

import pytest

from ascendenv.compatibility.load import load
from ascendenv.compatibility.packages import CannPackage, cann_packages
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, CannComponent, ChipFamily, Evidence, PackageKind

MATRIX = load()


def packages(
    cann: str,
    chip: ChipFamily | None = None,
    kind: PackageKind = PackageKind.RUN,
    arch: Arch = Arch.AARCH64,
) -> tuple[CannPackage, ...]:
    return cann_packages(MATRIX, CannVersion(cann), arch, chip, kind)


def names(*args: object, **kwargs: object) -> list[str]:
    return [package.name for package in packages(*args, **kwargs)]  # type: ignore[arg-type]


def test_kernels_are_called_ops_from_8_5_0_on() -> None:
    assert names("8.3.RC2", ChipFamily.CHIP_910B) == [
        "Ascend-cann-toolkit_8.3.RC2_linux-aarch64.run",
        "Ascend-cann-kernels-910b_8.3.RC2_linux-aarch64.run",
        "Ascend-cann-nnal_8.3.RC2_linux-aarch64.run",
    ]
    assert names("8.5.0.alpha002", ChipFamily.CHIP_910B)[1].startswith("Ascend-cann-kernels-910b_")
    assert names("8.5.0", ChipFamily.CHIP_910B)[1] == "Ascend-cann-910b-ops_8.5.0_linux-aarch64.run"


@pytest.mark.parametrize(
    ("kind", "cann", "name"),
    [
        (PackageKind.RUN, "8.3.RC1", "Atlas-A3-cann-kernels_8.3.RC1_linux-aarch64.run"),
        (PackageKind.RUN, "9.1.0", "Ascend-cann-A3-ops_9.1.0_linux-aarch64.run"),
        (PackageKind.YUM, "9.1.0", "Ascend-cann-A3-ops-9.1.0"),
        (PackageKind.APT, "9.1.0", "ascend-cann-a3-ops=9.1.0"),
        (PackageKind.PIP, "9.1.0", "ascend-cann-a3-ops==9.1.0"),
        (PackageKind.CONDA, "9.1.0", "ascend::cann-a3-ops==9.1.0"),
        (PackageKind.CONDA, "8.2.RC1", "ascend::a3-cann-kernels==8.2.RC1"),
    ],
)
def test_the_a3_is_spelled_as_each_channel_spells_it(kind: PackageKind, cann: str, name: str) -> None:
    assert [p.name for p in packages(cann, ChipFamily.A3, kind) if p.component is CannComponent.OPS] == [name]


def test_the_950_has_operators_from_9_0_0_on() -> None:
    assert not [p for p in packages("9.0.0-beta.2", ChipFamily.CHIP_950) if p.component is CannComponent.OPS]
    (ops,) = (p for p in packages("9.0.0", ChipFamily.CHIP_950) if p.component is CannComponent.OPS)
    assert ops.evidence is Evidence.OFFICIAL


def test_urls_are_made_of_channel_folder_and_name() -> None:
    toolkit = packages("9.1.0-beta.1", arch=Arch.X86_64)[0]
    base = "https://ascend-repo.obs.cn-east-2.myhuaweicloud.com"
    assert toolkit.url == f"{base}/CANN/CANN%209.1.T1/Ascend-cann-toolkit_9.1.0-beta.1_linux-x86_64.run"
    alpha = packages("8.2.RC1.alpha003")[0]
    assert alpha.url is not None
    assert alpha.url.startswith(f"{base}/Milan-ASL/Milan-ASL%20V100R001C22B800TP052/")
    assert packages("9.1.0", kind=PackageKind.APT)[0].url is None
    assert packages("8.0.RC3")[0].url is None  # its folder is not known


def test_what_was_not_seen_is_said_to_be_derived() -> None:
    assert {p.evidence for p in packages("9.1.1")} == {Evidence.DERIVED}
    seen = {p.chip: p.evidence for p in packages("9.0.1") if p.component is CannComponent.OPS}
    assert seen[ChipFamily.CHIP_910B] is Evidence.OFFICIAL
    assert seen[ChipFamily.CHIP_310B] is Evidence.DERIVED
    nnal = {p.component: p.evidence for p in packages("8.1.RC1.alpha001")}
    assert nnal[CannComponent.TOOLKIT] is Evidence.OFFICIAL
    assert nnal[CannComponent.NNAL] is Evidence.DERIVED


def test_hashes_and_sizes_where_they_are_known() -> None:
    toolkit = packages("9.0.0", kind=PackageKind.ZIP)[0]
    assert toolkit.sha256 == "d7b1fd32d60f46735b8bebed8c6238071493f8f62c385e6d7946d23a65c9780e"
    assert (toolkit.size, toolkit.evidence) == (None, Evidence.OFFICIAL)
    beta = packages("9.2.0-beta.2", ChipFamily.CHIP_950, arch=Arch.X86_64)
    assert [p.size for p in beta] == [1398240001, 2850241840, None]


def test_nnae_ends_with_8_3() -> None:
    def has_nnae(cann: str) -> bool:
        return any(p.component is CannComponent.NNAE for p in packages(cann, kind=PackageKind.ZIP))

    assert has_nnae("8.3.RC1")
    assert not has_nnae("8.5.0")
