"""The matrix against the user's own default index, as it is now."""

from __future__ import annotations

import pytest

from ascendenv.compatibility.load import load
from ascendenv.drift.compare import compare
from ascendenv.drift.model import Kind
from ascendenv.drift.read import snapshot
from ascendenv.errors import NetworkError
from ascendenv.host.gather import gather


def test_what_the_matrix_says_of_the_index_is_true() -> None:
    """New releases come at any time and are no mistake; what was there cannot have changed."""
    matrix = load()
    try:
        seen = snapshot(matrix, gather(matrix).pip)
    except NetworkError as error:
        pytest.skip(f"the default index is out of reach: {error.message}")
    drift = compare(matrix, seen)
    for difference in drift.differences:
        print(f"{difference.kind.value}: {difference.subject}: {difference.there}")  # noqa: T201  # for -s
    if "torch-npu" not in seen.files:
        pytest.skip(f"{seen.place} does not have torch_npu")
    comes_with_time = {Kind.RELEASE_WITHOUT_ROW, Kind.WHEEL_NOT_LISTED, Kind.YANKED, Kind.PLATFORMS_CHANGED}
    wrong = [d for d in drift.differences if d.kind not in comes_with_time]
    assert not wrong
    assert len(seen.files["torch-npu"]) >= 512
