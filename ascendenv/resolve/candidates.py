"""Every combination that the matrix knows, and the wants that a request and a target put on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

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
class Want:
    """One thing that a combination must satisfy.

    ``name`` is the option that asks for it, ``text`` says it to people, ``holds`` tests a candidate.
    """

    name: str
    text: str
    source: str
    holds: Callable[[Candidate], bool]


def candidates(matrix: Matrix, request: Request, target: Target) -> tuple[Candidate, ...]:
    """All combinations worth considering for ``request``, best first.

    Paired before merely declared compatible, then by evidence, then newest. What the vendor only declares
    compatible counts when it is allowed, or when nothing at all was released with the wanted CANN.
    """
    versions = query.cann_versions(matrix)
    if request.cann is not None and CannVersion(request.cann) not in versions:
        versions = (*versions, CannVersion(request.cann))
    judged = [
        Candidate(cann, release, query.judge(matrix, cann, release, chip=target.chip, python=target.python))
        for cann in versions
        if not cann.is_wildcard
        for release in matrix.torch_npu
    ]
    has_pair = {c.cann for c in judged if c.judgement.verdict is Verdict.PAIRED and not c.release.prerelease}
    return tuple(sorted((c for c in judged if _acceptable(c, request, has_pair)), key=_rank))


def _acceptable(candidate: Candidate, request: Request, has_pair: set[CannVersion]) -> bool:
    if candidate.release.prerelease and candidate.release.torch_npu != request.torch_npu:
        return False
    if candidate.cann.is_prerelease and str(candidate.cann) != request.cann:
        return False
    verdict = candidate.judgement.verdict
    if verdict is Verdict.DECLARED_COMPATIBLE:
        return request.allow_declared or candidate.cann not in has_pair
    return verdict is Verdict.PAIRED


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


def wants(matrix: Matrix, request: Request, target: Target, *, cann_source: str) -> tuple[Want, ...]:
    """What ``request`` and ``target`` ask of a candidate, the user's own wants first."""
    return (*_requested(request, cann_source), *_targeted(matrix, target))


def _requested(request: Request, cann_source: str) -> Iterable[Want]:
    if request.cann is not None:
        cann = CannVersion(request.cann)
        yield Want("cann", f"CANN {cann}", cann_source, lambda c: c.cann == cann)
    if request.torch is not None:
        torch = Version(request.torch)
        yield Want(
            "torch", f"torch {torch}", "--torch", lambda c: Version(c.release.torch) == Version(torch.public)
        )
    if request.torch_npu is not None:
        version = Version(request.torch_npu)
        yield Want("torch-npu", f"torch_npu {version}", "--torch-npu", lambda c: c.release.version == version)


def _targeted(matrix: Matrix, target: Target) -> Iterable[Want]:
    yield Want(
        "python",
        f"Python {target.python} on {target.arch}",
        "target",
        lambda c: (
            query.has_wheel(c.release, target.arch, target.python)
            and _cann_knows_python(matrix, c, target.python)
        ),
    )
    family = target.chip
    if family is not None:
        chip = next(row for row in matrix.chips if row.family is family)
        since = None if chip.cann_since is None else CannVersion(chip.cann_since)
        yield Want(
            "chip",
            f"chip {chip.family} ({chip.title})",
            "target",
            lambda c: (since is None or since <= c.cann) and query.knows_chip(matrix, c.release, family),
        )


def _cann_knows_python(matrix: Matrix, candidate: Candidate, python: str) -> bool:
    return query.python_supported_by_cann(matrix, candidate.cann, python) is not False
