"""Refusals: the clash is minimal, the nearest combinations really work, and they are near."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from planning import MATRIX, Shelf, ask, chosen, refused, target

from ascendenv.compatibility import query
from ascendenv.resolve import explain
from ascendenv.resolve.candidates import Situation
from ascendenv.resolve.drivers import parse_driver
from ascendenv.resolve.model import Conflict, Nearest, Request, Target
from ascendenv.resolve.packages import wish
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.target import pythons_with_wheels
from ascendenv.resolve.wants import CANN, CHIP, DRIVER, GLIBC, PYTHON, TORCH, TORCH_NPU, satisfying, wants
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, ChipFamily, Verdict

_CANNS = [str(version) for version in query.cann_versions(MATRIX)]
_TORCHES = [str(version) for version in query.torch_versions(MATRIX)]
_RELEASES = [row.torch_npu for row in MATRIX.torch_npu]


def wishes(versions: list[str]) -> st.SearchStrategy[str | None]:
    """Nothing, one version, or bounds."""
    exact = st.sampled_from(versions)
    bound = st.builds("".join, st.tuples(st.sampled_from([">=", "<=", ">", "<", "!="]), exact))
    return st.none() | exact | bound | st.builds(",".join, st.tuples(bound, bound))


_PACKAGES = [
    *("triton", "triton-ascend", "triton-ascend>=3.2.2", "numpy>=2", "numpy<2", "requests"),
    *("vllm-ascend", "vllm-ascend==0.18.0", "vllm-ascend<0.13", "vllm-ascend==0.23.0"),
]
_OPTIONAL_CANN, _OPTIONAL_TORCH, _OPTIONAL_TORCH_NPU = map(wishes, (_CANNS, _TORCHES, _RELEASES))
REQUESTS = st.builds(
    Request,
    cann=_OPTIONAL_CANN,
    torch=_OPTIONAL_TORCH,
    torch_npu=_OPTIONAL_TORCH_NPU,
    packages=st.lists(st.sampled_from(_PACKAGES), max_size=2, unique=True).map(tuple),
    allow_declared=st.booleans(),
    allow_reported=st.booleans(),
)
TARGETS = st.builds(
    Target,
    arch=st.sampled_from(Arch),
    python=st.sampled_from(["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]),
    chip=st.none() | st.sampled_from(ChipFamily),
    glibc=st.sampled_from(["2.17", "2.28", "2.36"]),
    driver=st.none() | st.sampled_from(["23.0.3", "24.1.rc2", "25.0.rc1", "25.5.1", "26.2.0"]),
)


@given(REQUESTS, TARGETS)
@settings(max_examples=30, deadline=None)
def test_what_clashes_is_minimal(request: Request, on: Target) -> None:
    situation = Situation(MATRIX, request, on)
    wanted = wants(situation)
    if satisfying(situation.candidates, wanted):
        return

    clash = explain.minimal_conflict(situation.candidates, wanted)

    assert clash
    assert not satisfying(situation.candidates, clash)
    for want in clash:
        assert satisfying(situation.candidates, [other for other in clash if other is not want])


@given(REQUESTS, TARGETS)
@settings(max_examples=20, deadline=None)
def test_an_answer_holds_everything_that_was_asked_for(request: Request, on: Target) -> None:
    answer = ask(request, on)

    if isinstance(answer, Choice):
        require_permitted(answer, request, on)
    else:
        assert answer.summary
        assert answer.constraints
        assert all(constraint.text.startswith(constraint.subject) for constraint in answer.constraints)
        assert answer.nearest or isinstance(ask(on=on), Conflict)


def require_permitted(answer: Choice, request: Request, on: Target) -> None:
    """Hold the answer against the rows of the matrix themselves, without the resolver's own rules."""
    cann = CannVersion(answer.pairing.cann)
    (row,) = [row for row in MATRIX.torch_npu if row.torch_npu == answer.pairing.torch_npu]
    assert request.cann_range is None or request.cann_range.admits(cann)
    assert request.torch_range is None or request.torch_range.admits(Version(row.torch))
    assert request.torch_npu_range is None or request.torch_npu_range.admits(row.version)
    assert answer.pairing.torch == row.torch
    assert on.python in row.wheels[on.arch].pythons
    assert query.python_supported_by_cann(MATRIX, cann, on.python) is not False
    assert on.chip is None or query.knows_chip(MATRIX, row, on.chip)
    verdict = query.judge(MATRIX, cann, row, chip=on.chip, python=on.python).verdict
    assert verdict is answer.pairing.verdict
    assert verdict is not Verdict.UNKNOWN
    driver = parse_driver(on.driver)
    assert driver is None or query.driver_support(MATRIX, cann, driver).supported is not False
    require_permitted_on_top(answer, request)
    assert verdict is not Verdict.REPORTED_BROKEN or (request.allow_reported and answer.warnings)


def require_permitted_on_top(answer: Choice, request: Request) -> None:
    """Every package that was asked for is required, none twice, and none beside what it shuts out."""
    required = [Requirement(text) for text in answer.requirements]
    names = {canonicalize_name(requirement.name) for requirement in required}
    assert {wish(text, MATRIX).name for text in request.packages} <= names
    for group in MATRIX.exclusive:
        assert len(names & set(group.packages)) <= 1
    for name in names:
        bounds = [requirement.specifier for requirement in required if requirement.name == name]
        together = SpecifierSet()
        for specifier in bounds:
            together &= specifier
        assert name == "numpy" or not together.is_unsatisfiable(), bounds


_NARROWED = st.sampled_from(["cann", "torch", "torch_npu"])


@given(REQUESTS, TARGETS, _NARROWED, st.data())
@settings(max_examples=20, deadline=None)
def test_asking_for_more_never_gives_better(
    request: Request, on: Target, name: str, data: st.DataObject
) -> None:
    free = request.model_copy(update={name: None})
    narrowed = free.model_copy(update={name: data.draw(_WISHES[name])})

    answer, narrower = ask(free, on), ask(narrowed, on)

    if isinstance(narrower, Choice):
        assert isinstance(answer, Choice)
        assert place_of(answer, on) <= place_of(narrower, on)


_WISHES = {"cann": _OPTIONAL_CANN, "torch": _OPTIONAL_TORCH, "torch_npu": _OPTIONAL_TORCH_NPU}


def place_of(answer: Choice, on: Target) -> tuple[object, ...]:
    """What makes one answer better than another, smaller being better, as the README states it."""
    cann = CannVersion(answer.pairing.cann)
    (row,) = [row for row in MATRIX.torch_npu if row.torch_npu == answer.pairing.torch_npu]
    judgement = query.judge(MATRIX, cann, row, chip=on.chip, python=on.python)
    order = [Verdict.PAIRED, Verdict.DECLARED_COMPATIBLE, Verdict.REPORTED_BROKEN]
    newest_first = -query.cann_versions(MATRIX)[::-1].index(cann)
    return (
        cann.is_prerelease or row.prerelease,
        order.index(judgement.verdict),
        bool(judgement.reports),
        judgement.evidence.rank,
        newest_first,
    )


@given(REQUESTS, TARGETS)
@settings(max_examples=20, deadline=None)
def test_each_want_of_a_refusal_stands_in_the_way(request: Request, on: Target) -> None:
    """Of the question itself, not only of the resolver's list of wants: it is asked again without each."""
    situation = Situation(MATRIX, request, on)
    wanted = wants(situation)
    if satisfying(situation.candidates, wanted):
        return
    clash = {want.name for want in explain.minimal_conflict(situation.candidates, wanted)}

    assert not solvable(request, on, clash)
    for name in clash:
        assert solvable(request, on, clash - {name}), name


def solvable(request: Request, on: Target, kept: set[str]) -> bool:
    """Whether the part of a question that ``kept`` names has an answer."""
    part = Request(
        packages=tuple(text for text in request.packages if wish(text, MATRIX).name in kept),
        cann=request.cann if CANN in kept else None,
        torch=request.torch if TORCH in kept else None,
        torch_npu=request.torch_npu if TORCH_NPU in kept else None,
        allow_declared=request.allow_declared,
        allow_reported=request.allow_reported,
    )
    pythons = [on.python] if PYTHON in kept else pythons_with_wheels(MATRIX)
    machines = [
        Target(
            arch=on.arch,
            python=python,
            chip=on.chip if CHIP in kept else None,
            glibc=on.glibc if GLIBC in kept else "2.99",
            driver=on.driver if DRIVER in kept else None,
        )
        for python in pythons
    ]
    return any(isinstance(ask(part, machine), Choice) for machine in machines)


@given(REQUESTS, TARGETS)
@settings(max_examples=12, deadline=None)
def test_what_is_proposed_instead_works_when_it_is_asked_for(request: Request, on: Target) -> None:
    answer = ask(request, on)

    for near in answer.nearest if isinstance(answer, Conflict) else ():
        again, machine = _as_asked(near, on)
        assert chosen(again, machine).pairing.torch_npu
        assert (again, machine) != (request, on)


def _as_asked(near: Nearest, on: Target) -> tuple[Request, Target]:
    """The request that the proposal's command line makes on the same machine."""
    words = [word for word in near.options if not word.startswith("--allow")]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    options = dict(pairs)
    changes = {"python": options.get("--python", on.python), "driver": near.driver or on.driver}
    request = Request(
        cann=options.get("--cann"),
        torch=options.get("--torch"),
        torch_npu=options.get("--torch-npu"),
        packages=tuple(value for option, value in pairs if option == "--with"),
        allow_declared="--allow-declared" in near.options,
        allow_reported="--allow-reported" in near.options,
    )
    return request, on.model_copy(update=changes)


def proposals(request: Request, on: Target, shelf: Shelf | None = None) -> list[str]:
    return [near.change for near in refused(request, on, shelf or Shelf()).nearest]


@pytest.mark.parametrize(
    ("request_", "on", "expected"),
    [
        (
            Request(torch_npu="2.10.0.post6"),
            target("x86_64", "3.12"),
            ["keep Python 3.12, use torch_npu 2.10.0.post7", "keep torch_npu 2.10.0.post6, use Python 3.11"],
        ),
        (
            Request(torch_npu="2.12.0"),
            target("x86_64", "3.14"),
            ["keep Python 3.14, use torch_npu 2.12.0.post3", "keep torch_npu 2.12.0, use Python 3.13"],
        ),
        (Request(cann="8.5.0"), target("aarch64", chip="950"), ["keep chip 950, use CANN 9.0.0"]),
        (
            Request(cann="9.1.0", torch="2.6.0"),
            target("aarch64"),
            [
                "keep torch 2.6.0, use CANN 8.5.0",
                "keep CANN 9.1.0, use torch 2.7.1",
                "keep all, which the vendor declares compatible but did not release together",
            ],
        ),
        (
            Request(cann="8.0.0"),
            target("aarch64", "3.12"),
            ["keep Python 3.12, use CANN 8.5.0", "keep CANN 8.0.0, use Python 3.11"],
        ),
    ],
)
def test_the_nearest_versions_are_proposed(request_: Request, on: Target, expected: list[str]) -> None:
    assert proposals(request_, on) == expected


def test_where_nothing_fits_to_nothing_one_version_is_kept() -> None:
    conflict = refused(
        Request(cann="9.1.0", torch="2.5.1", torch_npu="2.6.0.post5"), target("aarch64", "3.13", chip="a3")
    )

    (near,) = conflict.nearest
    assert near.change == "keep only CANN 9.1.0: use CANN 9.1.0 with torch_npu 2.12.0.post2"
    assert near.options == ("--cann", "9.1.0", "--torch-npu", "2.12.0.post2")


def test_of_two_pythons_equally_near_the_newer_is_proposed() -> None:
    rows = tuple(
        row.model_copy(
            update={
                "wheels": {
                    arch: w.model_copy(update={"pythons": ("3.10", "3.12")}) for arch, w in row.wheels.items()
                }
            }
        )
        for row in MATRIX.torch_npu
    )

    answer = resolve(Request(), target(), MATRIX.model_copy(update={"torch_npu": rows}), Shelf())

    assert isinstance(answer, Conflict)
    assert answer.nearest[0].change == "use Python 3.12"


def test_a_python_that_the_cann_cannot_do_with_is_refused_though_there_is_a_wheel() -> None:
    limits = {"python_min": "3.7", "python_max": "3.10"}
    rows = tuple(row.model_copy(update=limits) if row.cann == "9.2.0" else row for row in MATRIX.cann)

    answer = resolve(Request(cann="9.2.0"), target(), MATRIX.model_copy(update={"cann": rows}), Shelf())

    assert isinstance(answer, Conflict)
    assert answer.summary == "no torch_npu goes with CANN 9.2.0 and Python 3.11 on x86_64"
    assert "supports Python 3.7 to 3.10" in answer.constraints[0].text


def test_an_architecture_is_never_given_up() -> None:
    for arch in ("aarch64", "x86_64"):
        conflict = refused(Request(torch_npu="2.12.0"), target(arch, "3.14"))
        assert all("--arch" not in near.options for near in conflict.nearest)


def test_a_chip_that_no_torch_npu_knows_leaves_nothing_to_propose() -> None:
    conflict = refused(on=target(chip="350"))

    assert conflict.summary == "no torch_npu supports chip 350"
    assert conflict.nearest == ()


def test_a_glibc_that_is_too_old_is_named() -> None:
    conflict = refused(Request(cann="9.1.0"), target("aarch64", glibc="2.17"))

    assert conflict.summary == "no torch_npu goes with CANN 9.1.0 and glibc 2.17"
    assert (
        conflict.constraints[1].text
        == "glibc 2.17 is older than the wheels of torch_npu 2.14.0 and others ask for (2.28)"
    )


def test_a_proposal_whose_wheels_could_not_be_looked_for_says_so() -> None:
    conflict = refused(Request(torch_npu="2.10.0.post6"), target("x86_64", "3.12"), Shelf(unreachable=True))

    assert [near.wheels_found for near in conflict.nearest] == [False, False]


def test_what_can_be_had_is_proposed_before_what_is_nearer() -> None:
    shelf = Shelf(without=("torch_npu 2.10.0.post7", "torch_npu 2.10.0.post4"))

    assert proposals(Request(torch_npu="2.10.0.post6"), target("x86_64", "3.12"), shelf)[0] == (
        "keep Python 3.12, use torch_npu 2.10.0.post2"
    )


def test_a_field_report_that_stands_in_the_way_is_told() -> None:
    conflict = refused(Request(cann="9.2.0", torch_npu="2.8.0"), target("aarch64"))

    (report,) = (c for c in conflict.constraints if c.wanted_by == "field report")
    assert report.text.startswith("torch_npu 2.8.0 on CANN 9.2.0 was reported to fail: libgraph.so")
    assert report.source


def test_every_fact_of_a_clash_has_its_source_and_evidence() -> None:
    conflict = refused(Request(cann="9.1.0", torch="2.6.0"), target("aarch64"))

    assert [(c.subject, c.wanted_by, str(c.evidence)) for c in conflict.constraints] == [
        ("CANN 9.1.0", "--cann", "official"),
        ("torch 2.6.0", "--torch", "official"),
    ]
    assert all(constraint.source for constraint in conflict.constraints)


def test_a_cann_on_the_machine_is_told_with_its_place() -> None:
    answer = ask(Request(cann="9.1.0", torch="2.6.0"), target("aarch64"), by="installed in /usr/local/Ascend")

    assert isinstance(answer, Conflict)
    assert answer.constraints[0].wanted_by == "installed in /usr/local/Ascend"


@pytest.mark.parametrize(
    "wish", [{"cann": "9.1.0", "torch": "2.6.0"}, {"cann": "8.5.0", "torch": "2.14.0", "torch_npu": "2.7.1"}]
)
def test_what_is_proposed_for_a_simulated_cann_is_simulated_too(wish: dict[str, str]) -> None:
    simulated = refused(Request(**wish, simulate=True), target("aarch64")).nearest
    assert simulated
    assert all(near.options[-1] == "--simulate" for near in simulated)
    others = refused(Request(**wish), target("aarch64")).nearest
    assert [near.options[:-1] for near in simulated] == [near.options for near in others]
