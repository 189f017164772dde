"""``matrix/*.toml`` -> :class:`~ascendenv.compatibility.model.Matrix`, with every mistake told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ascendenv import toml
from ascendenv.compatibility import check
from ascendenv.compatibility.memory import Memory
from ascendenv.compatibility.model import TABLES, Matrix, Row, all_tables
from ascendenv.compatibility.tables import SCHEMA, Table
from ascendenv.errors import MatrixError
from ascendenv.paths import cache_dir, resource_dir

Document = Mapping[str, Any]


def load(directory: Path | None = None) -> Matrix:
    """The matrix in ``directory``, by default the one that comes with this program.

    Raises :class:`~ascendenv.errors.MatrixError`, which names file, row and key of every mistake.
    """
    return _own() if directory is None else _checked(_Reader(directory))


@cache
def _own() -> Matrix:
    directory = resource_dir("matrix")
    return load_remembered(directory, Memory(cache_dir() / "matrix", directory))


def load_remembered(directory: Path, memory: Memory) -> Matrix:
    """The matrix in ``directory``; one that was found right before is not parsed and checked again."""
    remembered = memory.recall()
    if remembered is not None:
        return Matrix(lambda table: remembered.rows(table.field))
    matrix = _checked(_Reader(directory))
    memory.keep({table.field: getattr(matrix, table.field) for table in all_tables()})
    return matrix


def _checked(reader: _Reader) -> Matrix:
    rows = {table.field: reader.rows(table) for table in all_tables()}
    if reader.mistakes:
        raise MatrixError(reader.mistakes)
    matrix = Matrix(lambda table: rows[table.field])
    mistakes = tuple(check.mistakes(matrix))
    if mistakes:
        raise MatrixError(mistakes)
    return matrix


class _Reader:
    """Reads each file once and collects what is wrong with it."""

    def __init__(self, directory: Path) -> None:
        self.mistakes: list[str] = []
        self._documents = {file: self._document(directory / file) for file in TABLES}

    def rows(self, table: Table[Any]) -> tuple[Any, ...]:
        """The rows of one table that fit its schema; the mistakes of the others are written down."""
        document = self._documents[table.file]
        if document is None:
            return ()
        content = document.get(table.key)
        if not isinstance(content, list):
            self.mistakes.append(f"matrix/{table.file}: {table.key}: an array of tables is missing")
            return ()
        rows = (self._row(table, index, raw) for index, raw in enumerate(content))
        return tuple(row for row in rows if row is not None)

    def _row(self, table: Table[Any], index: int, raw: object) -> Row | None:
        try:
            row: Row = table.row.model_validate(raw)
        except ValidationError as error:
            where = f"matrix/{table.file}: {check.where(table, index, raw)}"
            self.mistakes.extend(f"{where}: {mistake}" for mistake in _readable(error))
            return None
        return row

    def _document(self, path: Path) -> Document | None:
        """The parsed file, or ``None`` when there is nothing in it to go on with."""
        name = f"matrix/{path.name}"
        try:
            document: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.mistakes.append(f"{name}: the file is missing from {path.parent}")
            return None
        except (OSError, UnicodeDecodeError) as error:
            self.mistakes.append(f"{name}: cannot be read: {error}")
            return None
        except toml.TOMLDecodeError as error:
            self.mistakes.append(f"{name}: is not TOML: {error}")
            return None
        if document.get("schema") != SCHEMA:
            self.mistakes.append(f"{name}: schema: {document.get('schema')!r} where {SCHEMA} is understood")
        known = {"schema", *(table.key for table in TABLES[path.name])}
        self.mistakes.extend(f"{name}: {key}: unknown table" for key in sorted(document.keys() - known))
        return document


def _readable(error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False):
        key = ".".join(str(part) for part in detail["loc"])
        text = detail["msg"].removeprefix("Value error, ")
        yield f"{key}: {text}" if key else text
