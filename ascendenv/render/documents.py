"""Results of the matrix commands in every format that they have."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from typing_extensions import assert_never

from ascendenv.compatibility.dump import toml_value
from ascendenv.options import MatrixFormat
from ascendenv.render.matrix import columns_of, flat
from ascendenv.render.output import print_result
from ascendenv.result import Result


def print_document(result: Result[BaseModel], output: MatrixFormat) -> None:
    """The result to standard output."""
    match output:
        case MatrixFormat.TEXT | MatrixFormat.JSON:
            print_result(result, as_json=output is MatrixFormat.JSON)
        case MatrixFormat.TOML:
            sys.stdout.write(to_toml(result.payload))
        case MatrixFormat.MARKDOWN:
            sys.stdout.write(to_markdown(result.payload))
        case _:
            assert_never(output)
    sys.stdout.flush()


def to_toml(payload: BaseModel) -> str:
    """Single values first, then each list, one row a line, as the files of the matrix have it."""
    content = payload.model_dump(mode="json", exclude_none=True)
    single = [f"{key} = {toml_value(value)}\n" for key, value in content.items() if not _is_table(value)]
    tables = [
        f"{key} = [\n" + "".join(f"  {toml_value(row)},\n" for row in value) + "]\n"
        for key, value in content.items()
        if _is_table(value)
    ]
    return "\n".join(["".join(single), *tables] if single else tables)


def to_markdown(payload: BaseModel) -> str:
    """Single values as a list, each list of rows as a table."""
    content = payload.model_dump(mode="json", exclude_none=True)
    single = [f"- {key}: {flat(value)}\n" for key, value in content.items() if not _is_table(value)]
    tables = ["".join(_table(value)) for value in content.values() if _is_table(value)]
    return "\n".join(["".join(single), *tables] if single else tables)


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    columns = [*columns_of(rows), *(["source"] if any("source" in row for row in rows) else [])]
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(flat(row.get(column)).replace('|', chr(92) + '|') for column in columns)} |\n"


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)
