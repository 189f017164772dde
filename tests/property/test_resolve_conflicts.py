"""Refusals: the clash is minimal, the nearest combinations really work, and they are near."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import MATRIX, Shelf, ask, chosen, refused, target

from ascendenv.compatibility import query
from ascendenv.resolve import explain
from ascendenv.resolve.candidates import Situation
from ascendenv.resolve.model import Conflict, Nearest, Request, Target
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.wants import satisfying, wants
from ascendenv.vocabulary import Arch, ChipFamily

_OPTIONAL_CANN = st.none() | st.sampled_from([str(version) for version in query.cann_versions(MATRIX)])
_OPTIONAL_TORCH = st.none() | st.sampled_from([str(version) for version in query.torch_versions(MATRIX)])
_OPTIONAL_TORCH_NPU = st.none() | st.sampled_from([row.torch_npu for row in MATRIX.torch_npu])
REQUESTS = st.builds(
    Request,
    cann=_OPTIONAL_CANN,
    torch=_OPTIONAL_TORCH,
    torch_npu=_OPTIONAL_TORCH_NPU,
    allow_declared=st.booleans(),
)
TARGETS = st.builds(
    Target,
    arch=st.sampled_from(Arch),
    python=st.sampled_from(["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]),
    chip=st.none() | st.sampled_from(ChipFamily),
    glibc=st.sampled_from(["2.17", "2.28", "2.36"]),
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
        pairing = answer.pairing
        assert request.cann in {None, pairing.cann}
        assert request.torch in {None, pairing.torch}
        assert request.torch_npu in {None, pairing.torch_npu}
        (row,) = [row for row in MATRIX.torch_npu if row.torch_npu == pairing.torch_npu]
        assert on.python in row.wheels[on.arch].pythons
    else:
        assert answer.summary
        assert answer.constraints
        assert all(constraint.text.startswith(constraint.subject) for constraint in answer.constraints)
        assert answer.nearest or isinstance(ask(on=on), Conflict)


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
    words = [word for word in near.options if word != "--allow-declared"]
    options = dict(zip(words[::2], words[1::2], strict=True))
    machine = on.model_copy(update={"python": options.get("--python", on.python)})
    request = Request(
        cann=options.get("--cann"),
        torch=options.get("--torch"),
        torch_npu=options.get("--torch-npu"),
        allow_declared="--allow-declared" in near.options,
    )
    return request, machine


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
