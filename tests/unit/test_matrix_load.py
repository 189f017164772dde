"""A matrix that is wrong is refused, with file, row and key of every mistake."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import TABLES, Matrix, Row, all_tables
from ascendenv.errors import ExitCode, MatrixError
from ascendenv.paths import resource_dir


@pytest.fixture
def matrix_dir(tmp_path: Path) -> Path:
    """A copy of the real matrix, to be broken."""
    return Path(shutil.copytree(resource_dir("matrix"), tmp_path / "matrix"))


def mistakes(directory: Path) -> tuple[str, ...]:
    with pytest.raises(MatrixError) as caught:
        load(directory)
    assert caught.value.exit_code is ExitCode.INTERNAL
    return caught.value.mistakes


def replace(directory: Path, file: str, old: str, new: str) -> None:
    text = (directory / file).read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in {file}"
    (directory / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_real_matrix_loads_once() -> None:
    assert load() is load()


def tables(matrix: Matrix) -> dict[str, tuple[Row, ...]]:
    return {table.field: getattr(matrix, table.field) for table in all_tables()}


def test_a_copy_equals_the_original(matrix_dir: Path) -> None:
    assert tables(load(matrix_dir)) == tables(load())


def test_a_bad_value_is_named_by_file_row_and_key(matrix_dir: Path) -> None:
    index = next(i for i, row in enumerate(load().torch_npu) if row.torch_npu == "2.10.0.post6")
    replace(
        matrix_dir,
        "torch_npu.toml",
        'pythons = ["3.10", "3.11"], platforms = ["manylinux_2_28"], requires = ["torch ==2.10.0+cpu"]',
        'pythons = [], platforms = ["manylinux_2_28"], requires = ["torch ==2.10.0+cpu"]',
    )
    (mistake,) = mistakes(matrix_dir)
    where = f"matrix/torch_npu.toml: releases[{index}] (torch_npu 2.10.0.post6): wheels.x86_64.pythons: "
    assert mistake.startswith(where)
    assert "at least 1 item" in mistake


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            "torch_npu.toml",
            'torch = "2.14.0"\ntrain',
            'torch = "newest"\ntrain',
            "(torch_npu 2.14.0): torch: Invalid version",
        ),
        ("torch_npu.toml", "prerelease = false", 'prerelease = "no"', "(torch_npu 2.14.0): prerelease:"),
        ("torch_npu.toml", 'arch = "x86_64"', 'arch = "riscv64"', "cuda_torch[0] (arch riscv64): arch:"),
        (
            "torch_npu.toml",
            '["torch==2.14.0.*"',
            '["torch=="',
            "(torch_npu 2.14.0): wheels.aarch64.requires.0:",
        ),
        (
            "torch_npu.toml",
            'cann = ["8.5.X", "9.0.X"',
            'cann = ["8.5.X", "9"',
            "compatibility[0] (trains 7.3.X, 26.0.X, 26.1.X, 26.2.X): cann.1: '9' is not a CANN",
        ),
        (
            "cann.toml",
            'cann = "9.2.0"',
            'cann = "nine"',
            "releases[0] (cann nine): cann: 'nine' is not a CANN",
        ),
        ("cann.toml", 'evidence = "derived"', 'evidence = "hearsay"', "(cann 9.2.0): evidence:"),
        (
            "driver.toml",
            'paired = "26.2.0"',
            'paired = "new"',
            "support[0] (cann 9.2.0): paired: 'new' is not",
        ),
        (
            "hardware.toml",
            'pci_device = "0xd100"',
            'pci_device = "d100"',
            "chips[0] (family 310): pci_device:",
        ),
        (
            "hardware.toml",
            'title = "Ascend 310"',
            'colour = "red"',
            "chips[0] (family 310): colour: Extra inputs",
        ),
        ("python.toml", 'because = "', 'source = "', "is not TOML"),
        ("indexes.toml", 'url = "https', 'url = "http', "indexes[1] (name default-huaweicloud): url:"),
    ],
)
def test_each_row_is_held_to_its_schema(
    matrix_dir: Path, file: str, old: str, new: str, expected: str
) -> None:
    replace(matrix_dir, file, old, new)
    assert any(m.startswith(f"matrix/{file}: ") and expected in m for m in mistakes(matrix_dir))


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            "torch_npu.toml",
            'torch_npu = "2.13.0"',
            'torch_npu = "2.14.0"',
            "releases[0] (torch_npu 2.14.0): 2.14.0 is there 2 times",
        ),
        (
            "torch_npu.toml",
            '{ train = "26.1.1"',
            '{ train = "26.1.0"',
            "trains[1] (train 26.1.0): 26.1.0 is there 2 times",
        ),
        (
            "torch_npu.toml",
            'train = "26.2.0"\ncann',
            'train = "27.0.0"\ncann',
            "(torch_npu 2.14.0): train: '27.0.0' is not among the trains",
        ),
        (
            "torch_npu.toml",
            'cann = "9.2.0"\nprerelease',
            'cann = "9.1.1"\nprerelease',
            "(torch_npu 2.14.0): cann: train 26.2.0 was released with CANN 9.2.0, not 9.1.1",
        ),
        (
            "torch_npu.toml",
            'torch = "2.14.0"\ntrain',
            'torch = "2.14.9"\ntrain',
            "(torch_npu 2.14.0): torch: train 26.2.0 does not list torch 2.14.9",
        ),
        (
            "torch_npu.toml",
            'torch = "2.14.0"\ntrain',
            'torch = "2.13.0"\ntrain',
            "(torch_npu 2.14.0): torch: 2.13.0 is not what 2.14.0 is named after",
        ),
        (
            "torch_npu.toml",
            "prerelease = false",
            "prerelease = true",
            "(torch_npu 2.14.0): prerelease: 2.14.0 says the opposite",
        ),
        (
            "torch_npu.toml",
            'train = "5.0.rc3", cann = "7.0.RC1"',
            'train = "5.0.rc3", cann = "6.9.0"',
            "trains[15] (train 5.0.rc3): cann: 6.9.0 has no row in cann.toml",
        ),
        (
            "cann.toml",
            'cann = "7.0.RC1"',
            'cann = "7.0.RC9"',
            "(torch_npu 2.1.0rc1): cann: 7.0.RC1 has no row in cann.toml",
        ),
        (
            "cann.toml",
            'cann = "9.1.1"',
            'cann = "9.1.0"',
            "matrix/cann.toml: releases[3] (cann 9.1.0): 9.1.0 is",
        ),
        ("driver.toml", 'cann = "9.1.1"', 'cann = "9.1.0"', "(cann 9.1.0): 9.1.0 is there 2 times"),
        ("hardware.toml", '["Ascend910A"', '["Ascend310P3"', "(family 310p): ascend310p3 is there 2 times"),
        (
            "hardware.toml",
            'soc = "Ascend910A"',
            'soc = "Ascend910Z"',
            "(soc Ascend910Z): soc: is not among the SoCs of any chip family",
        ),
        ("hardware.toml", 'family = "350"', 'family = "950"', "(family 950): 950 is there 2 times"),
        (
            "hardware.toml",
            "soc_first_train.Ascend310P7",
            "soc_first_train.Ascend310P9",
            "(family 310p): soc_first_train.Ascend310P9: is not among the SoCs of the family",
        ),
        (
            "hardware.toml",
            'first_train = "26.0.0"',
            'first_train = "25.9.0"',
            "(family 950): first_train: '25.9.0' is not among the trains",
        ),
        (
            "hardware.toml",
            'family = "a3"',
            'family = "350"',
            "matrix/cann.toml: releases[0] (cann 9.2.0): chips: a3 has no row in hardware.toml",
        ),
        (
            "indexes.toml",
            'name = "ascend"',
            'name = "default"',
            "indexes[0] (name default): default is there 2",
        ),
        (
            "indexes.toml",
            'mirror_of = "pytorch-cpu"',
            'mirror_of = "pytorch"',
            "(name pytorch-cpu-nju): mirror_of: 'pytorch' is not among the indexes",
        ),
        ("indexes.toml", 'url = "https://download.pytorch.org/whl/cpu", ', "", "exactly one row stands for"),
        (
            "torch_npu.toml",
            '"26.0.X", "26.1.X"',
            '"26.5.X", "26.1.X"',
            "trains: '26.5.X' is not among the trains",
        ),
        (
            "torch_npu.toml",
            'torch_npu = "2.8.0", cann = "9.2.0", symptom',
            'torch_npu = "2.8.8", cann = "9.2.0", symptom',
            "reports[0] (torch_npu 2.8.8): torch_npu: 2.8.8 is not among the releases",
        ),
        (
            "torch_npu.toml",
            'torch = ["2.15.0", ',
            'torch = ["2.14.0", ',
            "torch_without_npu[0] (torch 2.14.0, 2.14.1, 2.12.1",
        ),
        (
            "torch_npu.toml",
            'torch_npu = "2.8.0.post1"',
            'torch_npu = "2.8.0.post2"',
            "unpublished[1] (torch_npu 2.8.0.post2): torch_npu: 2.8.0.post2 is among the releases",
        ),
        (
            "torch_npu.toml",
            'torch_npu = "2.8.0.post1", torch = "2.8.0", cann = "8.5.0"',
            'torch_npu = "2.8.0.post1", torch = "2.8.0", cann = "8.5.9"',
            "(torch_npu 2.8.0.post1): cann: 8.5.9 has no row in cann.toml",
        ),
        (
            "cann.toml",
            'ops = ["8.5.2"',
            'ops = ["8.6.0"',
            "ops_mixing[0] (ops 8.6.0, 9.0.X, 9.1.X): cann: 8.6.0",
        ),
        (
            "cann.toml",
            'cann = "9.1.1", component = "ops"',
            'cann = "9.1.1", component = "toolkit"',
            "subpackages[0] (cann 9.1.1): 9.1.1 toolkit is there 2 times",
        ),
        ("driver.toml", 'cann = ["8.2.RC1"]', 'cann = ["8.2.RC9"]', "cann: 8.2.RC9 has no row in cann.toml"),
        (
            "hardware.toml",
            "soc_versions.Ascend310P1",
            "soc_versions.Ascend310P6",
            "(family 310p): soc_versions.Ascend310P6: is not among the SoCs of the family",
        ),
        (
            "packages.toml",
            'kind = "conda", name',
            'kind = "zip", name',
            "(component toolkit): name: {arch} is missing",
        ),
        ("packages.toml", 'kind = "conda"\n', 'kind = "yum"\n', "kind: there is no channel conda"),
        ("packages.toml", "nnal_{version}_linux-{arch}", "nnal_{version}_linux", "name: {arch} is missing"),
        ("packages.toml", "nnal_{version}", "nnal_{versoin}", "name: {versoin} is not known"),
        (
            "packages.toml",
            "ascend-cann-toolkit={version}",
            "ascend-cann-toolkit={chip}",
            "{chip} and chips belong",
        ),
        (
            "packages.toml",
            '{ component = "nnae"',
            '{ component = "ops"',
            "(component ops): name: operators are those of a chip family",
        ),
        (
            "packages.toml",
            'file = "Ascend-cann-toolkit_9.0.0_linux-aarch64.zip", sha256',
            'file = "Ascend-cann-toolkit_9.0.0_linux-riscv64.zip", sha256',
            "file: no name of a package has this form",
        ),
        ("packages.toml", ", size = 1398240001", "", "neither sha256 nor size is there"),
        (
            "packages.toml",
            'cann = "9.1.1", folder',
            'cann = "9.1.7", folder',
            "cann: 9.1.7 has no row in cann.toml",
        ),
        (
            "images.toml",
            'mirror_of = "quay.io/ascend/cann"',
            'mirror_of = "quay.io"',
            "mirror_of: 'quay.io' is not",
        ),
        (
            "images.toml",
            'repository = "quay.io/ascend/torch-npu", kind = "torch-npu"',
            'repository = "quay.io/ascend/torch-npu", kind = "cann"',
            "kind: no repository has 'torch-npu' images",
        ),
        ("images.toml", 'chips = ["910b"]', 'chips = ["910z"]', "chips: 910z has no row in hardware.toml"),
        (
            "images.toml",
            "{version}-{chip}-{system}-py{python}",
            "{version}-{chip}-{os}-py3",
            "tag: {os} is not filled",
        ),
        (
            "images.toml",
            "{version}-{chip}-{system}-py{python}",
            "{version}-{chip}-py{python}",
            "tag: {system} is missing",
        ),
        (
            "extensions.toml",
            '"ascend", "triton-ascend"]',
            '"ascent"]',
            "indexes: 'ascent' is not among the indexes",
        ),
        (
            "extensions.toml",
            'package = "torchtitan-npu", version',
            'package = "torchtitan", version',
            "package: 'torchtitan' is not among the projects",
        ),
        (
            "extensions.toml",
            'trains = ["26.2.0"]',
            'trains = ["26.9.0"]',
            "trains: '26.9.0' is not among the trains",
        ),
        *(
            ("contradictions.toml", f'about = "{old}"', f'about = "{new}"', f"about: '{new}' has no row")
            for old, new in (
                ("cann 9.0.0", "cann 9.0.9"),
                ("cann 9.0.0", "cann nine"),
                ("chip 310", "chip 311"),
                ("chip 310", "torch 2.99.0"),
                ("train 26.0.1", "train 26.0.9"),
                ("torch_npu 2.13.0", "torch_npu 2.13.9"),
                ("vllm-ascend 0.30.0rc1", "vllm-ascend 0.99.0"),
                ("vllm-ascend 0.30.0rc1", "vllm-ascend newest"),
                ("vllm-ascend 0.30.0rc1", "no such subject"),
            )
        ),
    ],
)
def test_rows_are_held_against_each_other(
    matrix_dir: Path, file: str, old: str, new: str, expected: str
) -> None:
    replace(matrix_dir, file, old, new)
    assert any(expected in mistake for mistake in mistakes(matrix_dir))


def test_all_mistakes_are_told_at_once(matrix_dir: Path) -> None:
    replace(matrix_dir, "cann.toml", 'cann = "9.2.0"', 'cann = "nine"')
    replace(matrix_dir, "driver.toml", 'paired = "26.2.0"', 'paired = "new"')
    (matrix_dir / "python.toml").unlink()
    (matrix_dir / "hardware.toml").write_text("chips = [", encoding="utf-8")
    (matrix_dir / "indexes.toml").write_bytes(b"\xff")
    told = mistakes(matrix_dir)
    assert [mistake.split(":")[0] for mistake in told] == [
        "matrix/hardware.toml",
        "matrix/python.toml",
        "matrix/indexes.toml",
        "matrix/cann.toml",
        "matrix/driver.toml",
    ]
    assert "is not TOML" in told[0]
    assert f"the file is missing from {matrix_dir}" in told[1]
    assert "cannot be read" in told[2]


def test_an_empty_directory_lists_every_missing_file(tmp_path: Path) -> None:
    assert len(mistakes(tmp_path)) == len(TABLES)


def test_another_schema_an_unknown_and_a_missing_table_are_refused(matrix_dir: Path) -> None:
    replace(matrix_dir, "cann.toml", "schema = 1", "schema = 2")
    replace(matrix_dir, "python.toml", "requirements = [", "requirement = [")
    (matrix_dir / "driver.toml").write_text("schema = 1\nsupport = 3\nseen = []\n", encoding="utf-8")
    assert set(mistakes(matrix_dir)) == {
        "matrix/cann.toml: schema: 2 where 1 is understood",
        "matrix/python.toml: requirement: unknown table",
        "matrix/python.toml: requirements: an array of tables is missing",
        "matrix/driver.toml: support: an array of tables is missing",
    }


def test_a_row_that_is_no_table_is_refused(matrix_dir: Path) -> None:
    (matrix_dir / "driver.toml").write_text('schema = 1\nsupport = ["9.1.0"]\nseen = []\n', encoding="utf-8")
    (mistake,) = mistakes(matrix_dir)
    assert mistake.startswith("matrix/driver.toml: support[0]: Input should be")


def test_the_error_reads_as_a_list(matrix_dir: Path) -> None:
    replace(matrix_dir, "cann.toml", "schema = 1", "schema = 2")
    with pytest.raises(
        MatrixError, match=r"the compatibility matrix is not valid:\n  matrix/cann\.toml: schema"
    ):
        load(matrix_dir)


def test_a_family_needs_a_row_to_have_boards(matrix_dir: Path) -> None:
    text = (matrix_dir / "hardware.toml").read_text(encoding="utf-8")
    head, chips, rest = text.partition('[[chips]]\nfamily = "310"\n')
    (matrix_dir / "hardware.toml").write_text(head + rest[rest.index("[[chips]]") :], encoding="utf-8")
    assert chips
    assert any(
        "boards[0] (family 310): family: 310 has no row" in mistake for mistake in mistakes(matrix_dir)
    )


def test_old_releases_may_name_a_cann_from_before_all_others(matrix_dir: Path) -> None:
    replace(matrix_dir, "torch_npu.toml", 'cann = "5.0.2"', 'cann = "5.0.1"')
    assert load(matrix_dir).unpublished[-1].cann == "5.0.1"
