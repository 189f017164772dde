"""Plans and refusals as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ascendenv.render.wording import as_called, unbroken
from ascendenv.resolve.model import Conflict, Constraint, Looked, Nearest, PassedOver, Plan, Reason

# Of a long list the first few say enough; `--format json` has all.
_VERSIONS_SHOWN = 6
_GROUPS_SHOWN = 3
# What fits most terminals and log viewers.
_WIDTH = 100
_DOUBT = "not every place with its wheels could be asked"


def plan_rows(plan: Plan, *, replaced: Sequence[str] = ()) -> Table:
    """One row for each version with its reason, then what speaks against it and what was passed over.

    ``replaced`` are packages that are there already and will have another version.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for reason in plan.reasons:
        text = _reason(reason, plan)
        if text is not None:
            table.add_row(f"      {reason.subject}", text)
    others = len(plan.packages) - len(("torch", "torch-npu"))
    table.add_row(f"      + {others} packages", "what these need, declared or not, each locked with its hash")
    if replaced:
        table.add_row(Text("    ! replaces", style="yellow"), ", ".join(replaced))
    for warning in plan.warnings:
        told = f"{warning.subject} was {warning.because} ({warning.source})"
        table.add_row(Text("    ! field report", style="yellow"), told)
    _add_passed_over(table, plan.passed_over)
    return table


def _reason(reason: Reason, plan: Plan) -> str | None:
    """Why a version is as it is; ``None`` for the further packages, which are not listed one by one."""
    pairing = plan.pairing
    if reason.subject == f"CANN {pairing.cann}":
        return f"{reason.because} ({pairing.evidence})"
    if reason.subject.startswith(f"torch {pairing.torch}"):
        return f"{reason.because}; from {reason.source}"
    itself = {f"torch_npu {pairing.torch_npu}", f"Python {plan.target.python}"}
    shown = reason.subject in itself or reason.because.startswith("goes with this stack")
    return reason.because if shown else None


def _add_passed_over(table: Table, passed_over: Sequence[PassedOver]) -> None:
    """Better combinations without wheels, since people ask why they did not get the newest."""
    groups: dict[tuple[Looked, ...], list[PassedOver]] = {}
    for passed in passed_over:
        groups.setdefault(passed.looked, []).append(passed)
    for looked, members in list(groups.items())[:_GROUPS_SHOWN]:
        versions = _few([member.torch_npu for member in members])
        wheels = _few(list(dict.fromkeys(member.wheel for member in members)))
        told = Text(f"torch_npu {versions}: no wheel of {wheels}", style="dim")
        table.add_row(Text("      passed over", style="dim"), told)
        for look in looked:
            table.add_row("", Text(f"  {look.outcome}: {', '.join(look.places)}", style="dim"))
    rest = sum(len(members) for members in list(groups.values())[_GROUPS_SHOWN:])
    if rest:
        table.add_row("", Text(f"and {rest} more, listed by --format json", style="dim"))


def _few(words: Sequence[str]) -> str:
    more = f" and {len(words) - _VERSIONS_SHOWN} more" if len(words) > _VERSIONS_SHOWN else ""
    return ", ".join(words[:_VERSIONS_SHOWN]) + more


def conflict_text(conflict: Conflict) -> RenderableType:
    """What clashes, the facts that show it, and the nearest combinations with the command for each."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column()
    for constraint in conflict.constraints:
        facts.add_row(f"  {constraint.subject}", _fact(constraint))
    lines: list[RenderableType] = [Text.assemble(("error: ", "bold red"), conflict.summary), facts]
    if conflict.nearest:
        sure = all(option.wheels_found for option in conflict.nearest)
        lines.append(Text("nearest that work:" if sure else "nearest:"))
        lines += _options(conflict.nearest)
    return Group(*lines)


def _options(nearest: Sequence[Nearest]) -> list[Text]:
    """Each change with its command beside it, or below it where that would be too wide to be pasted."""
    changes = [f"  {option.change}" for option in nearest]
    commands = [as_called(option.as_command) for option in nearest]
    doubts = ["" if option.wheels_found else f"  ({_DOUBT})" for option in nearest]
    widest = max(map(len, changes))
    if widest + 2 + max(map(len, commands)) <= _WIDTH and not any(doubts):
        return [
            unbroken(f"{change:{widest}}  {command}")
            for change, command in zip(changes, commands, strict=True)
        ]
    return [
        line
        for change, command, doubt in zip(changes, commands, doubts, strict=True)
        for line in (Text(f"{change}{doubt}"), unbroken(f"      {command}"))
    ]


def _fact(constraint: Constraint) -> str:
    text = constraint.text.removeprefix(constraint.subject).strip()
    notes = [] if constraint.evidence is None else [str(constraint.evidence)]
    if constraint.wanted_by.startswith("installed"):
        notes.append(constraint.wanted_by)
    elif constraint.wanted_by.startswith("/"):
        notes.append(f"read from {constraint.wanted_by}")
    return f"{text} ({', '.join(notes)})" if notes else text
