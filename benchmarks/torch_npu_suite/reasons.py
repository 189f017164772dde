"""Failures grouped by what they have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from ascendenv.toml import loads
from ascendenv.vocabulary import Outcome
from torch_npu_suite.results import CaseResult, Run


class Rule(BaseModel):
    """Names the reason of a failure whose text ``match`` is found in; ``{1}`` is its first group."""

    match: str
    name: str


class Explanation(BaseModel):
    """In words, why the failures of a group happen, where its name does not say it."""

    reason: str  # found in the name of the group
    because: str


class Reasons(BaseModel):
    """The file ``reasons.toml``."""

    rule: list[Rule]
    explanation: list[Explanation] = []


@cache
def reasons() -> Reasons:
    """What is known of the failures."""
    return Reasons.model_validate(loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8")))


def groups(run: Run) -> dict[str, list[str]]:
    """The tests that did not pass by reason, the largest group first."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, test in _failed(run):
        found[reason_of(test)].append(name)
    return dict(sorted(found.items(), key=lambda group: (-len(group[1]), group[0])))


def reason_of(test: CaseResult) -> str:
    """Why ``test`` failed, without what differs from test to test."""
    text = f"{test.reason}\n{test.detail}"
    for rule in reasons().rule:
        if match := re.search(rule.match, text):
            return rule.name.format(match.group(), *match.groups())
    return _normalized(test.reason)


def explanation(reason: str) -> str | None:
    """What is known beyond the name of the group."""
    return next((known.because for known in reasons().explanation if re.search(known.reason, reason)), None)


def _failed(run: Run) -> Iterator[tuple[str, CaseResult]]:
    for file, result in run.files.items():
        for name, test in result.tests.items():
            if test.outcome in {Outcome.FAILED, Outcome.NOT_RUN}:
                yield f"{file}::{name}", test


def _normalized(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    line = re.sub(
        r"\[\w+\d+ [\d:.]+ \S+\]|0x[0-9a-f]+|/\S+/|\d+(\.\d+)?(e[+-]?\d+)?", "_", lines[0] if lines else ""
    )
    return re.sub(r"\s+", " ", line)[:160]
