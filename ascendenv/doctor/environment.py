"""Checks of the environment that is active."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.finding import finding, ok
from ascendenv.doctor.model import Finding, Fix
from ascendenv.host.guard import broken
from ascendenv.host.model import GuardedEnvironment, Host
from ascendenv.vocabulary import Severity


def env_guard(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find what was installed into the active environment against its guard."""
    guarded = host.guarded
    if guarded is None:
        return
    against = list(broken(guarded))
    if not against:
        yield ok(
            "env.guard",
            "the stack of this environment is as it was installed",
            "当前环境的软件栈与安装时一致",
            seen=[(f"{len(guarded.constraints)} constraints hold", guarded.where)],
        )
        return
    yield finding(
        "env.guard",
        Severity.ERROR,
        "the guard of this environment was bypassed",
        "当前环境的保护约束被绕过",
        seen=[(what, str(guarded.path)) for what in against],
        why="an installation replaced part of the stack that torch_npu was matched to; that ends in"
        " `undefined symbol` or in a failing import",
        fix=[
            Fix(
                command=f"ascendenv install --env {guarded.path}{_release(guarded)}",
                safe=True,
                note="puts the stack back; what was installed beside it stays",
            ),
            Fix(
                command=f"ascendenv guard off --env {guarded.path}",
                note="if it is meant to be so",
            ),
        ],
    )


def _release(guarded: GuardedEnvironment) -> str:
    """The option that asks for the torch_npu that belongs there."""
    pins = (line.partition("==") for line in guarded.constraints)
    return next((f" --torch-npu {version}" for name, _, version in pins if name == "torch-npu"), "")
