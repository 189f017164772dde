"""The long commands at the terminal: the plan, the question, the progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from ascendenv.commands import device_numbers, verify_environment
from ascendenv.errors import ExitCode, NetworkError
from ascendenv.host.model import Host
from ascendenv.install.environment import choose
from ascendenv.install.installer import Proposal, install, is_installed
from ascendenv.install.packages import replaced
from ascendenv.install.prepare import already_there, prepare_install
from ascendenv.install.transaction import is_unfinished, recover_all
from ascendenv.planning import Wanted, known_machine_for
from ascendenv.render.console import remarks, show
from ascendenv.render.progress import ProgressLines
from ascendenv.render.text import render
from ascendenv.resolve.model import Conflict
from ascendenv.result import Message, Result
from ascendenv.simulate.model import SimulatedDevices

_SCHEMA = "ascendenv/install/1"


def run_install(
    wanted: Wanted,
    *,
    env: Path | None,
    simulate: SimulatedDevices | None,
    verify: bool,
    dry_run: bool,
    ask: bool,
    quiet: bool,
    verbose: bool,
) -> Result[BaseModel]:
    """``ascendenv install`` from the first look at the machine to the report."""
    console = remarks()
    for path in recover_all():
        console.print(Text(f"an interrupted installation was undone: {path} is as it was before"))
    matrix, host = known_machine_for(wanted)
    try:
        prepared = prepare_install(wanted, host, matrix, env=env, simulate=simulate, verify=verify)
    except NetworkError as error:
        there = None if dry_run else already_there(wanted, env=env, simulate=simulate)
        if there is None:
            raise
        return Result(_SCHEMA, there, messages=(Message("note", _not_asked(error)),))
    if isinstance(prepared, Conflict):
        return Result(_SCHEMA, prepared, ExitCode.NO_COMBINATION)
    proposal = Proposal(
        environment=prepared.environment.path,
        simulated=prepared.simulated,
        host=host_line(host),
        plan=prepared.plan,
        replaced=replaced(prepared.environment, prepared.plan),
    )
    if dry_run:
        return Result(_SCHEMA, proposal)
    if not quiet:
        show(console, render(proposal))
    if ask and not is_installed(prepared) and not _agreed():
        return Result(_SCHEMA, proposal.model_copy(update={"declined": True}))
    with (
        _told_when_undone(console, prepared.environment.path),
        ProgressLines(console, quiet=quiet, verbose=verbose) as progress,
    ):
        installed = install(prepared, host, progress, progress.check)
    return Result(_SCHEMA, installed)


def _not_asked(error: NetworkError) -> str:
    reason = error.message.splitlines()[0]
    return f"what is installed satisfies the request; nothing newer could be looked for: {reason}"


@contextmanager
def _told_when_undone(console: Console, path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        state = "not yet as it was: run this again" if is_unfinished(path) else "as it was before"
        console.print(Text(f"{path} is {state}"))
        raise


def run_verify(
    env: Path | None,
    *,
    suite: str,
    devices: str | None,
    select: str | None,
    offline: bool,
    quiet: bool,
    verbose: bool,
) -> Result[BaseModel]:
    """``ascendenv verify``."""
    environment, numbers = choose(env), device_numbers(devices)
    with ProgressLines(remarks(), quiet=quiet, verbose=verbose) as progress:
        progress.step_started("verification", f"{suite} suite")
        report = verify_environment(
            environment,
            suite=suite,
            devices=numbers,
            select=select,
            offline=offline,
            on_check=progress.passing,
        )
    code = ExitCode.OK if report.ok else ExitCode.PROBLEM_FOUND
    return Result("ascendenv/verify/1", report, code)


def host_line(host: Host) -> str:
    """The machine in one line."""
    count = len(host.npus)
    soc = next((npu.soc for npu in host.npus if npu.soc), None) or (
        f"chip {host.chip}" if host.chip else "NPU"
    )
    npus = f"{count} x {soc}" if count else "no NPU"
    driver = f", driver {host.driver.version}" if host.driver else ""
    return f"{host.cpu.machine}, {host.os.name}, {npus}{driver}"


def _agreed() -> bool:
    """Ask, where there is somebody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    remarks().print("Go on? [Y/n] ", end="")
    return sys.stdin.readline().strip().lower() in {"", "y", "yes"}
