"""What the published matrix must say: each of these was a trap for somebody."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import TorchNpuRelease, all_tables
from ascendenv.paths import resource_dir
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, ChipFamily, Evidence, SupportPhase

MATRIX = load()


def release(torch_npu: str) -> TorchNpuRelease:
    return next(row for row in MATRIX.torch_npu if row.torch_npu == torch_npu)


def test_every_published_release_is_there() -> None:
    assert len(MATRIX.torch_npu) == 67
    assert sum(len(s.pythons) for row in MATRIX.torch_npu for s in row.wheels.values()) == 511
    assert all(set(row.wheels) == set(Arch) for row in MATRIX.torch_npu)


def test_releases_are_listed_newest_first() -> None:
    versions = [row.version for row in MATRIX.torch_npu]
    assert versions == sorted(versions, reverse=True)
    canns = [CannVersion(row.cann) for row in MATRIX.cann]
    assert canns == sorted(canns, reverse=True)


def test_2_10_0_post6_has_no_cp312_wheel_for_x86_64() -> None:
    wheels = release("2.10.0.post6").wheels
    assert wheels[Arch.X86_64].pythons == ("3.10", "3.11")
    assert wheels[Arch.AARCH64].pythons == ("3.10", "3.11", "3.12")


def test_the_first_python_3_14_wheel_of_torch_2_12_is_post3() -> None:
    with_314 = [r.torch_npu for r in query.select(MATRIX, torch=Version("2.12.0"), python="3.14")]
    assert with_314 == ["2.12.0.post3"]


def test_x86_64_wheels_below_2_12_require_the_cpu_build() -> None:
    for row in MATRIX.torch_npu:
        for text in row.wheels[Arch.X86_64].requires:
            requirement = Requirement(text)
            if requirement.name == "torch":
                assert ("+cpu" in str(requirement.specifier)) is (Version(row.torch) < Version("2.12"))
        assert "+cpu" not in "".join(row.wheels[Arch.AARCH64].requires)


@pytest.mark.parametrize(
    ("arch", "torch", "cuda"),
    [
        (Arch.AARCH64, "2.10.0", False),
        (Arch.AARCH64, "2.11.0", True),
        (Arch.AARCH64, "2.14.0", True),
        (Arch.X86_64, "2.7.1", True),
        (Arch.X86_64, "2.12.0", True),
    ],
)
def test_which_torch_of_the_default_index_is_a_cuda_build(arch: Arch, torch: str, *, cuda: bool) -> None:
    assert (query.torch_comes_with_cuda(MATRIX, arch, Version(torch)) is not None) is cuda


def test_only_previews_may_lack_a_cann_and_their_evidence_says_so() -> None:
    without = [row for row in MATRIX.torch_npu if row.cann is None]
    assert {row.torch_npu for row in without} == {"2.13.0rc1", "2.9.0rc1", "2.8.0rc1"}
    assert all(row.prerelease and row.evidence is Evidence.UNKNOWN for row in without)


def test_train_26_0_1_is_derived_since_no_table_lists_it() -> None:
    rows = [row for row in MATRIX.torch_npu if row.train == "26.0.1"]
    assert {row.torch_npu for row in rows} == {"2.10.0.post2", "2.9.0.post4", "2.8.0.post5", "2.7.1.post6"}
    assert {row.evidence for row in rows} == {Evidence.DERIVED}


def numpy_limits(cann: str, python: str) -> list[str]:
    rows = query.requirements_for(MATRIX, CannVersion(cann))
    requirements = [Requirement(row.requirement) for row in rows if row.needed_by == "CANN"]
    return sorted(
        str(r.specifier)
        for r in requirements
        if r.name == "numpy" and (r.marker is None or r.marker.evaluate({"python_version": python}))
    )


@pytest.mark.parametrize("cann", [row.cann for row in MATRIX.cann])
@pytest.mark.parametrize("python", ["3.8", "3.11", "3.13"])
def test_each_cann_has_exactly_one_numpy_limit(cann: str, python: str) -> None:
    assert len(numpy_limits(cann, python)) == 1


def test_numpy_limits_follow_the_cann() -> None:
    assert numpy_limits("8.3.RC2", "3.11") == ["<=1.24,>=1.19.2"]
    assert numpy_limits("8.5.1", "3.12") == ["<2.0,>=1.19.2"]
    assert numpy_limits("8.5.1", "3.13") == [">2.1"]
    assert numpy_limits("9.1.0", "3.11") == [">=1.19.2"]


@pytest.mark.parametrize("cann", ["7.0.0", "8.2.RC1", "9.2.0"])
def test_every_cann_needs_what_its_compiler_imports(cann: str) -> None:
    rows = query.requirements_for(MATRIX, CannVersion(cann))
    needed = Counter(Requirement(row.requirement).name for row in rows)
    assert {
        "attrs",
        "decorator",
        "psutil",
        "scipy",
        "sympy",
        "cffi",
        "pyyaml",
        "protobuf",
        "setuptools",
    } <= set(needed)
    assert needed["protobuf"] == 1


def test_protobuf_is_pinned_up_to_9_0_only() -> None:
    def protobuf(cann: str) -> list[str]:
        rows = query.requirements_for(MATRIX, CannVersion(cann))
        return [row.requirement for row in rows if row.requirement.startswith("protobuf")]

    assert protobuf("9.0.1") == ["protobuf==3.20.*"]
    assert protobuf("9.1.0") == ["protobuf"]


def test_every_soc_has_one_family_and_every_family_a_row() -> None:
    assert {chip.family for chip in MATRIX.chips} == set(ChipFamily)
    socs = Counter(soc for chip in MATRIX.chips for soc in chip.socs)
    assert max(socs.values()) == 1


def test_what_a_soc_has_is_known_of_all_but_three() -> None:
    described = {row.soc for row in MATRIX.socs}
    socs = {soc for chip in MATRIX.chips for soc in chip.socs}
    assert socs - described == {"Ascend310", "Ascend310P2", "Ascend310P4"}
    b3 = next(row for row in MATRIX.socs if row.soc == "Ascend910B3")
    assert (b3.cube_cores, b3.vector_cores, b3.l2_mib) == (20, 40, 192)


def test_chips_have_operator_packages_since_the_release_that_brought_them() -> None:
    for chip in MATRIX.chips:
        for row in MATRIX.cann:
            if chip.family in row.chips and chip.cann_since is not None:
                assert CannVersion(chip.cann_since).release_line <= CannVersion(row.cann).release_line


def test_no_row_names_the_host_of_the_default_index() -> None:
    default = [row for row in MATRIX.indexes if row.url is None]
    assert [row.name for row in default] == ["default"]
    assert "torch_npu" in default[0].has


def test_mirrors_have_what_they_mirror() -> None:
    by_name = {row.name: row for row in MATRIX.indexes}
    for row in MATRIX.indexes:
        if row.mirror_of is not None:
            assert row.has in {(), by_name[row.mirror_of].has}
            assert row.order > by_name[row.mirror_of].order


def test_every_row_says_where_it_is_from() -> None:
    for table in all_tables():
        for row in getattr(MATRIX, table.field):
            assert row.source.strip(), row


def test_every_tag_of_the_recipes_is_there_once() -> None:
    tags = [
        tag
        for row in MATRIX.image_tags
        if row.source.startswith("Ascend/cann-container")
        for tag in row.tags()
    ]
    assert len(tags) == len(set(tags)) == 287
    assert {"8.1.RC1.alpha001-910b-ubuntu22.04-py3.10", "9.1.0-beta.1-A3-ubuntu22.04-py3.12"} <= set(tags)


def test_the_floors_of_glibc_are_those_of_the_wheels() -> None:
    for row in MATRIX.torch_npu:
        for arch, wheels in row.wheels.items():
            floors = {
                rule.requirement
                for rule in MATRIX.tools
                if rule.tool == "glibc"
                and rule.needed_by == "torch_npu"
                and rule.arch in {None, arch}
                and SpecifierSet(rule.releases or "").contains(row.version, prereleases=True)
            }
            tags = {minor for text in wheels.platforms for minor in _glibc_minors(text)}
            assert floors == {f">=2.{min(tags)}"}, (row.torch_npu, arch)


def _glibc_minors(platforms: str) -> list[int]:
    return [
        int(minor)
        for minor in re.findall(r"manylinux_2_(\d+)", platforms.replace("manylinux2014", "manylinux_2_17"))
    ]


def test_a_release_whose_support_has_ended_says_when() -> None:
    for row in MATRIX.torch_support:
        assert (row.ended is None) is (row.phase is not SupportPhase.END_OF_LIFE)
        assert (row.from_day is None) is (row.next_phase is None)
    assert {row.torch for row in MATRIX.torch_npu} - {row.torch for row in MATRIX.torch_support} == {"2.9.1"}


def test_torchvision_is_known_for_every_torch() -> None:
    for project in ("torchvision", "torchaudio"):
        torches = {torch for row in MATRIX.extensions if row.package == project for torch in row.torch}
        missing = {row.torch for row in MATRIX.torch_npu} - torches
        assert missing == (set() if project == "torchvision" else {"2.14.0", "2.13.0", "2.12.0", "2.11.0"})


def test_vllm_ascend_pins_what_no_index_has() -> None:
    released = {row.torch_npu for row in MATRIX.torch_npu}
    unpublished = {row.torch_npu for row in MATRIX.unpublished}
    pinned = {row.torch_npu for row in MATRIX.extensions if row.package == "vllm-ascend"} - {None}
    assert pinned - released == pinned & unpublished
    assert "2.7.1.post1" in pinned & unpublished


def test_no_row_names_the_host_of_a_package_registry() -> None:
    hosts = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "deb" + "ian.org")
    for path in resource_dir("matrix").iterdir():
        assert not [host for host in hosts if host in path.read_text(encoding="utf-8")]
