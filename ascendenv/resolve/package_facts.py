"""What the matrix says of packages on top of torch_npu, as far as it shows a clash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ascendenv.compatibility import query
from ascendenv.compatibility.model import ExtensionRelease
from ascendenv.resolve.candidates import Situation
from ascendenv.resolve.fact import Fact, few, meaning
from ascendenv.resolve.packages import Wish
from ascendenv.resolve.ranges import parsed
from ascendenv.resolve.wants import CANN, PYTHON, Want, satisfying
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Verdict


def about_package(wish: Wish, clash: Sequence[Want], situation: Situation) -> Iterator[Fact]:
    """What is known of a package that ``--with`` asks for."""
    shut_out = tuple(_shut_out(wish, clash, situation))
    rows = [row for row in situation.matrix.extensions if canonicalize_name(row.package) == wish.name]
    if shut_out:
        yield from shut_out
    elif rows:
        yield from _about_extension(rows, wish, clash, situation)
    elif CANN in {want.name for want in clash}:
        yield Fact("is none of these")
    else:
        for fact in allowed_by_cann(clash, situation):
            yield replace(fact, text=f"is not what CANN {fact.text}")


def _about_extension(
    rows: Sequence[ExtensionRelease], wish: Wish, clash: Sequence[Want], situation: Situation
) -> Iterator[Fact]:
    admitted = [row for row in rows if wish.admits(row.parsed)]
    if not admitted:
        yield Fact(f"is no known release of it; known are {few([row.version for row in rows])}")
        return
    newest = admitted[0]
    versions = list(dict.fromkeys(row.version for row in admitted))
    means = meaning(versions, str(wish).removeprefix(wish.name).strip())
    first = f"the newest, {newest.version}, " if means else ""
    known = {row.version for row in situation.matrix.torch_npu}
    nowhere = newest.torch_npu is not None and parsed(newest.torch_npu) not in known
    but = ", which no package index has" if nowhere else _not_together(newest, situation)
    yield Fact(f"{means}{first}is for {_stack(newest)}{but}", newest)
    if newest.requires and any(want.wish is not None and want.name != wish.name for want in clash):
        yield Fact(f"brings {', '.join(newest.requires)}", newest)
    if PYTHON in {want.name for want in clash} and newest.python:
        yield Fact(f"supports Python {newest.python}", newest)


def _stack(row: ExtensionRelease) -> str:
    parts = [
        *([f"CANN {few(row.cann)}"] if row.cann else []),
        *([f"torch_npu {row.torch_npu}"] if row.torch_npu else []),
        *([f"torch {few(row.torch)}"] if row.torch and not row.torch_npu else []),
        *([f"torch_npu train {few(row.trains)}"] if row.trains else []),
    ]
    return " with ".join(parts) or "any stack"


def _not_together(row: ExtensionRelease, situation: Situation) -> str:
    """What speaks against the stack that an extension is for, if anything does."""
    if row.torch_npu is None or not row.cann:
        return ""
    cann = CannVersion(row.cann[0])
    for release in query.select(situation.matrix, torch_npu=parsed(row.torch_npu)):
        match query.judge(situation.matrix, cann, release, python=situation.target.python).verdict:
            case Verdict.DECLARED_COMPATIBLE:
                return ", which the vendor declares compatible but did not release together"
            case Verdict.REPORTED_BROKEN:
                return ", which a report says to fail"
            case Verdict.UNKNOWN:
                return ", of which no table speaks"
            case Verdict.PAIRED:
                return ""
    return ""


def _shut_out(wish: Wish, clash: Sequence[Want], situation: Situation) -> Iterator[Fact]:
    others = [want for want in clash if want.wish is not None and want.name != wish.name]
    for group in situation.matrix.exclusive:
        beside = [name for name in group.packages if name != wish.name]
        if wish.name in group.packages and others:
            brought = (
                "" if any(want.name in beside for want in others) else f", which {others[0].name} brings"
            )
            because = f": {group.because}" if clash[0].name == wish.name else ""
            yield Fact(f"cannot be beside {few(beside)}{brought}{because}", group)


def allowed_by_cann(clash: Sequence[Want], situation: Situation) -> Iterator[Fact]:
    """What CANN can do with, of the packages in the clash that it has a say in."""
    rest = [want for want in clash if want.wish is None]
    canns = list(dict.fromkeys(c.cann for c in satisfying(situation.candidates, rest)))
    named = CANN in {want.name for want in clash}
    for wish in (want.wish for want in clash if want.wish is not None):
        for cann in canns[:1]:
            for row in query.requirements_for(situation.matrix, cann):
                requirement = Requirement(row.requirement)
                applies = requirement.marker is None or requirement.marker.evaluate(
                    {"python_version": situation.target.python}
                )
                if canonicalize_name(requirement.name) == wish.name and requirement.specifier and applies:
                    subject = "" if named else f"{cann} can do with, which "
                    bounds = row.requirement.partition(";")[0].strip()
                    yield Fact(f"{subject}needs {bounds} for {row.because}", row)
