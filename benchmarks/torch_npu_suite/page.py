"""A run as a page of Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from torch_npu_suite.reasons import explanation, groups
from torch_npu_suite.report import COLUMNS, folder_rows
from torch_npu_suite.results import Run

TITLE = "# torch_npu's own tests on the simulated CANN"
INTRODUCTION = """\
Written by `benchmarks/conformance.py --run RUN.json --markdown`, never by hand. The tests are those of
<https://gitcode.com/Ascend/pytorch>; a share counts passed tests among those that the suite does not skip."""


def page(run: Run) -> str:
    """What was run, passes by folder, why the rest failed, and what was left out."""
    parts = [TITLE, INTRODUCTION, _table(("", "version"), _subject(run)), _table(COLUMNS, folder_rows(run))]
    failed = list(_failure_rows(run))
    if failed:
        parts += ["## What fails, and why", _table(("tests", "reason", "such as"), failed)]
    if run.left_out:
        parts += ["## Files that are not run", _table(("files", "reason"), _left_out_rows(run))]
    return "\n\n".join(parts) + "\n"


def _subject(run: Run) -> Iterator[tuple[str, str]]:
    yield "Ascend/pytorch", run.subject.commit
    yield from run.subject.versions.items()


def _failure_rows(run: Run) -> Iterator[tuple[str, str, str]]:
    for reason, tests in groups(run).items():
        because = explanation(reason)
        yield str(len(tests)), f"{reason}: {because}" if because else reason, f"`{tests[0]}`"


def _left_out_rows(run: Run) -> Iterator[tuple[str, str]]:
    for reason, files in Counter(run.left_out.values()).most_common():
        yield str(files), reason


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
