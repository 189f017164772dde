"""The JSON schema of the matrix files, made from the models of their rows."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from ascendenv.compatibility.model import TABLES, all_tables
from ascendenv.compatibility.tables import SCHEMA

FILE = "schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """One schema under ``$defs`` for each file, such as ``#/$defs/torch_npu.toml``, and for each kind of row.

    What must hold between rows is not in it: loading the matrix checks that.
    """
    kinds = dict.fromkeys(table.row for table in all_tables())
    _, rows = models_json_schema([(kind, "validation") for kind in kinds], ref_template="#/$defs/{model}")
    return {
        "$schema": _DIALECT,
        "title": "The compatibility matrix of ascendenv",
        "anyOf": [{"$ref": f"#/$defs/{file}"} for file in TABLES],
        "$defs": {**{file: _file(file) for file in TABLES}, **rows["$defs"]},
    }


def _file(file: str) -> dict[str, Any]:
    tables = {
        table.key: {"type": "array", "items": {"$ref": f"#/$defs/{table.row.__name__}"}}
        for table in TABLES[file]
    }
    return {
        "type": "object",
        "properties": {"schema": {"const": SCHEMA}, **tables},
        "required": ["schema", *tables],
        "additionalProperties": False,
    }


def text() -> str:
    """The schema as it stands in :data:`FILE` beside the matrix."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
