"""The published JSON schema is that of the models, and the matrix fits it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from ascendenv import toml
from ascendenv.compatibility import schema
from ascendenv.compatibility.model import TABLES
from ascendenv.paths import resource_dir

PUBLISHED = json.loads((resource_dir("matrix") / schema.FILE).read_text(encoding="utf-8"))


def document(file: str) -> Any:  # noqa: ANN401  # what JSON can hold
    """The file as JSON has it: dates are texts there."""
    content = toml.loads((resource_dir("matrix") / file).read_text(encoding="utf-8"))
    return json.loads(json.dumps(content, default=str))


def of_file(file: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**PUBLISHED, "anyOf": [{"$ref": f"#/$defs/{file}"}]})


def test_the_published_schema_is_that_of_the_models() -> None:
    assert (resource_dir("matrix") / schema.FILE).read_text(encoding="utf-8") == schema.text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)


@pytest.mark.parametrize("file", TABLES)
def test_each_file_fits_it(file: str) -> None:
    of_file(file).validate(document(file))


def test_it_refuses_what_the_models_refuse() -> None:
    wrong = document("cann.toml")
    wrong["releases"][0]["colour"] = "red"
    assert not of_file("cann.toml").is_valid(wrong)
    assert not of_file("cann.toml").is_valid({"schema": 1, "releases": []})
