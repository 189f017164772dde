"""What is simulated for what is asked for; and refusals, each with what would do."""

from __future__ import annotations

import pytest
from planning import MATRIX

from ascendenv.compatibility import query
from ascendenv.compatibility.model import TorchNpuRelease
from ascendenv.errors import AscendenvError, ExitCode
from ascendenv.simulate.choose import choose, driver_of, find_soc, simulated_devices
from ascendenv.simulate.model import SimulatedCann, SimulatedDevices
from ascendenv.versions import CannVersion


def release(torch_npu: str) -> TorchNpuRelease:
    return next(row for row in MATRIX.torch_npu if row.torch_npu == torch_npu)


def chosen(cann: str | None = None, chip: str | None = None, torch_npu: str | None = None) -> SimulatedCann:
    of = None if torch_npu is None else release(torch_npu)
    return choose(MATRIX, SimulatedDevices(), cann=cann, chip=chip, release=of)


@pytest.mark.parametrize(
    ("torch_npu", "cann"),
    [("2.13.0", "9.2.0"), ("2.12.0", "9.1.0"), ("2.10.0.post6", "9.1.1"), ("2.6.0.post3", "8.3.RC1")],
)
def test_the_cann_is_the_one_released_with_torch_npu(torch_npu: str, cann: str) -> None:
    assert chosen(torch_npu=torch_npu).cann == cann


def test_of_a_torch_npu_that_nobody_knows_the_newest_cann_is_taken() -> None:
    assert CannVersion(chosen().cann) == max(v for v in query.cann_versions(MATRIX) if not v.is_prerelease)


@pytest.mark.parametrize(
    ("asked", "soc"),
    [
        (None, "Ascend910B1"),
        ("910b", "Ascend910B1"),
        ("A2", "Ascend910B1"),
        ("ascend910b3", "Ascend910B3"),
        ("910C", "Ascend910_9391"),
        ("Ascend950PR_9589", "Ascend950PR_9589"),
    ],
)
def test_a_chip_is_named_by_family_soc_or_as_people_do(asked: str | None, soc: str) -> None:
    assert chosen(chip=asked).soc.soc == soc


def test_each_soc_brings_what_it_has() -> None:
    soc = chosen(chip="Ascend910B4").soc
    assert (soc.cube_cores, soc.vector_cores, soc.l2_mib) == (20, 40, 96)


@pytest.mark.parametrize(
    ("cann", "driver"),
    [
        ("9.1.0", "26.1.0"),
        ("9.0.0", "26.0.rc1"),
        ("8.2.RC1", "25.2.0"),
        ("8.3.RC2", "25.3.rc1"),  # not stated; that of 8.3.RC1
        ("8.5.0.alpha001", "25.2.0"),  # stated as 25.2.X
        ("7.0.RC1", "23.0.0"),
    ],
)
def test_the_driver_is_the_one_released_with_the_cann(cann: str, driver: str) -> None:
    assert driver_of(MATRIX, CannVersion(cann)) == driver


@pytest.mark.parametrize("cann", [row.cann for row in MATRIX.cann])
def test_every_cann_has_a_driver(cann: str) -> None:
    assert driver_of(MATRIX, CannVersion(cann))


@pytest.mark.parametrize(
    ("options", "code", "texts"),
    [
        ({"cann": "9.1"}, ExitCode.USAGE, ["'9.1'", "9.1.0"]),
        (
            {"chip": "Ascend910B9"},
            ExitCode.USAGE,
            ["'Ascend910B9'", "did you mean one of Ascend910B", "Ascend910B3"],
        ),
        ({"chip": "Ascend310P2"}, ExitCode.USAGE, ["Ascend310P2 cannot be simulated", "Ascend310P3"]),
        ({"chip": "310"}, ExitCode.USAGE, ["310 cannot be simulated", "--chip 910b"]),
        (
            {"cann": "8.3.RC1", "chip": "950"},
            ExitCode.NO_COMBINATION,
            ["8.3.RC1", "chip 950", "--cann 9.2.0"],
        ),
        (
            {"cann": "9.0.0", "chip": "Ascend910_9363"},
            ExitCode.NO_COMBINATION,
            ["CANN 9.0.0 has no operators for Ascend910_9363", "--cann 9.2.0"],
        ),
        ({"chip": "Ascend350_354f"}, ExitCode.NO_COMBINATION, ["no CANN of the matrix has"]),
        (
            {"torch_npu": "2.6.0.post3", "chip": "950", "cann": "9.1.0"},
            ExitCode.NO_COMBINATION,
            ["torch_npu 2.6.0.post3", "does not know Ascend950", "26.0.0"],
        ),
    ],
)
def test_what_does_not_exist_or_go_together(
    options: dict[str, str], code: ExitCode, texts: list[str]
) -> None:
    with pytest.raises(AscendenvError) as caught:
        chosen(**options)
    assert caught.value.exit_code is code
    for text in texts:
        assert text in f"{caught.value.message}\n{caught.value.hint}"


@pytest.mark.parametrize(
    ("count", "memory", "texts"),
    [
        (0, None, ["0 devices", "1 to 64"]),
        (-1, None, ["-1 devices"]),
        (65, None, ["65 devices", "1 to 64"]),
        (None, "64", ["`--memory 64`", "did you mean 64GiB?"]),
        (None, "64G", ["did you mean 64GiB?"]),
        (None, "512 mb", ["did you mean 512MiB?"]),
        (None, "0GiB", ["`--memory 0GiB`", "such as 64GiB"]),
        (None, "much", ["`--memory much`", "such as 64GiB"]),
        (None, "1.5GiB", ["`--memory 1.5GiB`"]),
    ],
)
def test_devices_and_memory_that_cannot_be(count: int | None, memory: str | None, texts: list[str]) -> None:
    with pytest.raises(AscendenvError) as caught:
        simulated_devices(count, memory)
    assert caught.value.exit_code is ExitCode.USAGE
    for text in texts:
        assert text in f"{caught.value.message}\n{caught.value.hint}"


def test_devices_and_memory_as_asked_for() -> None:
    assert simulated_devices(None, None) == SimulatedDevices(2, "8GiB")
    assert simulated_devices(64, "1KiB") == SimulatedDevices(64, "1KiB")


@pytest.mark.parametrize("soc", [row.soc for row in MATRIX.socs])
def test_every_soc_can_be_named(soc: str) -> None:
    assert find_soc(MATRIX, soc.lower()).soc == soc
