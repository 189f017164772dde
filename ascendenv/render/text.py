"""Results as text for people. One function for each kind of payload."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import singledispatch

from pydantic import BaseModel
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ascendenv.compatibility.describe import MatrixEntry
from ascendenv.compatibility.listing import ReleaseList, RowList
from ascendenv.compatibility.why import Explanation
from ascendenv.doctor.model import Diagnosis, Finding, Fix
from ascendenv.drift.model import Drift
from ascendenv.install.environment import EnvironmentList
from ascendenv.install.guarding import GuardStatus
from ascendenv.install.installer import Installed, Proposal
from ascendenv.render.console import show
from ascendenv.render.drift import drift_text
from ascendenv.render.matrix import entry_text, explanation_text, release_table, row_table
from ascendenv.render.plan import conflict_text, plan_rows
from ascendenv.render.wording import as_called, unbroken
from ascendenv.resolve.model import Conflict, Plan
from ascendenv.result import Message
from ascendenv.verify.model import Check, Report
from ascendenv.vocabulary import Outcome, Severity

SIMULATED = "SIMULATED  this is not an NPU: results say nothing about hardware"
_MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·", Severity.OK: "✓"}
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan", Severity.OK: "green"}
_OUTCOMES = {
    Outcome.PASSED: ("✓", "green"),
    Outcome.FAILED: ("✗", "red"),
    Outcome.SKIPPED: ("·", "cyan"),
    Outcome.NOT_RUN: ("·", "yellow"),
}


@singledispatch
def render(payload: BaseModel) -> RenderableType:
    """The payload as something that rich prints."""
    raise TypeError(f"no text form for {type(payload).__name__}")


def print_message(console: Console, message: Message) -> None:
    """An error, warning or note, with its hint after it."""
    colour = {"error": "red", "warning": "yellow"}.get(message.level, "cyan")
    show(console, Text.assemble((f"{message.level}: ", f"bold {colour}"), as_called(message.text)))
    if message.hint:
        show(console, Text.assemble(("hint: ", "bold"), as_called(message.hint)))


@render.register
def _(plan: Plan) -> RenderableType:
    return Group(Text(f"Plan for {plan.target.describe()}"), plan_rows(plan))


@render.register
def _(proposal: Proposal) -> RenderableType:
    """The plan as ``install`` shows it before it begins."""
    if proposal.declined:
        return Text("nothing was done")
    plan = proposal.plan
    head = [Text(SIMULATED, style="bold yellow")] if proposal.simulated else []
    size = sum(package.size or 0 for package in plan.packages)
    download = f"at most {size / 1e6:.0f} MB to download, " if size else ""
    return Group(
        *head,
        Text(f"Host  {proposal.host}"),
        Text(f"Plan  Python {plan.target.python}, {download}into {proposal.environment}"),
        plan_rows(plan, replaced=proposal.replaced),
    )


@render.register
def _(conflict: Conflict) -> RenderableType:
    return conflict_text(conflict)


@render.register
def _(installed: Installed) -> RenderableType:
    lines: list[RenderableType] = []
    if installed.simulated:
        lines.append(Text(SIMULATED, style="bold yellow"))
    pairing = installed.plan.pairing
    stack = f"CANN {pairing.cann}, torch {pairing.torch}, torch_npu {pairing.torch_npu}"
    if installed.changed:
        lines.append(Text(f"Installed  {stack} in {installed.environment}"))
    else:
        lines.append(Text(f"Nothing to do: {stack} is installed in {installed.environment}"))
    if installed.verification is not None:
        lines.append(Text(f"Verified   {_verified(installed.verification)}"))
    run, env = as_called("ascendenv run -- python train.py"), as_called('eval "$(ascendenv env)"')
    lines.append(Text(f"Next       {run}        or: {env}"))
    return Group(*lines)


def _verified(report: Report) -> str:
    counts = report.counts
    parts = [f"{counts[outcome]} {str(outcome).replace('_', ' ')}" for outcome in Outcome if counts[outcome]]
    on = f" on {report.device.count} x {report.device.soc}" if report.device.count else ""
    simulated = " (simulated)" if report.device.simulated else ""
    return f"{report.suite}: {', '.join(parts)}{on}{simulated} in {report.seconds:.0f} s"


@render.register
def _(report: Report) -> RenderableType:
    lines: list[RenderableType] = []
    if report.device.simulated:
        lines.append(Text(SIMULATED, style="bold yellow"))
    lines += [line for check in report.checks for line in check_lines(check)]
    lines.append(Text(f"\n{_verified(report)}"))
    return Group(*lines)


def check_lines(check: Check) -> Iterable[RenderableType]:
    """One check; what failed is explained below it."""
    mark, colour = _OUTCOMES[check.outcome]
    yield (
        Text(f"{mark} ", style=colour)
        + Text(f"{check.id:<28} {check.title}")
        + Text(f"  {check.seconds:.1f} s" if check.seconds else "", style="dim")
    )
    if check.outcome is not Outcome.PASSED and check.detail:
        yield Text(f"    {check.detail}")
    if check.outcome is Outcome.FAILED and check.advice:
        yield Text(f"    advice  {check.advice}")


@render.register
def _(diagnosis: Diagnosis) -> RenderableType:
    blocks: list[RenderableType] = [Text(SIMULATED, style="bold yellow")] if diagnosis.simulated else []
    blocks += [Text(diagnosis.stack, style="bold"), Text("")]
    told: set[Fix] = set()
    for finding in diagnosis.findings:
        if finding.severity is not Severity.OK:
            blocks += [_finding(finding, told), Text("")]
            told.update(finding.fix)
    blocks.append(
        Text(
            f"✓ {diagnosis.count(Severity.OK)} checks passed      {_count(diagnosis, Severity.ERROR)}, "
            f"{_count(diagnosis, Severity.WARNING)} in {diagnosis.seconds:.2f} s"
        )
    )
    return Group(*blocks)


def _count(diagnosis: Diagnosis, severity: Severity) -> str:
    number = diagnosis.count(severity)
    return f"{number} {severity}{'' if number == 1 else 's'}"


def _finding(finding: Finding, told: AbstractSet[Fix]) -> RenderableType:
    """One finding; a fix that an earlier, worse one has told is not told again."""
    head = Table.grid(expand=True)
    head.add_column(ratio=1)
    head.add_column(justify="right", style="dim")
    mark = Text(f"{_MARKS[finding.severity]} ", style=_COLOURS[finding.severity])
    head.add_row(mark + Text(finding.title.en, style="bold"), finding.id)
    body = Table.grid(padding=(0, 2))
    body.add_column(no_wrap=True)
    body.add_column(overflow="fold")
    for seen in finding.seen:
        body.add_row("    seen", f"{seen.what}  ({seen.where})")
    if finding.why:
        body.add_row("    why", finding.why)
    return Group(head, body, *(line for fix in finding.fix if fix not in told for line in _fix_lines(fix)))


def _fix_lines(fix: Fix) -> Iterable[RenderableType]:
    """The command whole, however long, so that it can be pasted; what it is for below it."""
    if fix.command:
        yield unbroken(f"    fix   {as_called(fix.command)}")
    if fix.note:
        row = Table.grid(padding=(0, 2))
        row.add_row(
            " " * 8 if fix.command else "    fix ", Text(fix.note, style="dim" if fix.command else "")
        )
        yield row


@render.register
def _(listed: EnvironmentList) -> RenderableType:
    if not listed.environments:
        return Text("no environments yet; `ascendenv install` makes one")
    lines = []
    for e in listed.environments:
        cann = f"{e.cann} (simulated)" if e.simulated else e.cann
        stack = f"CANN {cann}, torch {e.torch}, torch_npu {e.torch_npu}, Python {e.python}"
        # The path has a line to itself: in a column of a narrow terminal it could not be copied.
        lines.append(Text(f"{e.path}", style="bold", no_wrap=True, overflow="ignore"))
        lines.append(Text(f"    {stack}"))
        lines.append(Text(f"    {'verified' if e.verified else 'not verified'}"))
    return Group(*lines)


@render.register
def _(guard: GuardStatus) -> RenderableType:
    where = Text(f"Guard  {'on' if guard.on else 'off'} in {guard.environment}")
    lines: list[RenderableType] = [where]
    lines += [Text(f"      {constraint}", style="dim") for constraint in guard.constraints]
    lines += [Text(f"    ✗ {what}", style="red") for what in guard.broken]
    if guard.on and not guard.covers_pip:
        own = "its pip.conf has constraints of its own: pip goes by the guard only under ascendenv run or env"
        lines.append(Text(f"    ! {own}", style="yellow"))
    for conflict in guard.conflicts:
        mark, note = ("·", " (known, and right)") if conflict.known else ("!", "")
        lines.append(Text(f"    {mark} {conflict.text}{note}"))
    if guard.broken:
        lines.append(unbroken(f"    fix   {as_called(f'ascendenv install --env {guard.environment}')}"))
    return Group(*lines)


render.register(ReleaseList, release_table)
render.register(RowList, row_table)
render.register(MatrixEntry, entry_text)
render.register(Explanation, explanation_text)
render.register(Drift, drift_text)
