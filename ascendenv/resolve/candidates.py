"""Every combination that the matrix knows, and those that may be proposed for a request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, TorchNpuRelease
from ascendenv.compatibility.query import Judgement
from ascendenv.resolve.model import Pairing, Request, Target
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Verdict

_VERDICT_RANK = {Verdict.PAIRED: 0, Verdict.DECLARED_COMPATIBLE: 1}


@dataclass(frozen=True)
class Candidate:
    """One CANN with one torch_npu release, and what the matrix says of the two."""

    cann: CannVersion
    release: TorchNpuRelease
    judgement: Judgement

    @property
    def pairing(self) -> Pairing:
        """The same as data for a plan."""
        return Pairing(
            cann=str(self.cann),
            torch=self.release.torch,
            torch_npu=self.release.torch_npu,
            train=self.release.train,
            verdict=self.judgement.verdict,
            evidence=self.judgement.evidence,
        )


@dataclass(frozen=True)
class Situation:
    """What a question to the resolver consists of. ``cann_source`` says who wants that CANN version."""

    matrix: Matrix
    request: Request
    target: Target
    cann_source: str = "--cann"

    def with_python(self, python: str) -> Situation:
        """The same question for another Python."""
        return replace(self, target=self.target.model_copy(update={"python": python}))

    def allowing_declared(self) -> Situation:
        """The same question with the vendor's wide statements taken for enough."""
        return replace(self, request=self.request.model_copy(update={"allow_declared": True}))

    @cached_property
    def canns(self) -> tuple[CannVersion, ...]:
        """Every CANN version that the matrix or the request names, newest first."""
        wanted = [] if self.request.cann is None else [CannVersion(self.request.cann)]
        return tuple(sorted({*query.cann_versions(self.matrix), *wanted}, reverse=True))

    @cached_property
    def judged(self) -> tuple[Candidate, ...]:
        """All combinations, those included that are known not to work."""
        chip, python = self.target.chip, self.target.python
        return tuple(
            Candidate(cann, release, query.judge(self.matrix, cann, release, chip=chip, python=python))
            for cann in self.canns
            if not cann.is_wildcard
            for release in self.matrix.torch_npu
        )

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The combinations that may be proposed, best first.

        Paired before merely declared compatible, then by evidence, then newest. What the vendor only
        declares compatible counts when it is allowed, or when nothing at all was released with that CANN.
        """
        paired = {c.cann for c in self.judged if _is_paired(c) and not c.release.prerelease}
        acceptable = (c for c in self.judged if _preview_is_wanted(c, self.request))
        return tuple(sorted((c for c in acceptable if self._is_enough(c, paired)), key=_rank))

    def _is_enough(self, candidate: Candidate, paired: set[CannVersion]) -> bool:
        if candidate.judgement.verdict is Verdict.DECLARED_COMPATIBLE:
            return self.request.allow_declared or candidate.cann not in paired
        return _is_paired(candidate)


def _is_paired(candidate: Candidate) -> bool:
    return candidate.judgement.verdict is Verdict.PAIRED


def _preview_is_wanted(candidate: Candidate, request: Request) -> bool:
    """A preview must be asked for by name, or have been released with one that is."""
    cann, release = candidate.cann, candidate.release
    cann_is_named = request.cann is not None and cann == CannVersion(request.cann)
    release_is_named = release.torch_npu == request.torch_npu
    paired = _is_paired(candidate)
    cann_is_fine = not cann.is_prerelease or cann_is_named or (release_is_named and paired)
    with_named_preview = cann.is_prerelease and cann_is_named and paired
    return cann_is_fine and (not release.prerelease or release_is_named or with_named_preview)


def _rank(candidate: Candidate) -> tuple[object, ...]:
    return (
        _VERDICT_RANK[candidate.judgement.verdict],
        candidate.judgement.evidence.rank,
        _Descending(candidate.cann),
        _Descending(Version(candidate.release.torch)),
        _Descending(candidate.release.version),
    )


@dataclass(frozen=True)
class _Descending:
    """Turns the order of a version around, for sorting."""

    version: CannVersion | Version

    def __lt__(self, other: _Descending) -> bool:
        return bool(self.version > other.version)  # type: ignore[operator]  # one column holds one kind
