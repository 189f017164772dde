"""Why no combination satisfies a request: the wants that cannot hold together, and the facts behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.fact import listed
from ascendenv.resolve.facts import facts
from ascendenv.resolve.model import Constraint
from ascendenv.resolve.wants import CANN, CHIP, DRIVER, PYTHON, TORCH, TORCH_NPU, Want, satisfying


def minimal_conflict(candidates: Sequence[Candidate], wants: Sequence[Want]) -> tuple[Want, ...]:
    """A smallest set of wants that cannot hold together: without any one of them the rest could.

    What the user asked for stands first in ``wants`` and is kept in the set where there is a choice.
    """
    kept = list(wants)
    for want in reversed(wants):
        without = [other for other in kept if other is not want]
        if not satisfying(candidates, without):
            kept = without
    return tuple(kept)


def summary(clash: Sequence[Want], situation: Situation) -> str:
    """One line that names the wants of the clash."""
    named = {want.name: want.text for want in clash}
    where = f" on {situation.target.arch}" if PYTHON in named else ""
    if any(want.wish is not None for want in clash):
        return _summary_on_top(clash) + where
    if TORCH_NPU in named:
        return f"{_summary_of_release(named.pop(TORCH_NPU), named)}{where}"
    if set(named) == {CANN, DRIVER}:
        return f"{named[CANN]} does not go with {named[DRIVER]}"
    if set(named) == {CHIP}:
        return f"no torch_npu supports {named[CHIP]}"
    return f"no torch_npu goes with {listed(named.values())}{where}"


def _summary_of_release(release: str, others: Mapping[str, str]) -> str:
    if not others:
        return f"no CANN is known to go with {release}"
    verb = "has no wheel for" if set(others) == {PYTHON} else "does not go with"
    return f"{release} {verb} {listed(others.values())}"


def _summary_on_top(clash: Sequence[Want]) -> str:
    packages = [want.text for want in clash if want.wish is not None]
    others = [want.text for want in clash if want.wish is None]
    do, cannot = ("does", "goes") if len(packages) == 1 else ("do", "go")
    if others:
        return f"{listed(packages)} {do} not go with {listed(others)}"
    if len(packages) > 1:
        return f"{listed(packages)} cannot be in one environment"
    return f"no stack that can be had {cannot} with {packages[0]}"


def constraints(clash: Sequence[Want], situation: Situation) -> tuple[Constraint, ...]:
    """Each want of the clash with what the matrix says of it, and field reports that stand in the way."""
    explained = (_explained(want, clash, situation) for want in clash)
    return (*explained, *_reports(clash, situation))


def _explained(want: Want, clash: Sequence[Want], situation: Situation) -> Constraint:
    known = facts(want, clash, situation)
    rows = [fact.row for fact in known if fact.row is not None]
    return Constraint(
        subject=want.text,
        text=f"{want.text} {'; '.join(fact.text for fact in known)}",
        wanted_by=want.wanted_by,
        source="; ".join(dict.fromkeys(row.source for row in rows)),
        evidence=max((row.evidence for row in rows), key=lambda evidence: evidence.rank, default=None),
    )


def _reports(clash: Sequence[Want], situation: Situation) -> Iterator[Constraint]:
    if len({CANN, TORCH, TORCH_NPU} & {want.name for want in clash}) < 2:  # noqa: PLR2004  # a report is on a pair
        return
    for candidate in satisfying(situation.reported, [want for want in clash if want.wish is None]):
        judgement = candidate.judgement
        yield Constraint(
            subject=f"torch_npu {candidate.release.torch_npu}",
            text=judgement.because,
            wanted_by="field report",
            source=judgement.source,
            evidence=judgement.evidence,
        )
