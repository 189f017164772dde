"""Request x Target x Matrix x index -> the best combination that is really installable, or a conflict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, RuntimeRequirement
from ascendenv.errors import NetworkError, UsageError
from ascendenv.resolve import explain
from ascendenv.resolve.candidates import Candidate, Situation
from ascendenv.resolve.index import NOT_ASKED, Found, Missing
from ascendenv.resolve.model import (
    Conflict,
    Constraint,
    Looked,
    Nearest,
    Pairing,
    PassedOver,
    Reason,
    Request,
    Target,
)
from ascendenv.resolve.nearest import nearest
from ascendenv.resolve.wants import satisfying, wants
from ascendenv.vocabulary import SupportPhase, Verdict

# PyTorch's local version label of builds without an accelerator.
CPU_LABEL = "cpu"
# The index of these builds, as the matrix names it.
CPU_INDEX = "pytorch-cpu"
# Without a pip of its own, `pip install` inside the environment would reach another environment's.
ENVIRONMENT_TOOLS = ("pip",)
# A refusal names the best few wheels that were looked for; more would only scroll by.
_SHOWN = 3


class WheelIndex(Protocol):
    """Answers whether a wheel can be had."""

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        """A wheel of exactly ``version`` that runs on ``target``, or where it was looked for."""


@dataclass(frozen=True)
class Choice:
    """The combination to install. ``torch`` is the very build that was found, its label included.

    ``requirements`` are PEP 508 texts, ``indexes`` the URLs of indexes that the user has not configured,
    ``overrides`` what holds whatever other packages declare. ``on_top`` names the packages whose versions
    are part of the combination, ``bounds`` are what CANN and torch_npu need, and ``shut_out`` has what must
    never get into the environment, with the package that it would overwrite.
    """

    target: Target
    pairing: Pairing
    torch: Version
    requirements: tuple[str, ...]
    indexes: tuple[str, ...]
    reasons: tuple[Reason, ...]
    overrides: tuple[str, ...] = ()
    on_top: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    shut_out: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Reason, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()


@dataclass(frozen=True)
class _Wheels:
    """The wheels of a candidate: its own two, and those of the packages on top."""

    torch_npu: Found
    torch: Found
    on_top: Mapping[str, Found] = field(default_factory=dict)


def resolve(
    request: Request,
    target: Target,
    matrix: Matrix,
    index: WheelIndex,
    *,
    cann_source: str = "--cann",
    given: frozenset[str] = frozenset(),
) -> Choice | Conflict:
    """The best installable combination for ``request`` on ``target``.

    ``cann_source`` says where the wanted CANN version comes from, ``given`` which options for the target the
    user has given. Raises
    :class:`~ascendenv.errors.NetworkError` when nothing was found and a place that may have it could not be
    asked, :class:`~ascendenv.errors.UsageError` for a torch build that torch_npu refuses.
    """
    _refuse_accelerator_build(request)
    situation = Situation(matrix, request, target, cann_source, given)
    search = _Search(index)
    wanted = wants(situation)
    fitting = satisfying(situation.candidates, wanted)
    if not fitting:
        clash = explain.minimal_conflict(situation.candidates, wanted)
        return Conflict(
            summary=explain.summary(clash, situation),
            constraints=explain.constraints(clash, situation),
            nearest=nearest(situation, clash, search.available),
        )
    passed_over: list[tuple[Candidate, Missing]] = []
    for candidate in _one_for_each_set_of_wheels(fitting):
        wheels = search.wheels(candidate, situation)
        if isinstance(wheels, _Wheels):
            return _choice(candidate, wheels, situation, passed_over)
        passed_over.append((candidate, wheels))
    return _nothing_to_be_had(
        [missing for _, missing in passed_over], nearest(situation, wanted, search.available)
    )


class _Search:
    """Looks for the wheels of candidates."""

    def __init__(self, index: WheelIndex) -> None:
        self._index = index

    def wheels(self, candidate: Candidate, situation: Situation) -> _Wheels | Missing:
        """The torch_npu wheel and the torch wheel, or the first that is missing."""
        torch_npu = self._index.find("torch-npu", candidate.release.version, situation.target)
        if isinstance(torch_npu, Missing):
            return torch_npu
        answers: list[Missing] = []
        for version in _torch_builds(candidate, situation):
            torch = self._index.find("torch", version, situation.target)
            if isinstance(torch, Found):
                on_top = self._on_top(candidate, situation, torch.wheel.version.local)
                return on_top if isinstance(on_top, Missing) else _Wheels(torch_npu, torch, on_top)
            answers.append(torch)
        return next((missing for missing in answers if not missing.certain), answers[0])

    def _on_top(
        self, candidate: Candidate, situation: Situation, label: str | None
    ) -> Mapping[str, Found] | Missing:
        """The wheels of the packages on top. What is built with torch has to be of the same kind of build."""
        built_alike = {
            canonicalize_name(row.package)
            for row in situation.matrix.extension_projects
            if CPU_INDEX in row.indexes
        }
        found = {}
        for name, version in candidate.extensions.pins.items():
            build = Version(f"{version}+{label}") if label and name in built_alike else version
            answer = self._index.find(name, build, situation.target)
            if isinstance(answer, Missing):
                return answer
            found[name] = answer
        return found

    def available(self, candidate: Candidate, situation: Situation) -> bool | None:
        """Whether both wheels can be had; ``None`` when a place that may have one could not be asked."""
        wheels = self.wheels(candidate, situation)
        if isinstance(wheels, Missing):
            return False if wheels.certain else None
        return True


def _torch_builds(candidate: Candidate, situation: Situation) -> tuple[Version, ...]:
    """The builds of torch that will do, best first.

    Where the default index has a CUDA build under the plain version, only a build labelled ``+cpu`` will do,
    wherever it is from: a plain name does not tell what was built, and beside a CUDA build torch_npu refuses
    to work. Where the plain build is a CPU build, the labelled one is the same thing from another index.
    """
    torch = Version(candidate.release.torch)
    labelled = Version(f"{torch}+{CPU_LABEL}")
    if query.torch_comes_with_cuda(situation.matrix, situation.target.arch, torch) is not None:
        return (labelled,)
    asked = situation.request.torch_range
    return (labelled,) if asked is not None and asked.exact == labelled else (torch, labelled)


def _refuse_accelerator_build(request: Request) -> None:
    exact = None if request.torch_range is None else request.torch_range.exact
    if exact is not None and exact.local not in {None, CPU_LABEL}:
        raise UsageError(
            f"torch {exact} is not a CPU build, and torch_npu refuses to work beside any other",
            hint=f"ask for --torch {exact.public}; the right build is chosen for the machine",
        )


def _one_for_each_set_of_wheels(fitting: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The best candidate of each: the same wheels are not looked for again with another CANN."""
    best: dict[tuple[str, ...], Candidate] = {}
    for candidate in fitting:
        wheels = (candidate.release.torch_npu, *candidate.extensions.requirements)
        best.setdefault(wheels, candidate)
    return tuple(best.values())


def _choice(
    candidate: Candidate,
    wheels: _Wheels,
    situation: Situation,
    passed_over: Sequence[tuple[Candidate, Missing]],
) -> Choice:
    extra = query.requirements_for(situation.matrix, candidate.cann)
    torch = wheels.torch.wheel.version
    on_top = wheels.on_top.values()
    indexes = (wheels.torch.index, wheels.torch_npu.index, *(found.index for found in on_top))
    return Choice(
        target=situation.target,
        pairing=candidate.pairing,
        torch=torch,
        requirements=(
            f"torch=={torch}",
            f"torch-npu=={candidate.release.torch_npu}",
            *_required_on_top(candidate, wheels),
            *_other_wishes(candidate, situation),
            *dict.fromkeys(row.requirement for row in extra),
            *ENVIRONMENT_TOOLS,
        ),
        overrides=tuple(_overrides(candidate, torch, situation)),
        on_top=tuple(candidate.extensions.pins),
        bounds=tuple(dict.fromkeys(row.requirement for row in extra)),
        shut_out=dict(_shut_out(candidate, situation)),
        indexes=tuple(dict.fromkeys(index for index in indexes if index is not None)),
        reasons=(
            *_reasons(candidate, wheels, situation),
            *_reasons_on_top(candidate),
            *map(_needed, extra),
        ),
        warnings=tuple(_warnings(candidate)),
        passed_over=tuple(
            PassedOver(torch_npu=better.release.torch_npu, wheel=missing.wanted, looked=missing.looked)
            for better, missing in passed_over
        ),
    )


def _required_on_top(candidate: Candidate, wheels: _Wheels) -> Iterator[str]:
    """The packages on top, at the very builds that were found."""
    for text in candidate.extensions.requirements:
        found = wheels.on_top.get(canonicalize_name(Requirement(text).name))
        yield text if found is None else f"{Requirement(text).name}=={found.wheel.version}"


def _other_wishes(candidate: Candidate, situation: Situation) -> Iterator[str]:
    """What is wanted on top and is no row of the matrix."""
    picked = {canonicalize_name(row.package) for row in candidate.extensions.rows}
    return (str(wish.requirement) for wish in situation.wishes if wish.name not in picked)


def _overrides(candidate: Candidate, torch: Version, situation: Situation) -> Iterator[str]:
    """What packages on top declare, and what is right here all the same.

    torch_npu trails torch, so vllm declares a newer torch than the one that its Ascend plugin runs with.
    What would overwrite a package that is here is left out, whoever declares it.
    """
    if not candidate.extensions.rows:
        return
    yield f"torch=={torch}"
    yield f"torch-npu=={candidate.release.torch_npu}"
    yield from (f"{name}; python_version < '0'" for name, _ in _shut_out(candidate, situation))


def _shut_out(candidate: Candidate, situation: Situation) -> Iterator[tuple[str, str]]:
    """What would overwrite a package that is here, with that package."""
    here = candidate.extensions.names
    for group in situation.matrix.exclusive:
        for kept in here & set(group.packages):
            yield from ((name, kept) for name in group.packages if name != kept)


def _reasons_on_top(candidate: Candidate) -> Iterator[Reason]:
    for row in candidate.extensions.rows:
        brought = f", brings {', '.join(row.requires)}" if row.requires else ""
        yield Reason(
            subject=f"{row.package} {row.version}",
            because=f"goes with this stack ({row.evidence}){brought}",
            source=row.source,
        )


def _reasons(candidate: Candidate, wheels: _Wheels, situation: Situation) -> Iterator[Reason]:
    release, judgement = candidate.release, candidate.judgement
    yield Reason(subject=f"CANN {candidate.cann}", because=judgement.because, source=judgement.source)
    why_torch = f"torch_npu {release.torch_npu} is built for it"
    cuda = query.torch_comes_with_cuda(situation.matrix, situation.target.arch, Version(release.torch))
    if cuda is not None:
        why_torch += "; the plain wheel is a CUDA build, which torch_npu refuses to run beside"
    yield Reason(subject=f"torch {wheels.torch.wheel.version}", because=why_torch, source=wheels.torch.place)
    yield Reason(
        subject=f"torch_npu {release.torch_npu}",
        because=f"train {release.train}, {_together(candidate)}{_support_ended(candidate, situation)}",
        source=wheels.torch_npu.place,
    )


def _support_ended(candidate: Candidate, situation: Situation) -> str:
    for row in situation.matrix.torch_support:
        if row.torch == candidate.release.torch and row.phase is SupportPhase.END_OF_LIFE:
            return f"; the vendor's support for torch {row.torch} has ended"
    return ""


def _together(candidate: Candidate) -> str:
    match candidate.judgement.verdict:
        case Verdict.PAIRED:
            return f"released with CANN {candidate.release.cann}"
        case Verdict.REPORTED_BROKEN:
            return f"which was reported to fail with CANN {candidate.cann}"
        case _:
            return f"declared compatible by the vendor, not shown, with CANN {candidate.cann}"


def _warnings(candidate: Candidate) -> Iterator[Reason]:
    """Field reports against the pairing: the vendor's word stands, but nobody shall be unwarned."""
    for report in candidate.judgement.reports:
        of = (*(f"chip {chip}" for chip in report.chips), *(f"Python {python}" for python in report.pythons))
        scope = f" ({', '.join(of)})" if of else ""
        yield Reason(
            subject=f"torch_npu {report.torch_npu} on CANN {report.cann}",
            because=f"reported to fail{scope}: {report.symptom}",
            source=report.source,
        )


def _needed(row: RuntimeRequirement) -> Reason:
    return Reason(subject=row.requirement, because=f"{row.needed_by}: {row.because}", source=row.source)


def _nothing_to_be_had(missing: Sequence[Missing], near: tuple[Nearest, ...]) -> Conflict:
    """Why none of the fitting combinations can be had: which wheels were looked for, and where."""
    uncertain = next((m for m in missing if not m.certain), None)
    if uncertain is not None:
        raise _not_known(uncertain, near)
    best = {m.wanted: m.looked for m in reversed(missing)}
    return Conflict(
        summary="what fits the request has no wheel that can be had from here",
        constraints=tuple(
            Constraint(
                subject=wanted,
                text=f"{wanted} was not found: {in_words(looked)}",
                wanted_by="the best fitting combination",
                source="the places that were asked",
            )
            for wanted, looked in list(reversed(best.items()))[:_SHOWN]
        ),
        nearest=near,
    )


def _not_known(missing: Missing, near: Sequence[Nearest]) -> NetworkError:
    offline = any(look.outcome == NOT_ASKED for look in missing.looks)
    way_out = (
        "leave --offline out, or put the wheels into a folder and name it with PIP_FIND_LINKS=FOLDER"
        if offline
        else "check the network and pip's proxy and indexes (`pip config list`), or name a mirror with "
        "PIP_EXTRA_INDEX_URL=URL or a folder of wheels with PIP_FIND_LINKS=FOLDER"
    )
    known = next((n for n in near if n.wheels_found), None)
    instead = "" if known is None else f"; or {known.change}: {known.as_command}"
    return NetworkError(
        f"{missing.wanted} was not found, and not every place could be asked\n"
        + "\n".join(f"  {looked.outcome}: {', '.join(looked.places)}" for looked in missing.looked),
        hint=way_out + instead,
    )


def in_words(looked: Sequence[Looked]) -> str:
    """Where a wheel was looked for, in one line."""
    return (
        "; ".join(f"{look.outcome}: {', '.join(look.places)}" for look in looked)
        or "there is no place to ask"
    )
