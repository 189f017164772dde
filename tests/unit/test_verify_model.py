"""The report's shape and what it concludes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from ascendenv.verify.model import Check, Device, Report
from ascendenv.vocabulary import Layer, Outcome


def report(*outcomes: tuple[str, Outcome]) -> Report:
    checks = tuple(
        Check(id=id_, layer=Layer(id_.split(".")[0]), title=id_, outcome=outcome) for id_, outcome in outcomes
    )
    device = Device(simulated=True, soc="Ascend910B3", count=2)
    return Report(environment=Path("/env"), suite="quick", device=device, checks=checks, seconds=1.5)


def test_programs_find_the_fields_they_rely_on() -> None:
    dumped = json.loads(report(("tensor.copy", Outcome.NOT_RUN)).model_dump_json())

    assert dumped["device"] == {"simulated": True, "soc": "Ascend910B3", "count": 2}
    assert (dumped["environment"], dumped["suite"], dumped["seconds"]) == ("/env", "quick", 1.5)
    (check,) = dumped["checks"]
    assert {key: check[key] for key in ("id", "layer", "outcome", "seconds", "detail")} == {
        "id": "tensor.copy",
        "layer": "tensor",
        "outcome": "not_run",
        "seconds": 0.0,
        "detail": "",
    }


def test_a_report_survives_being_written_and_read() -> None:
    original = report(("probe.devices", Outcome.PASSED), ("tensor.copy", Outcome.FAILED))

    assert Report.model_validate_json(original.model_dump_json()) == original


@pytest.mark.parametrize(
    ("outcomes", "ok"),
    [
        ([Outcome.PASSED], True),
        ([Outcome.PASSED, Outcome.SKIPPED], True),
        ([Outcome.PASSED, Outcome.FAILED], False),
        ([Outcome.PASSED, Outcome.NOT_RUN], False),
        ([Outcome.SKIPPED], False),
        ([], False),
    ],
)
def test_ok_needs_a_pass_and_nothing_failed_or_left_undone(outcomes: list[Outcome], *, ok: bool) -> None:
    made = report(*((f"tensor.check{number}", outcome) for number, outcome in enumerate(outcomes)))

    assert made.ok is ok


def test_counts_and_failures() -> None:
    made = report(
        ("hccl.broadcast", Outcome.FAILED),
        ("tensor.copy", Outcome.FAILED),
        ("tensor.views", Outcome.PASSED),
        ("memory.pinned", Outcome.NOT_RUN),
    )

    assert made.counts == {
        Outcome.PASSED: 1,
        Outcome.FAILED: 2,
        Outcome.SKIPPED: 0,
        Outcome.NOT_RUN: 1,
    }
    assert [check.id for check in made.failed] == ["hccl.broadcast", "tensor.copy"]
    assert made.failed_layer is Layer.TENSOR
    assert report(("tensor.copy", Outcome.PASSED)).failed_layer is None


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(ValidationError):
        Check.model_validate({"id": "tensor.copy", "layer": "tensor", "title": "", "outcome": "xfailed"})
