"""What a run found, as data that is kept in JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from ascendenv.vocabulary import Outcome


class CaseResult(BaseModel):
    """One test of a file. Only its own suite skips it; it is not run if its file ended before."""

    outcome: Outcome
    reason: str = ""
    detail: str = ""


class FileResult(BaseModel):
    """The tests of one file by name. A file whose import fails has the one failure ``import``."""

    seconds: float
    tests: dict[str, CaseResult]

    def count(self) -> Counter[Outcome]:
        """How many tests ended how."""
        return Counter(test.outcome for test in self.tests.values())

    def failed(self) -> int:
        """How many tests did not pass although the suite wanted them to run."""
        count = self.count()
        return count[Outcome.FAILED] + count[Outcome.NOT_RUN]


class Subject(BaseModel):
    """What was tested with what, as far as it can be told."""

    commit: str
    versions: dict[str, str]


class Run(BaseModel):
    """A whole run: results by the path of the file below ``test/``."""

    subject: Subject
    files: dict[str, FileResult] = {}
    left_out: dict[str, str] = {}

    def save(self, path: Path) -> None:
        """Write at once or not at all."""
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_text(self.model_dump_json(indent=1), encoding="utf-8")
        unfinished.replace(path)


def load(path: Path) -> Run:
    """A saved run."""
    return Run.model_validate_json(path.read_text(encoding="utf-8"))


def folder_of(file: str) -> str:
    """The folder that a file is counted in."""
    return file.partition("/")[0] if "/" in file else TOP_LEVEL


TOP_LEVEL = "top-level"
