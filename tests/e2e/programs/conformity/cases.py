"""What is computed on both devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from e2e.programs.conformity.case import Case
from e2e.programs.conformity.modules import module_cases, optimizer_cases
from e2e.programs.conformity.operators import foreach_cases, operator_cases
from e2e.programs.conformity.own import own_cases


def all_cases() -> Iterator[Case]:
    """Every case, in a fixed order."""
    yield from operator_cases()
    yield from foreach_cases()
    yield from own_cases()
    yield from module_cases()
    yield from optimizer_cases()


def sampled(names: Iterable[str]) -> list[str]:
    """Of each operator, module and optimizer one case: every second of float32, the others of any dtype."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("/".join(name.split("/")[:2]), []).append(name)
    chosen = []
    for number, cases in enumerate(groups.values()):
        others = [case for case in cases if not case.endswith("/float32")] or cases
        float32 = [case for case in cases if case.endswith("/float32")] or others
        chosen.append(float32[0] if number % 2 == 0 else others[number // 2 % len(others)])
    return chosen
