"""A run as tables on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from ascendenv.vocabulary import Outcome
from torch_npu_suite.files import FOLDERS
from torch_npu_suite.reasons import groups
from torch_npu_suite.results import Run, folder_of

COLUMNS = ("folder", "files", "passed", "failed", "skipped by the suite", "share")


def folders(run: Run) -> Table:
    """Passes by folder."""
    table = Table()
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == COLUMNS[0] else "right")
    for row in folder_rows(run):
        table.add_row(*row)
    return table


def failures(run: Run) -> Table:
    """Failures by reason, each with an example."""
    table = Table()
    table.add_column("tests", justify="right")
    table.add_column("reason")
    table.add_column("such as", overflow="fold")
    for reason, tests in groups(run).items():
        table.add_row(str(len(tests)), reason, tests[0])
    return table


def changes(old: Run, new: Run) -> Table:
    """What passed and does not any more, and the other way round, in the files that both ran."""
    table = Table("test", "was", "is")
    for file in sorted(old.files.keys() & new.files.keys()):
        before, after = old.files[file].tests, new.files[file].tests
        for name in sorted(before.keys() | after.keys()):
            was = before[name].outcome if name in before else None
            now = after[name].outcome if name in after else None
            if was is not now and Outcome.PASSED in {was, now}:
                table.add_row(f"{file}::{name}", str(was or "not there"), str(now or "not there"))
    return table


def folder_rows(run: Run) -> Iterator[tuple[str, ...]]:
    """The cells of :data:`COLUMNS` for each folder and for all of them."""
    for folder in FOLDERS:
        files = {name: result for name, result in run.files.items() if folder_of(name) == folder}
        if files:
            yield _row(folder, Run(subject=run.subject, files=files))
    yield _row("all", run)


def _row(name: str, run: Run) -> tuple[str, ...]:
    count = sum((result.count() for result in run.files.values()), Counter[Outcome]())
    passed = count[Outcome.PASSED]
    failed = sum(result.failed() for result in run.files.values())
    share = f"{passed / (passed + failed):.1%}" if passed + failed else "-"
    return name, str(len(run.files)), str(passed), str(failed), str(count[Outcome.SKIPPED]), share
