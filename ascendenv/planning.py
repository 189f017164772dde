"""From a command's options to the best combination, for this machine's Pythons or for another machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.errors import NetworkError, UsageError
from ascendenv.host.gather import gather
from ascendenv.host.model import Host, Interpreter
from ascendenv.resolve.index import WheelSources
from ascendenv.resolve.model import Conflict, Reason, Request, Target
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.target import target as make_target


@dataclass(frozen=True)
class Wanted:
    """The options of ``resolve`` and ``install`` that say what is wanted and for which machine."""

    cann: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    arch: str | None = None
    python: str | None = None
    chip: str | None = None
    allow_declared: bool = False
    offline: bool = False


def known_machine() -> tuple[Matrix, Host]:
    """The matrix, and this machine in its terms."""
    matrix = load()
    return matrix, gather(matrix)


def request_for(matrix: Matrix, wanted: Wanted) -> Request:
    """The wants, with unknown versions refused at once."""
    if wanted.cann is not None:
        query.parse_cann(matrix, wanted.cann)
    require_known("torch", wanted.torch, query.torch_versions(matrix))
    require_known("torch_npu", wanted.torch_npu, [row.torch_npu for row in matrix.torch_npu])
    return Request(
        cann=wanted.cann, torch=wanted.torch, torch_npu=wanted.torch_npu, allow_declared=wanted.allow_declared
    )


def require_known(name: str, version: str | None, known: Sequence[object]) -> None:
    """Refuse a version that the matrix does not have, with what was probably meant."""
    texts = [str(item) for item in known]
    if version is None or version.split("+")[0] in texts:
        return
    guess = query.did_you_mean(version, texts)
    newest = ", ".join(texts[:8])
    raise UsageError(
        f"the matrix knows no {name} {version}",
        hint=f"did you mean {guess}?" if guess else f"the newest known are {newest}",
    )


def first_choice(
    wanted: Wanted, matrix: Matrix, host: Host, request: Request, pythons: Sequence[str], cann_source: str
) -> tuple[Choice | Conflict, str]:
    """The best combination for the first Python that has one; else the conflict of the first.

    What cannot be known for one Python, its index being out of reach, may be on the disk for the next.
    """
    index = WheelSources(host.pip, matrix, offline=wanted.offline)
    refusals: list[Conflict | NetworkError] = []
    for python in pythons:
        target = make_target(
            host, matrix, arch=wanted.arch, python=python, chip=wanted.chip, default_python=python
        )
        answer = _answer(request, target, matrix, index, cann_source)
        if isinstance(answer, Choice):
            why = _why_python(wanted, python, pythons, refusals)
            return replace(answer, reasons=(*answer.reasons, why)), python
        refusals.append(answer)
    unanswered = next((refusal for refusal in refusals if isinstance(refusal, NetworkError)), None)
    if unanswered is not None:
        raise unanswered
    return next(refusal for refusal in refusals if isinstance(refusal, Conflict)), pythons[0]


def _answer(
    request: Request, target: Target, matrix: Matrix, index: WheelSources, cann_source: str
) -> Choice | Conflict | NetworkError:
    try:
        return resolve(request, target, matrix, index, cann_source=cann_source)
    except NetworkError as error:
        return error


def _why_python(
    wanted: Wanted, python: str, pythons: Sequence[str], refusals: Sequence[Conflict | NetworkError]
) -> Reason:
    subject = f"Python {python}"
    if wanted.python:
        return Reason(subject=subject, because="asked for", source="--python")
    if refusals:
        tried = ", ".join(pythons[: len(refusals)])
        return Reason(
            subject=subject,
            because=f"the first one here with a plan; not {tried}: {_in_one_line(refusals[0])}",
            source="host",
        )
    preferred = "that of ascendenv itself" if python == _own_python() else "that of the environment"
    return Reason(subject=subject, because=preferred, source="host")


def _in_one_line(refusal: Conflict | NetworkError) -> str:
    return refusal.summary if isinstance(refusal, Conflict) else refusal.message.splitlines()[0]


def own_python_first(interpreters: Sequence[Interpreter]) -> list[str]:
    """The Python that ascendenv runs on, then the others here, newest first; each as ``3.11``."""
    own = _own_python()
    others = sorted({i.short for i in interpreters} - {own}, key=_minor, reverse=True)
    return [own, *others]


def _own_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def short_version(python: str) -> str:
    """``3.11`` for ``3.11.7``."""
    return ".".join(python.split(".")[:2])


def _minor(short: str) -> int:
    return int(short.split(".")[1])
