"""What of a matrix need not be found out again.

Reading TOML, understanding its rows and holding them against each other takes longer than most commands;
rows that were found right are read back in a tenth of the time, and only those that are asked for.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pydantic

from ascendenv.compatibility.rows.base import Row


class Remembered:
    """The rows of a matrix that was found right, table by table."""

    def __init__(self, tables: Mapping[str, bytes]) -> None:
        self._tables = tables

    def rows(self, field: str) -> tuple[Any, ...]:
        """The rows of the table that is the attribute ``field`` of a matrix."""
        rows: tuple[Any, ...] = pickle.loads(self._tables[field])  # noqa: S301  # see Memory
        return rows


@dataclass(frozen=True)
class Memory:
    """Keeps the rows of the matrix in ``directory`` in ``folder``, named after what they come from.

    That is the files, and the code that understands and checks them: where either is changed, the files are
    looked at anew. The folder is the user's own and is trusted like it: it holds the compiled code that
    ascendenv runs, too. One that cannot be written to costs time, nothing else.
    """

    folder: Path
    directory: Path

    def recall(self) -> Remembered | None:
        """The rows of the files as they are now, if these were found right before."""
        try:
            return Remembered(pickle.loads(self._file.read_bytes()))  # noqa: S301  # see above
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None

    def keep(self, tables: Mapping[str, Sequence[Row]]) -> None:
        """Write down rows that were found right."""
        content = pickle.dumps({field: pickle.dumps(tuple(rows)) for field, rows in tables.items()})
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(written).replace(self._file)

    @cached_property
    def _file(self) -> Path:
        digest = blake2b(pydantic.VERSION.encode(), digest_size=16)
        for path in self._origins():
            with suppress(OSError):
                digest.update(path.read_bytes())
        return self.folder / f"{digest.hexdigest()}.pickle"

    def _origins(self) -> Iterator[Path]:
        yield from sorted(self.directory.glob("*.toml"))
        code = Path(__file__).parent
        yield from sorted(code.rglob("*.py"))
        yield code.parent / "versions.py"
        yield code.parent / "vocabulary.py"
