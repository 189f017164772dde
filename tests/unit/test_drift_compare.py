"""The matrix is what the index had on the day of the recording; every way to differ from it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from recorded_index import file, project, recorded

from ascendenv.compatibility.load import load
from ascendenv.drift.compare import compare, needs_cuda, projects, wheels_to_read
from ascendenv.drift.model import Difference, File, Kind, Snapshot
from ascendenv.vocabulary import Arch

MATRIX = load()
RECORDED = recorded()
NEW = "torch_npu-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl"


def found(snapshot: Snapshot) -> list[tuple[str, str, str, str]]:
    return [(d.kind.value, d.subject, d.matrix, d.there) for d in compare(MATRIX, snapshot).differences]


def changing(name: str, change: Callable[[File], File | None]) -> Snapshot:
    """The recording with one file changed, or taken out."""
    files = {
        key: tuple(kept for f in these if (kept := change(f) if f.filename == name else f) is not None)
        for key, these in RECORDED.files.items()
    }
    assert files != RECORDED.files
    return replace(RECORDED, files=files)


def with_files(*names: str) -> Snapshot:
    more = {name: (*RECORDED.files.get(project(name), ()), file(name)) for name in names}
    return replace(RECORDED, files={**RECORDED.files, **{project(name): more[name] for name in names}})


def test_the_matrix_is_what_the_index_had() -> None:
    drift = compare(MATRIX, RECORDED)
    assert drift.differences == ()
    assert drift.compared > 1000
    assert len(RECORDED.requires) > 150
    assert len(RECORDED.files["torch-npu"]) == 512


def test_it_asks_for_what_it_speaks_of() -> None:
    assert projects(MATRIX) == (
        *("torch-npu", "torch", "triton-ascend", "vllm-ascend", "torchtitan-npu"),
        *("ascend-cann-toolkit", "cann"),
    )


def test_a_missing_wheel() -> None:
    name = "torch_npu-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert found(changing(name, lambda _: None)) == [
        ("wheel-missing", "torch_npu 2.13.0, x86_64, Python 3.11", "a wheel", "none")
    ]


def test_a_wheel_that_is_not_listed() -> None:
    name = "torch_npu-2.10.0.post6-cp312-cp312-manylinux_2_28_x86_64.whl"
    assert found(with_files(name)) == [
        ("wheel-not-listed", "torch_npu 2.10.0.post6, x86_64, Python 3.12", "no wheel", "one")
    ]


def test_another_platform() -> None:
    name = "torch_npu-2.13.0-cp311-cp311-manylinux_2_34_x86_64.whl"
    assert found(with_files(name)) == [
        (
            "platforms-changed",
            "torch_npu 2.13.0, x86_64",
            "manylinux_2_28",
            "manylinux_2_28, manylinux_2_34",
        )
    ]


def test_a_yanked_file() -> None:
    name = "torch_npu-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert found(changing(name, lambda f: replace(f, yanked=True))) == [
        ("yanked", "torch_npu 2.13.0", "not yanked", "1 of 10 files yanked")
    ]


def test_a_new_release_and_one_that_is_gone() -> None:
    assert found(with_files(NEW)) == [("release-without-row", "torch_npu 2.15.0", "no row", "1 wheels")]
    kept = tuple(f for f in RECORDED.files["torch-npu"] if str(f.version) != "2.13.0")
    gone = replace(RECORDED, files={**RECORDED.files, "torch-npu": kept})
    assert found(gone) == [("release-gone", "torch_npu 2.13.0", "a release", "no file")]


def test_a_release_for_one_architecture_less() -> None:
    kept = tuple(
        f
        for f in RECORDED.files["torch-npu"]
        if not (str(f.version) == "2.13.0" and f.filename.endswith("aarch64.whl"))
    )
    kinds = {kind for kind, *_ in found(replace(RECORDED, files={**RECORDED.files, "torch-npu": kept}))}
    assert kinds == {"wheel-missing"}


def test_changed_pins() -> None:
    (name,) = (n for n in RECORDED.requires if n.startswith("torch_npu-2.13.0-cp310") and "x86_64" in n)
    changed = replace(RECORDED, requires={**RECORDED.requires, name: ("torch==2.13.0+cpu",)})
    assert found(changed) == [
        ("pins-changed", "torch_npu 2.13.0, x86_64", "torch==2.13.0.*, numpy, pyyaml", "torch==2.13.0+cpu")
    ]


def test_a_torch_of_which_nothing_is_known() -> None:
    assert found(with_files("torch-2.16.0-cp311-cp311-manylinux_2_28_x86_64.whl")) == [
        ("release-without-row", "torch 2.16.0", "no row", "a release")
    ]
    assert found(with_files("torch-2.16.0rc1-cp311-cp311-manylinux_2_28_x86_64.whl")) == []
    assert found(with_files("torch-1.13.1-cp311-cp311-manylinux_2_28_x86_64.whl")) == []


def test_a_torch_that_became_a_cuda_build() -> None:
    (name,) = (n for n in RECORDED.requires if n.startswith("torch-2.10.0-") and n.endswith("_aarch64.whl"))
    cuda = replace(RECORDED, requires={**RECORDED.requires, name: ("nvidia-cudnn-cu13==9",)})
    assert found(cuda) == [("cuda-changed", "torch 2.10.0, aarch64", "a CPU build", "a CUDA build")]


@pytest.mark.parametrize(
    ("requirement", "needed"),
    [
        ('nvidia-cudnn-cu12==9.1; platform_system == "Linux" and platform_machine == "x86_64"', False),
        ('cuda-toolkit[cublas]==13.0; platform_system == "Linux"', True),
        ("nvidia-nccl-cu13", True),
        ("triton==3.6.0", False),
        ("numpy", False),
        ('nvidia-thing; extra == "test"', False),
    ],
)
def test_which_requirements_are_cuda(requirement: str, *, needed: bool) -> None:
    assert needs_cuda(requirement, Arch.AARCH64) is needed


def test_an_extension_newer_than_its_rows() -> None:
    assert found(with_files("vllm_ascend-0.31.0.tar.gz")) == [
        ("release-without-row", "vllm-ascend 0.31.0", "no row", "a release")
    ]
    assert found(with_files("vllm_ascend-0.22.9.tar.gz")) == []


def test_placeholders_that_are_none_any_more() -> None:
    wheel = found(with_files("cann-9.2.0-py3-none-any.whl"))
    assert wheel == [("placeholder-changed", "cann", "a placeholder", "wheels that install")]
    kept = {name: files for name, files in RECORDED.files.items() if name != "cann"}
    assert found(replace(RECORDED, files=kept)) == [
        ("placeholder-changed", "cann", "a placeholder", "nothing of the name")
    ]


def test_one_wheel_of_each_kind_is_looked_into() -> None:
    wanted = list(wheels_to_read(MATRIX, RECORDED.files["torch-npu"]))
    assert len(wanted) == 2 * len(MATRIX.torch_npu)
    torches = {str(f.version) for f in wheels_to_read(MATRIX, RECORDED.files["torch"])}
    assert torches == {row.torch for row in MATRIX.torch_npu}


def test_names_that_are_no_wheels_are_for_nothing() -> None:
    sdist = file("cann-9.2.0.tar.gz")
    assert (list(sdist.builds()), sdist.archs) == ([], frozenset())
    other = file("torch-2.14.0-cp311-none-macosx_11_0_arm64.whl")
    assert (list(other.builds()), other.archs) == ([], frozenset())
    free = file("torch-2.14.0-py3-none-manylinux_2_28_x86_64.whl")
    assert (list(free.builds()), free.archs) == ([], frozenset({Arch.X86_64}))


def test_differences_are_data() -> None:
    one = Difference(kind=Kind.YANKED, subject="a", matrix="b", there="c")
    assert one.model_dump(mode="json")["kind"] == "yanked"
