"""Matrix files are in canonical form: what is read and written again is the same to the byte."""

from __future__ import annotations

import pytest

from ascendenv.compatibility.dump import dump, heading, toml_value
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import TABLES
from ascendenv.paths import resource_dir


@pytest.mark.parametrize("file", TABLES)
def test_each_file_round_trips_byte_for_byte(file: str) -> None:
    text = (resource_dir("matrix") / file).read_bytes().decode()
    assert dump(load(), file, heading(text)) == text


def test_there_is_no_file_that_nobody_reads() -> None:
    assert {path.name for path in resource_dir("matrix").glob("*.toml")} >= set(TABLES)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (7, "7"),
        ('say "cann"\n', '"say \\"cann\\"\\n"'),
        ("昇腾", '"昇腾"'),
        (["a", 1], '["a", 1]'),
        ({"plain-key": 1, "dotted.key": 2}, '{ plain-key = 1, "dotted.key" = 2 }'),
    ],
)
def test_values_are_written_as_toml(value: object, text: str) -> None:
    assert toml_value(value) == text


def test_a_value_that_toml_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match="a matrix row holds no NoneType"):
        toml_value(None)
