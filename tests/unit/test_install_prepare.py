"""What an installation decides before it touches anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from installs import plan
from planning import MATRIX, target

from ascendenv.install import prepare
from ascendenv.planning import Wanted
from ascendenv.simulate.model import SimulatedDevices


@pytest.mark.parametrize(
    ("asked", "simulated"),
    [
        ("Ascend910B3", "Ascend910B3"),
        ("ascend910b4-1", "Ascend910B4-1"),
        ("910b", "Ascend910B1"),
        (None, "Ascend910B1"),
    ],
)
def test_the_soc_named_is_the_one_simulated(asked: str | None, simulated: str, tmp_path: Path) -> None:
    planned = plan(tmp_path).model_copy(update={"target": target(chip="910b")})
    cann = prepare._simulated(MATRIX, planned, asked, SimulatedDevices())
    assert cann.soc.soc == simulated


@pytest.mark.parametrize(
    ("wanted", "satisfied"),
    [
        (Wanted(), True),
        (Wanted(torch="2.7.1+cpu", python="3.11.7", chip="Ascend910B3"), True),
        (Wanted(torch="2.8.0"), False),
        (Wanted(torch_npu="2.7.1"), False),
        (Wanted(cann="8.5.0"), False),
        (Wanted(python="3.12"), False),
        (Wanted(chip="a3"), False),
    ],
)
def test_what_is_installed_satisfies_what_it_has(wanted: Wanted, satisfied: bool, tmp_path: Path) -> None:
    planned = plan(tmp_path).model_copy(update={"target": target(chip="910b")})
    assert planned.pairing.torch == "2.7.1"
    assert prepare._satisfies(planned, wanted) is satisfied
