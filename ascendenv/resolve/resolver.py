"""Request x Target x Matrix x index -> the best combination that is really installable, or a conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, RuntimeRequirement
from ascendenv.errors import NetworkError
from ascendenv.resolve import explain
from ascendenv.resolve.candidates import Candidate, candidates, wants
from ascendenv.resolve.index import Found, Missing
from ascendenv.resolve.model import Conflict, Constraint, Nearest, Pairing, Reason, Request, Target
from ascendenv.vocabulary import Verdict

# PyTorch's local version label of builds without an accelerator.
CPU_LABEL = "cpu"
# Without a pip of its own, `pip install` inside the environment would reach another environment's.
ENVIRONMENT_TOOLS = ("pip",)
# How the reasons of a plan begin that tell of better combinations without wheels.
PASSED_OVER = "passed over"
# A refusal names the best few wheels that were looked for; more would only scroll by.
_SHOWN = 3


class WheelIndex(Protocol):
    """Answers whether a wheel can be had."""

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        """A wheel of exactly ``version`` that runs on ``target``, or where it was looked for."""


@dataclass(frozen=True)
class Choice:
    """The combination to install; ``requirements`` are PEP 508 texts, ``uv_options`` name further indexes."""

    target: Target
    pairing: Pairing
    requirements: tuple[str, ...]
    uv_options: tuple[str, ...]
    reasons: tuple[Reason, ...]


def resolve(
    request: Request, target: Target, matrix: Matrix, index: WheelIndex, *, cann_source: str = "--cann"
) -> Choice | Conflict:
    """The best installable combination for ``request`` on ``target``.

    ``cann_source`` says where the wanted CANN version comes from. Raises
    :class:`~ascendenv.errors.NetworkError` when no source could be asked at all.
    """
    known = candidates(matrix, request, target)
    wanted = wants(matrix, request, target, cann_source=cann_source)
    search = _Search(target, matrix, index)
    fitting = explain.satisfying(known, wanted)
    if not fitting:
        return explain.conflict(known, wanted, request, target, matrix, search.best)
    best = search.best(fitting)
    if best is None:
        return search.nothing_installable(
            fitting, explain.nearest(known, wanted, wanted, request, search.best)
        )
    return search.choice(best)


class _Search:
    """Looks for the wheels of candidates, best first, and remembers why better ones were passed over."""

    def __init__(self, target: Target, matrix: Matrix, index: WheelIndex) -> None:
        self._target = target
        self._matrix = matrix
        self._index = index
        self._passed_over: list[tuple[Candidate, Missing]] = []

    def best(self, fitting: Sequence[Candidate]) -> Candidate | None:
        """The first candidate whose torch_npu and torch wheels can both be had."""
        self._passed_over = []
        seen: set[str] = set()
        for candidate in fitting:
            if candidate.release.torch_npu in seen:
                continue
            seen.add(candidate.release.torch_npu)
            missing = self._missing(candidate)
            if missing is None:
                return candidate
            self._passed_over.append((candidate, missing))
        return None

    def choice(self, candidate: Candidate) -> Choice:
        passed_over = tuple(_passed_over(c, missing) for c, missing in self._passed_over)
        torch = self.torch_wanted(candidate)
        found = [
            answer
            for name, version in self._wheels(candidate)
            if isinstance(answer := self._index.find(name, version, self._target), Found)
        ]
        extra = query.requirements_for(self._matrix, candidate.cann)
        return Choice(
            target=self._target,
            pairing=candidate.pairing,
            requirements=(
                f"torch=={torch}",
                f"torch-npu=={candidate.release.torch_npu}",
                *dict.fromkeys(row.requirement for row in extra),
                *ENVIRONMENT_TOOLS,
            ),
            uv_options=tuple(dict.fromkeys(option for f in found for option in f.source.uv_options)),
            reasons=(*self._reasons(candidate, torch, found), *passed_over, *map(_needed, extra)),
        )

    def torch_wanted(self, candidate: Candidate) -> Version:
        """The torch version to ask for: the CPU label where the plain wheel would be a CUDA build."""
        torch = Version(candidate.release.torch)
        cuda = query.torch_comes_with_cuda(self._matrix, self._target.arch, torch)
        return torch if cuda is None else Version(f"{torch}+{CPU_LABEL}")

    def nothing_installable(self, fitting: Sequence[Candidate], nearest: tuple[Nearest, ...]) -> Conflict:
        """Why none of the fitting candidates can be had: which wheels were looked for, and where."""
        self.best(fitting)
        missing = [missing for _, missing in self._passed_over]
        if all(len(m.unanswered) == len(m.looks) for m in missing):
            raise NetworkError(
                f"no package index could be asked for {missing[0].wanted}: {_looks(missing[0])}",
                hint="check the network, the proxy variables and pip's configuration (`pip config list`)",
            )
        return Conflict(
            summary="what fits the request has no wheel that can be had from here",
            constraints=tuple(
                Constraint(text=f"no wheel of {m.wanted}", source=_looks(m)) for m in missing[:_SHOWN]
            ),
            nearest=nearest,
        )

    def _wheels(self, candidate: Candidate) -> tuple[tuple[str, Version], ...]:
        return (("torch-npu", candidate.release.version), ("torch", self.torch_wanted(candidate)))

    def _missing(self, candidate: Candidate) -> Missing | None:
        for name, version in self._wheels(candidate):
            answer = self._index.find(name, version, self._target)
            if isinstance(answer, Missing):
                return answer
        return None

    def _reasons(self, candidate: Candidate, torch: Version, found: Sequence[Found]) -> tuple[Reason, ...]:
        release = candidate.release
        origin = {wheel.wheel.filename.split("-")[0]: wheel.source.title for wheel in found}
        cuda = query.torch_comes_with_cuda(self._matrix, self._target.arch, Version(release.torch))
        why_torch = f"torch_npu {release.torch_npu} is built for it"
        if cuda is not None:
            why_torch += "; the plain wheel is a CUDA build, which torch_npu refuses to run beside"
        return (
            Reason(
                subject=f"CANN {candidate.cann}",
                because=candidate.judgement.because,
                source=candidate.judgement.source,
            ),
            Reason(subject=f"torch {torch}", because=why_torch, source=origin.get("torch", "")),
            Reason(
                subject=f"torch_npu {release.torch_npu}",
                because=f"train {release.train}, {_verdict_words(candidate)} CANN {candidate.cann}",
                source=release.source,
            ),
        )


def _verdict_words(candidate: Candidate) -> str:
    paired = candidate.judgement.verdict is Verdict.PAIRED
    return "released with" if paired else "declared compatible by the vendor, not shown, with"


def _passed_over(candidate: Candidate, missing: Missing) -> Reason:
    return Reason(
        subject=f"{PASSED_OVER} torch_npu {candidate.release.torch_npu}",
        because=f"no wheel of {missing.wanted} was found",
        source=_looks(missing),
    )


def _looks(missing: Missing) -> str:
    """Where a wheel was looked for, places with the same answer together."""
    by_outcome: dict[str, list[str]] = {}
    for look in missing.looks:
        by_outcome.setdefault(look.outcome, []).append(look.source)
    parts = (f"{outcome}: {', '.join(places)}" for outcome, places in by_outcome.items())
    return "; ".join(parts) or "there is no source to ask"


def _needed(row: RuntimeRequirement) -> Reason:
    return Reason(subject=row.requirement, because=f"{row.needed_by}: {row.because}", source=row.source)
