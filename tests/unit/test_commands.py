"""What the commands decide before they touch anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from installs import plan
from planning import MATRIX, target

from ascendenv import commands


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
    assert commands._soc(MATRIX, planned, asked) == simulated
