"""Why no combination satisfies a request, and the nearest ones that do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from packaging.version import Version

from ascendenv.compatibility.model import Matrix
from ascendenv.resolve.candidates import Candidate, Want
from ascendenv.resolve.model import Conflict, Constraint, Nearest, Request, Target
from ascendenv.versions import CannVersion


def satisfying(candidates: Iterable[Candidate], wants: Iterable[Want]) -> tuple[Candidate, ...]:
    """The candidates that every want holds for."""
    wanted = tuple(wants)
    return tuple(c for c in candidates if all(want.holds(c) for want in wanted))


def minimal_conflict(candidates: Sequence[Candidate], wants: Sequence[Want]) -> tuple[Want, ...]:
    """A smallest set of wants that cannot hold together: without any one of them the rest could."""
    kept = list(wants)
    for want in reversed(wants):
        without = [other for other in kept if other is not want]
        if not satisfying(candidates, without):
            kept = without
    return tuple(kept)


def conflict(
    candidates: Sequence[Candidate],
    wants: Sequence[Want],
    request: Request,
    target: Target,
    matrix: Matrix,
    best: Callable[[Sequence[Candidate]], Candidate | None],
) -> Conflict:
    """The explained refusal. ``best`` picks the best candidate that is really installable."""
    clash = minimal_conflict(candidates, wants)
    return Conflict(
        summary="no torch_npu goes with " + " and ".join(want.text for want in clash),
        constraints=tuple(Constraint(text=_why(want, matrix, target), source=want.source) for want in clash),
        nearest=nearest(candidates, wants, clash, request, best),
    )


def nearest(
    candidates: Sequence[Candidate],
    wants: Sequence[Want],
    clash: Iterable[Want],
    request: Request,
    best: Callable[[Sequence[Candidate]], Candidate | None],
) -> tuple[Nearest, ...]:
    """For each want of the clash, what becomes possible when that one is given up."""
    found = []
    for given_up in clash:
        rest = tuple(want for want in wants if want is not given_up)
        candidate = best(satisfying(candidates, rest))
        if candidate is not None:
            found.append(_nearest(candidate, given_up, request))
    return tuple(found)


def _nearest(candidate: Candidate, given_up: Want, request: Request) -> Nearest:
    release = candidate.release
    value = {
        "cann": f"CANN {candidate.cann}",
        "torch": f"torch {release.torch}",
        "torch-npu": f"torch_npu {release.torch_npu}",
        "python": "Python "
        + ", ".join(sorted({p for w in release.wheels.values() for p in w.pythons}, key=Version)),
        "chip": "another chip",
    }[given_up.name]
    wanted = {"cann": str(candidate.cann), "torch": release.torch, "torch-npu": release.torch_npu}
    asked = {"cann": request.cann, "torch": request.torch, "torch-npu": request.torch_npu}
    options = [
        word
        for name, version in wanted.items()
        if name == given_up.name or asked[name] is not None
        for word in (f"--{name}", version)
    ]
    return Nearest(
        change=f"instead of {given_up.text}, use {value}", pairing=candidate.pairing, options=tuple(options)
    )


def _why(want: Want, matrix: Matrix, target: Target) -> str:
    """What the matrix says of the thing that is wanted, so that the clash can be seen."""
    if want.name == "cann":
        return f"{want.text} was released with {_trains_of(want, matrix)}"
    if want.name in {"torch", "torch-npu"}:
        return f"{want.text} {_releases_for(want, matrix)}"
    if want.name == "python":
        return f"{want.text}: {_python_range(matrix, target)}"
    return want.text


def _trains_of(want: Want, matrix: Matrix) -> str:
    version = CannVersion(want.text.removeprefix("CANN "))
    trains = [train for train in matrix.trains if CannVersion(train.cann).covers(version)]
    if not trains:
        return "no torch_npu train that the matrix knows"
    return "; ".join(f"torch_npu train {t.train}, for torch {', '.join(t.torch)}" for t in trains)


def _releases_for(want: Want, matrix: Matrix) -> str:
    column = "torch" if want.name == "torch" else "torch_npu"
    version = Version(want.text.split()[1]).public
    rows = [row for row in matrix.torch_npu if Version(getattr(row, column)).public == version]
    if not rows:
        return "has no torch_npu in the matrix"
    newest = max(rows, key=lambda row: row.version)
    pair = f"torch_npu {newest.torch_npu}, train {newest.train}"
    return f"last had {pair}, released with CANN {newest.cann or 'not stated'}"


def _python_range(matrix: Matrix, target: Target) -> str:
    having = sorted(
        (
            row
            for row in matrix.torch_npu
            if target.arch in row.wheels and target.python in row.wheels[target.arch].pythons
        ),
        key=lambda row: row.version,
    )
    if not having:
        return "no torch_npu has a wheel for it"
    lines = [list(group) for _, group in groupby(having, key=lambda row: row.torch)]
    return "wheels exist from " + ", ".join(line[0].torch_npu for line in lines[-6:])
