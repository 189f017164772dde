"""Run all checks over a machine."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.checks import CHECKS
from ascendenv.doctor.finding import Check, finding, npu_names
from ascendenv.doctor.model import Diagnosis, Finding, Fix
from ascendenv.host.model import CannInstall, Host
from ascendenv.vocabulary import Severity

_WORST_FIRST = list(Severity)


def diagnose(host: Host, matrix: Matrix, checks: Mapping[str, Check] = CHECKS) -> Diagnosis:
    """Every finding, worst first.

    A machine without any NPU gets exactly one error for it, ``npu.present``: that stack cannot run there.
    What else is missing for an NPU is then info. A check that raises becomes a warning, and the others go on.
    """
    started = time.perf_counter()
    findings = [found for check_id, check in checks.items() for found in _run(check_id, check, host, matrix)]
    return Diagnosis(
        stack=stack_line(host),
        simulated=any(cann.simulated and cann.in_effect for cann in host.canns),
        findings=tuple(sorted(findings, key=lambda found: _WORST_FIRST.index(found.severity))),
        seconds=time.perf_counter() - started,
    )


def stack_line(host: Host) -> str:
    """The stack in one line: ``aarch64 · openEuler 24.03 · 8 x Ascend910B3 · driver ... · CANN ...``."""
    simulated = bool(host.npus) and all(npu.simulated for npu in host.npus)
    parts = [
        host.cpu.machine,
        host.os.name,
        f"{host.container.kind} container" if host.container else "",
        npu_names(host.npus) + (" (simulated)" if simulated else ""),
        f"driver {host.driver.version}" if host.driver else "no driver",
        f"CANN {', '.join(map(_cann, host.canns))}" if host.canns else "no CANN",
    ]
    return " · ".join(part for part in parts if part)


def _cann(cann: CannInstall) -> str:
    marks = [
        *(["simulated"] if cann.simulated else []),
        *(["in effect"] if cann.in_effect else []),
        *([] if cann.complete else ["incomplete"]),
    ]
    return (cann.version or "unknown") + (f" ({', '.join(marks)})" if marks else "")


def _run(check_id: str, check: Check, host: Host, matrix: Matrix) -> list[Finding]:
    try:
        return list(check(host, matrix))
    except Exception as error:  # noqa: BLE001  # one broken check must not hide what the others find
        return [
            finding(
                check_id,
                Severity.WARNING,
                f"check crashed: {check_id}",
                f"检查项出错:{check_id}",
                seen=[(type(error).__name__, check_id)],
                why="this is a fault of ascendenv, not of the machine; what it would have found is unknown",
                fix=[Fix(note="please report it, with what is seen here")],
            )
        ]
