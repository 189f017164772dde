"""What indexes have answered, kept for a while: asking costs a second each, and offline nobody can ask."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# As long as installers themselves take an index page for fresh.
FRESH_SECONDS = 600.0


@dataclass(frozen=True)
class Pages:
    """The file names on index pages, in ``folder``; addresses are hashed, since they may hold passwords."""

    folder: Path

    def recall(self, address: str, project: str, *, any_age: bool = False) -> tuple[str, ...] | None:
        """The file names that the page had, unless it was asked too long ago."""
        file = self._file(address, project)
        try:
            age = time.time() - file.stat().st_mtime
            names = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return tuple(map(str, names)) if any_age or 0 <= age < FRESH_SECONDS else None

    def keep(self, address: str, project: str, filenames: Sequence[str]) -> None:
        """Write down what a page has. A folder that cannot be written to costs time, nothing else."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(list(filenames), file)
            Path(written).replace(self._file(address, project))

    def _file(self, address: str, project: str) -> Path:
        name = hashlib.sha256(f"{address} {project}".encode()).hexdigest()[:32]
        return self.folder / f"{name}.json"
