"""From a command's options to the best combination, for this machine's Pythons or for another machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv import paths
from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.errors import NetworkError, UsageError
from ascendenv.host.gather import gather
from ascendenv.host.model import Host, Interpreter
from ascendenv.resolve.index import WheelSources
from ascendenv.resolve.model import Conflict, Reason, Request, Target
from ascendenv.resolve.packages import Wish, wish
from ascendenv.resolve.ranges import cann_range, is_line, is_range, package_range
from ascendenv.resolve.remembered import Pages
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.target import target as make_target

OFFICIAL, CHINA = "official", "cn"
ANY = "any"
"""What ``--python`` says when every Python will do that torch_npu has wheels for."""


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
    allow_reported: bool = False
    packages: tuple[str, ...] = ()
    glibc: str | None = None
    driver: str | None = None
    mirror: str | None = None

    @property
    def given(self) -> frozenset[str]:
        """The options for the target that were given, by name."""
        values = {"arch": self.arch, "python": self.python, "chip": self.chip, "glibc": self.glibc}
        return frozenset(name for name, value in values.items() if value is not None)


def known_machine() -> tuple[Matrix, Host]:
    """The matrix, and this machine in its terms."""
    matrix = load()
    return matrix, gather(matrix)


def known_machine_for(wanted: Wanted) -> tuple[Matrix, Host]:
    """The same, as ``--mirror`` changes it."""
    matrix, host = known_machine()
    return matrix, with_mirror(host, matrix, wanted.mirror)


def with_mirror(host: Host, matrix: Matrix, mirror: str | None) -> Host:
    """The machine with the index that ``--mirror`` chooses in place of the one that pip is told of."""
    if mirror is None:
        return host
    changes = {"index_url": _mirror_url(matrix, mirror), "no_index": False}
    return host.model_copy(update={"pip": host.pip.model_copy(update=changes)})


def _mirror_url(matrix: Matrix, mirror: str) -> str | None:
    if mirror == OFFICIAL:
        return None
    if mirror == CHINA:
        default = next(row.name for row in matrix.indexes if row.url is None)
        rows = sorted(matrix.indexes, key=lambda row: row.order)
        return next((row.url for row in rows if row.mirror_of == default), None)
    if not mirror.startswith(("https://", "http://", "file://", "/")):
        raise UsageError(
            f"`--mirror {mirror}` is not an index", hint=f"{OFFICIAL}, {CHINA}, or the URL of a simple index"
        )
    return mirror


def request_for(matrix: Matrix, wanted: Wanted) -> Request:
    """The wants, with unknown versions and ranges without a known one refused at once."""
    if wanted.cann is not None:
        _require_known_cann(matrix, wanted.cann)
    require_known("torch", wanted.torch, query.torch_versions(matrix))
    require_known("torch_npu", wanted.torch_npu, [row.version for row in query.select(matrix)])
    for text in wanted.packages:
        _require_known_package(matrix, wish(text, matrix))
    return Request(
        cann=wanted.cann,
        torch=wanted.torch,
        torch_npu=wanted.torch_npu,
        packages=wanted.packages,
        allow_declared=wanted.allow_declared,
        allow_reported=wanted.allow_reported,
    )


def _require_known_package(matrix: Matrix, wanted: Wish) -> None:
    versions = [row.parsed for row in matrix.extensions if canonicalize_name(row.package) == wanted.name]
    if versions and not any(map(wanted.admits, versions)):
        texts = ", ".join(map(str, dict.fromkeys(versions)))
        raise UsageError(f"the matrix knows no {wanted}", hint=f"known: {texts}")


def _require_known_cann(matrix: Matrix, text: str) -> None:
    if is_range(text) or is_line(text):
        wanted = cann_range(text)
        if not any(map(wanted.admits, query.cann_versions(matrix))):
            known = [str(version) for version in query.cann_versions(matrix) if not version.is_prerelease]
            raise UsageError(f"the matrix knows no CANN {wanted}", hint=f"known: {', '.join(known)}")
    else:
        query.parse_cann(matrix, text)


def require_known(name: str, text: str | None, known: Sequence[Version]) -> None:
    """Refuse what no version in the matrix (newest first) satisfies, with what was probably meant."""
    if text is None:
        return
    texts = [str(version) for version in known]
    guess = None if is_range(text) else query.did_you_mean(text, texts)
    if _admits_any(text, known, misspelled=guess is not None):
        return
    raise UsageError(
        f"the matrix knows no {name} {text}",
        hint=f"did you mean {guess}?" if guess else f"the newest known are {', '.join(texts[:8])}",
    )


def _admits_any(text: str, known: Sequence[Version], *, misspelled: bool) -> bool:
    """What cannot be read admits none, when there is a better word for it than an error."""
    try:
        return any(map(package_range(text).admits, known))
    except UsageError:
        if misspelled:
            return False
        raise


def first_choice(
    wanted: Wanted, matrix: Matrix, host: Host, request: Request, pythons: Sequence[str], cann_source: str
) -> tuple[Choice | Conflict, str]:
    """The best combination for the first Python that has one; else the conflict of the first.

    What cannot be known for one Python, its index being out of reach, may be on the disk for the next.
    """
    index = WheelSources(
        host.pip,
        matrix,
        offline=wanted.offline,
        mirrors_first=wanted.mirror == CHINA,
        pages=Pages(paths.cache_dir() / "indexes"),
    )
    refusals: list[Conflict | NetworkError] = []
    for python in pythons:
        target = make_target(
            host,
            matrix,
            arch=wanted.arch,
            python=python,
            chip=wanted.chip,
            glibc=wanted.glibc,
            driver="any" if request.simulate else wanted.driver,
            default_python=python,
        )
        answer = _answer(request, target, matrix, index, cann_source, wanted.given)
        if isinstance(answer, Choice):
            why = _why_python(wanted, python, pythons, refusals)
            return replace(answer, reasons=(*answer.reasons, why)), python
        refusals.append(answer)
    unanswered = next((refusal for refusal in refusals if isinstance(refusal, NetworkError)), None)
    if unanswered is not None:
        raise unanswered
    return next(refusal for refusal in refusals if isinstance(refusal, Conflict)), pythons[0]


def _answer(
    request: Request,
    target: Target,
    matrix: Matrix,
    index: WheelSources,
    cann_source: str,
    given: frozenset[str],
) -> Choice | Conflict | NetworkError:
    try:
        return resolve(request, target, matrix, index, cann_source=cann_source, given=given)
    except NetworkError as error:
        return error


def _why_python(
    wanted: Wanted, python: str, pythons: Sequence[str], refusals: Sequence[Conflict | NetworkError]
) -> Reason:
    subject = f"Python {python}"
    if wanted.python == ANY:
        return Reason(subject=subject, because="the newest with a plan", source="--python any")
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
