"""Verify an environment: run the suite with its Python and say what was found."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ascendenv.errors import UsageError
from ascendenv.verify.model import Check, Device, Report
from ascendenv.verify.session import Limits, Session
from ascendenv.verify.tools import pytest_for

SUITE = Path(__file__).parent / "suite"
SUITES = ("quick",)


class Environment(Protocol):
    """What is verified: an interpreter, where it lives, and the process environment with CANN in effect."""

    @property
    def python(self) -> Path:
        """The environment's interpreter."""

    @property
    def path(self) -> Path:
        """Its directory."""

    def environ(self) -> dict[str, str]:
        """All variables that a process in the environment gets."""


def verify(
    environment: Environment,
    *,
    on_check: Callable[[Check], None],
    suite: str = "quick",
    devices: Sequence[int] | None = None,
    select: str | None = None,
    uv_options: Sequence[str] = (),
    uv_environ: Mapping[str, str] | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> Report:
    """Run the suite in ``environment`` and report.

    ``on_check`` hears of each check as it finishes (from a thread of its own); ``devices`` are the NPUs to
    use, all visible ones by default; ``select`` is an expression over check ids as pytest's ``-k`` takes it.
    A failed layer leaves the checks above it not run. Raises :class:`~ascendenv.errors.UsageError` for a
    suite or selection that does not exist, and
    :class:`~ascendenv.verify.session.VerificationError` when the suite cannot be started.
    """
    if suite not in SUITES:
        raise UsageError(f"there is no suite `{suite}`", hint=f"suites: {', '.join(SUITES)}")
    started = time.monotonic()
    environ = {**environment.environ(), **_visible(devices)}
    tools = pytest_for(environment.python, uv_options=uv_options, uv_environ=uv_environ)
    with tempfile.TemporaryDirectory(prefix="ascendenv-verify-") as scratch:
        session = Session(
            python=environment.python,
            environ=environ,
            suite=SUITE,
            tools=tools,
            scratch=Path(scratch),
            limits=limits,
            select=select,
        )
        journal = session.run(on_check)
        return Report(
            environment=environment.path,
            suite=suite,
            device=Device(simulated=is_simulated(environ), **journal.device()),
            checks=tuple(journal.checks()),
            seconds=round(time.monotonic() - started, 3),
        )


def is_simulated(environ: Mapping[str, str]) -> bool:
    """Whether the CANN in effect is the simulated one: it says so in a file, or the caller in a variable."""
    home = environ.get("ASCEND_HOME_PATH")
    marked = home is not None and (Path(home) / "share" / "info" / "simulator" / "version.info").exists()
    return marked or environ.get("ASCENDENV_SIMULATED") == "1"


def _visible(devices: Sequence[int] | None) -> dict[str, str]:
    # The runtime drops entries silently unless they are in ascending order.
    if devices is None:
        return {}
    if not devices or min(devices) < 0:
        raise UsageError("devices are given by their numbers, such as `--devices 0,1`")
    return {"ASCEND_RT_VISIBLE_DEVICES": ",".join(str(device) for device in sorted(set(devices)))}
