"""Every combination that the matrix knows, and those that may be proposed for a request."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, TorchNpuRelease
from ascendenv.compatibility.query import Judgement
from ascendenv.resolve.model import Pairing, Request, Target
from ascendenv.resolve.packages import NOTHING, Extensions, Offer, Wish, wish
from ascendenv.resolve.ranges import parsed
from ascendenv.versions import CannVersion, train_covers
from ascendenv.vocabulary import Verdict

RowT = TypeVar("RowT")
KeyT = TypeVar("KeyT", bound=Hashable)

_VERDICT_RANK = {Verdict.PAIRED: 0, Verdict.DECLARED_COMPATIBLE: 1, Verdict.REPORTED_BROKEN: 2}


@dataclass(frozen=True)
class Candidate:
    """One CANN with one torch_npu release, what the matrix says of the two, and packages on top of them."""

    cann: CannVersion
    release: TorchNpuRelease
    judgement: Judgement
    extensions: Extensions = NOTHING

    @property
    def torch(self) -> Version:
        """The torch that the release is for."""
        return parsed(self.release.torch)

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
    """What a question to the resolver consists of.

    ``cann_source`` says who wants that CANN version; ``given`` names the options for the target that the
    user has given, which every command that is proposed has to repeat. With ``narrow``, only combinations
    of the versions that are asked for are made, which is all that a look at its answers needs.
    """

    matrix: Matrix
    request: Request
    target: Target
    cann_source: str = "--cann"
    given: frozenset[str] = frozenset()
    narrow: bool = False

    def with_python(self, python: str) -> Situation:
        """The same question for another Python."""
        return replace(self, target=self.target.model_copy(update={"python": python}))

    def allowing(self, what: str) -> Situation:
        """The same question with ``allow_declared`` or ``allow_reported`` set, for a look at its answers."""
        return replace(self, request=self.request.model_copy(update={what: True}), narrow=True)

    def with_driver(self, driver: str) -> Situation:
        """The same question for another driver."""
        return replace(self, target=self.target.model_copy(update={"driver": driver}))

    @cached_property
    def wishes(self) -> tuple[Wish, ...]:
        """The packages that are wanted on top."""
        return tuple(wish(text, self.matrix) for text in self.request.packages)

    @cached_property
    def canns(self) -> tuple[CannVersion, ...]:
        """Every CANN version that the matrix or the request names, newest first."""
        wanted = None if self.request.cann_range is None else self.request.cann_range.exact
        return tuple(sorted({*query.cann_versions(self.matrix), *([wanted] if wanted else [])}, reverse=True))

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The combinations that may be proposed, best first.

        Releases before previews, paired before merely declared compatible, what nobody has reported to fail
        before what somebody has; then by evidence, by what the vendor still takes care of, then newest. What
        the vendor only declares compatible counts when it is allowed, or when nothing at all was released
        with that CANN; what a report contradicts only when that is allowed.
        """
        found = [*self._paired, *self._declared]
        if self.request.allow_reported:
            found += self.reported
        wanted = (c for c in found if _preview_is_wanted(c, self.request))
        care = {row.torch: row.phase.rank for row in self.matrix.torch_support}
        return tuple(sorted(self._with_extensions(wanted), key=lambda c: _rank(c, care)))

    @cached_property
    def reported(self) -> tuple[Candidate, ...]:
        """The combinations that a field report contradicts, and that the vendor has not released together."""
        releases = _by(self.matrix.torch_npu, lambda row: row.torch_npu)
        pairs = {
            (cann, release.torch_npu): (cann, release)
            for report in self.matrix.reports
            for cann in self._covered(CannVersion(report.cann))
            for release in releases.get(report.torch_npu, ())
        }
        judged = (self._judged(cann, release) for cann, release in pairs.values())
        return tuple(c for c in judged if c.judgement.verdict is Verdict.REPORTED_BROKEN)

    def _with_extensions(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """Each with every choice of packages on top of it."""
        offer = Offer(self.matrix, self.wishes)
        if not offer.picked:
            yield from candidates
            return
        for candidate in candidates:
            for extensions in offer.on(candidate.cann, candidate.release):
                yield replace(candidate, extensions=extensions)

    @cached_property
    def _paired(self) -> tuple[Candidate, ...]:
        return tuple(
            self._judged(cann, release)
            for release in self.matrix.torch_npu
            if release.cann_version is not None
            for cann in self._covered(release.cann_version)
        )

    @cached_property
    def _declared(self) -> tuple[Candidate, ...]:
        """What the vendor calls compatible, for the CANN versions for which that is enough."""
        allowed = set(self._usable)
        if not self.request.allow_declared:
            allowed -= {c.cann for c in self._paired if not c.release.prerelease}
        lines = _by(self.matrix.torch_npu, lambda row: _line(row.train))
        pairs = {
            (cann, release.torch_npu): (cann, release)
            for statement in self.matrix.compatibility
            for text in statement.cann
            for cann in self._covered(CannVersion(text))
            if cann in allowed
            for pattern in statement.trains
            for release in lines.get(_line(pattern), ())
            if release.torch_npu in self._asked and train_covers(pattern, release.train)
        }
        judged = (self._judged(cann, release) for cann, release in pairs.values())
        return tuple(c for c in judged if c.judgement.verdict is Verdict.DECLARED_COMPATIBLE)

    def _judged(self, cann: CannVersion, release: TorchNpuRelease) -> Candidate:
        chip, python = self.target.chip, self.target.python
        return Candidate(cann, release, query.judge(self.matrix, cann, release, chip=chip, python=python))

    @cached_property
    def _usable(self) -> tuple[CannVersion, ...]:
        wanted = self.request.cann_range if self.narrow else None
        return tuple(c for c in self.canns if not c.is_wildcard and (wanted is None or wanted.admits(c)))

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The torch_npu releases that combinations are made of."""
        torches, releases = self.request.torch_range, self.request.torch_npu_range
        return frozenset(
            row.torch_npu
            for row in self.matrix.torch_npu
            if not self.narrow
            or (
                (torches is None or torches.admits(parsed(row.torch)))
                and (releases is None or releases.admits(row.version))
            )
        )

    @cached_property
    def _lines(self) -> Mapping[tuple[int, int], Sequence[CannVersion]]:
        return _by(self._usable, lambda cann: cann.release_line)

    def _covered(self, pattern: CannVersion) -> Iterator[CannVersion]:
        """The known CANN versions that ``pattern`` stands for."""
        return (cann for cann in self._lines.get(pattern.release_line, ()) if pattern.covers(cann))


def _line(train: str) -> str:
    """``26.1`` for ``26.1.0`` and for ``26.1.X``."""
    return ".".join(train.split(".")[:2])


def _by(rows: Iterable[RowT], key: Callable[[RowT], KeyT]) -> dict[KeyT, list[RowT]]:
    groups: dict[KeyT, list[RowT]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _preview_is_wanted(candidate: Candidate, request: Request) -> bool:
    """A preview must be asked for by name, or have been released with one that is."""
    cann, release = candidate.cann, candidate.release
    canns, releases = request.cann_range, request.torch_npu_range
    cann_is_named = canns is not None and canns.names_previews and canns.admits(cann)
    release_is_named = releases is not None and releases.names_previews and releases.admits(release.version)
    paired = candidate.judgement.verdict is Verdict.PAIRED
    cann_is_fine = not cann.is_prerelease or cann_is_named or (release_is_named and paired)
    with_named_preview = cann.is_prerelease and cann_is_named and paired
    return cann_is_fine and (not release.prerelease or release_is_named or with_named_preview)


def _rank(candidate: Candidate, care: Mapping[str, int]) -> tuple[object, ...]:
    """What the candidates are ordered by; ``care`` tells how much the vendor still cares for a torch."""
    release, judgement, rows = candidate.release, candidate.judgement, candidate.extensions.rows
    return (
        candidate.cann.is_prerelease or release.prerelease,
        _VERDICT_RANK[judgement.verdict],
        bool(judgement.reports),
        any(row.parsed.is_prerelease for row in rows),
        max(evidence.rank for evidence in (judgement.evidence, *(row.evidence for row in rows))),
        care.get(release.torch, 0),
        _Descending(candidate.cann),
        _Descending(candidate.torch),
        _Descending(release.version),
        [_Descending(row.parsed) for row in rows],
    )


@dataclass(frozen=True)
class _Descending:
    """Turns the order of a version around, for sorting."""

    version: CannVersion | Version

    def __lt__(self, other: _Descending) -> bool:
        return bool(self.version > other.version)  # type: ignore[operator]  # one column holds one kind
