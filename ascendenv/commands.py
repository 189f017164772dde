"""What the shorter commands do, without a terminal: each returns data, and raises what went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.diagnose import diagnose
from ascendenv.doctor.model import Diagnosis
from ascendenv.errors import UsageError
from ascendenv.host.gather import gather
from ascendenv.host.model import Host
from ascendenv.install.environment import Environment, choose
from ascendenv.install.guarding import GuardStatus, status, turn_off, turn_on
from ascendenv.planning import (
    ANY,
    Wanted,
    first_choice,
    known_machine,
    known_machine_for,
    own_python_first,
    request_for,
)
from ascendenv.resolve import uv
from ascendenv.resolve.lock import lock
from ascendenv.resolve.model import Conflict, Plan
from ascendenv.resolve.resolver import Choice
from ascendenv.resolve.target import parse_arch, pythons_with_wheels
from ascendenv.verify.model import Check, Report
from ascendenv.verify.runner import verify


def examine() -> Diagnosis:
    """``ascendenv doctor``; its time includes the look at the machine."""
    started = time.monotonic()
    matrix, host = known_machine()
    diagnosis = diagnose(host, matrix)
    return diagnosis.model_copy(update={"seconds": time.monotonic() - started})


def plan(wanted: Wanted) -> Plan | Conflict:
    """``ascendenv resolve``: the plan for a machine, this one as far as nothing else is said."""
    matrix, host = known_machine_for(wanted)
    request = request_for(matrix, wanted)
    answer, _ = first_choice(wanted, matrix, host, request, _pythons(wanted, matrix, host), "--cann")
    return lock(answer, host.pip, offline=wanted.offline) if isinstance(answer, Choice) else answer


def _pythons(wanted: Wanted, matrix: Matrix, host: Host) -> Sequence[str]:
    if wanted.python == ANY:
        return pythons_with_wheels(matrix, parse_arch(wanted.arch) if wanted.arch else host.cpu.arch)
    return [wanted.python] if wanted.python else own_python_first(host.interpreters)


def verify_environment(
    environment: Environment,
    *,
    suite: str,
    devices: tuple[int, ...] | None,
    select: str | None,
    offline: bool,
    on_check: Callable[[Check], None],
) -> Report:
    """``ascendenv verify``: run the suite and keep the report beside the environment."""
    pip = gather(load()).pip
    report = verify(
        environment,
        suite=suite,
        devices=devices,
        select=select,
        on_check=on_check,
        uv_options=uv.options(pip, offline=offline),
        uv_environ=uv.environ(pip),
    )
    if select is None:
        environment.keep_report(report.model_dump_json(indent=2), ok=report.ok)
    return report


def guard(env: Path | None, turn: str) -> GuardStatus:
    """``ascendenv guard``: ``turn`` it ``on`` or ``off``, or leave it as it is (``status``)."""
    environment = choose(env)
    if turn == "on":
        turn_on(environment, gather(load()).pip)
    elif turn == "off":
        turn_off(environment)
    return status(environment, load())


def device_numbers(text: str | None) -> tuple[int, ...] | None:
    """``0,1`` as numbers. Raises ``UsageError`` for anything else."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"`--devices {text}` is not a list of numbers", hint="such as --devices 0,1"
        ) from None
