"""A matrix that was found right is remembered; whatever is changed is looked at anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascendenv.compatibility.load import load, load_remembered
from ascendenv.compatibility.memory import Memory
from ascendenv.compatibility.model import Matrix, Row, all_tables
from ascendenv.errors import MatrixError
from ascendenv.paths import resource_dir


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(resource_dir("matrix"), tmp_path / "matrix"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def tables(matrix: Matrix) -> dict[str, tuple[Row, ...]]:
    return {table.field: getattr(matrix, table.field) for table in all_tables()}


def test_what_is_remembered_is_what_was_read(directory: Path, folder: Path) -> None:
    first = tables(load_remembered(directory, Memory(folder, directory)))
    assert len(list(folder.iterdir())) == 1
    again = tables(load_remembered(directory, Memory(folder, directory)))
    assert first == again == tables(load())


def test_what_is_remembered_is_not_parsed_again(
    directory: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_remembered(directory, Memory(folder, directory))
    monkeypatch.setattr("ascendenv.toml.loads", lambda _: pytest.fail("parsed again"))
    assert load_remembered(directory, Memory(folder, directory)).cann == load().cann


def test_a_changed_file_is_read_anew(directory: Path, folder: Path) -> None:
    load_remembered(directory, Memory(folder, directory))
    text = (directory / "cann.toml").read_text(encoding="utf-8")
    (directory / "cann.toml").write_text(text.replace('cann = "9.1.0"', 'cann = "9.1.9"'), encoding="utf-8")
    with pytest.raises(MatrixError, match=r"9\.1\.0 has no row in cann\.toml"):
        load_remembered(directory, Memory(folder, directory))
    assert len(list(folder.iterdir())) == 1  # what is wrong is not remembered


def test_a_damaged_memory_is_replaced(directory: Path, folder: Path) -> None:
    load_remembered(directory, Memory(folder, directory))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:100])
    assert tables(load_remembered(directory, Memory(folder, directory))) == tables(load())
    assert kept.read_bytes() == whole


def test_a_folder_that_cannot_be_made_only_costs_time(directory: Path, folder: Path) -> None:
    folder.write_text("in the way", encoding="utf-8")
    assert tables(load_remembered(directory, Memory(folder, directory))) == tables(load())


def test_tables_are_read_when_they_are_asked_for(directory: Path, folder: Path) -> None:
    load_remembered(directory, Memory(folder, directory))
    matrix = load_remembered(directory, Memory(folder, directory))
    assert "chips" not in vars(matrix)
    assert matrix.chips is matrix.chips
    assert "socs" not in vars(matrix)


def test_a_copy_has_the_rows_that_are_given() -> None:
    matrix = load()
    copy = matrix.model_copy(update={"chips": ()})
    assert copy.chips == ()
    assert copy.socs == matrix.socs
    assert matrix.chips
