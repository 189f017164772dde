"""Short ways to write findings, and the questions that several checks ask of a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.model import Finding, Fix, Seen, Title
from ascendenv.host.model import CannInstall, Host, Npu
from ascendenv.vocabulary import Severity

Check: TypeAlias = Callable[[Host, Matrix], Iterable[Finding]]
"""A check is pure. It yields what it found, ``ok`` findings included, and nothing where it does not apply."""


def finding(
    check_id: str,
    severity: Severity,
    en: str,
    zh: str,
    *,
    seen: Sequence[tuple[str, str]] = (),
    why: str = "",
    fix: Sequence[Fix] = (),
) -> Finding:
    """Build a finding; ``seen`` holds pairs of what and where."""
    return Finding(
        id=check_id,
        severity=severity,
        title=Title(en=en, zh=zh),
        seen=tuple(Seen(what=what, where=where) for what, where in seen),
        why=why,
        fix=tuple(fix),
    )


def ok(check_id: str, en: str, zh: str, *, seen: Sequence[tuple[str, str]] = ()) -> Finding:
    """Build the finding of a check that passed."""
    return finding(check_id, Severity.OK, en, zh, seen=seen)


def real_npus(host: Host) -> tuple[Npu, ...]:
    """The NPUs that are hardware."""
    return tuple(npu for npu in host.npus if not npu.simulated)


def real_canns(host: Host) -> tuple[CannInstall, ...]:
    """The CANN installations that are not simulated."""
    return tuple(cann for cann in host.canns if not cann.simulated)


def worse_with_npu(host: Host, severity: Severity) -> Severity:
    """``severity`` where there is an NPU, else info: then ``npu.present`` is the one error."""
    return severity if real_npus(host) else Severity.INFO


def npu_names(npus: Sequence[Npu]) -> str:
    """``8 x Ascend910B3``, or ``no NPU``; the names that differ are listed."""
    counts: dict[str, int] = {}
    for npu in npus:
        name = npu.soc or (f"NPU ({npu.family})" if npu.family else "NPU")
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in counts.items()) or "no NPU"
