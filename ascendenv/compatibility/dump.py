"""The canonical text of a matrix file, so that a change of facts is all that a diff shows."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ascendenv.compatibility.model import TABLES, Matrix, Row
from ascendenv.compatibility.tables import SCHEMA, Table


def dump(matrix: Matrix, file: str, heading: str) -> str:
    """The text of ``file`` (a key of ``TABLES``); ``heading`` becomes the comment on top, line by line."""
    parts = ["".join(f"# {line}\n" for line in heading.splitlines()) + f"schema = {SCHEMA}\n"]
    for table in TABLES[file]:
        rows: Sequence[Row] = getattr(matrix, table.field)
        parts.append("\n".join(_sections(table, rows)) if table.wide else _lines(table, rows))
    return "\n".join(parts)


def heading(text: str) -> str:
    """The comment on top of a matrix file, without its marks."""
    lines = text[: text.index("schema = ")].splitlines()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def _lines(table: Table[Any], rows: Sequence[Row]) -> str:
    return f"{table.key} = [\n" + "".join(f"  {toml_value(content(row))},\n" for row in rows) + "]\n"


def _sections(table: Table[Any], rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"[[{table.key}]]\n" + "".join(f"{line}\n" for line in _assignments(content(row)))


def _assignments(content: Mapping[str, object]) -> Iterator[str]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{_key(name)} = {toml_value(inner)}" for name, inner in value.items())
        else:
            yield f"{key} = {toml_value(value)}"


def content(row: Row) -> dict[str, object]:
    """The row's own columns first, how it is known last; columns left at their defaults are left out."""
    content = row.model_dump(exclude_defaults=True)
    kinds = [kind for kind in type(row).__mro__ if issubclass(kind, Row)]

    def generality(column: str) -> int:
        return max(index for index, kind in enumerate(kinds) if column in kind.model_fields)

    return {column: content[column] for column in sorted(content, key=generality)}


def _key(name: str) -> str:
    bare = all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if bare else toml_value(name)


def toml_value(value: object) -> str:
    """Write one value as TOML. Raises ``TypeError`` for what a matrix row cannot hold."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return json.dumps(str(value), ensure_ascii=False)
        case dt.date():
            return value.isoformat()
        case Mapping():
            inner = ", ".join(f"{_key(str(key))} = {toml_value(item)}" for key, item in value.items())
            return f"{{ {inner} }}"
        case Sequence():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case _:
            raise TypeError(f"a matrix row holds no {type(value).__name__}")
