"""Why no combination satisfies a request: the wants that cannot hold together, and the facts behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.facts import facts, listed
from ascendenv.resolve.model import Constraint
from ascendenv.resolve.wants import PYTHON, Want, satisfying


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
    match sorted(named):
        case ["python", "torch-npu"]:
            return f"{named['torch-npu']} has no wheel for {named['python']}{where}"
        case ["torch-npu"]:
            return f"no CANN is known to go with {named['torch-npu']}"
        case [("cann" | "torch" | "chip") as other, "torch-npu"]:
            return f"{named['torch-npu']} does not go with {named[other]}"
        case ["chip"]:
            return f"no torch_npu supports {named['chip']}"
        case _:
            return f"no torch_npu goes with {listed(named.values())}{where}"


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
    for candidate in satisfying(situation.reported, clash):
        judgement = candidate.judgement
        yield Constraint(
            subject=f"torch_npu {candidate.release.torch_npu}",
            text=judgement.because,
            wanted_by="field report",
            source=judgement.source,
            evidence=judgement.evidence,
        )
