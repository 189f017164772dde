from __future__ import annotations

from pathlib import Path

import pytest
from machines import FakeMachine

from ascendenv.compatibility.load import load
from ascendenv.host.npu import family_of, soc_of
from ascendenv.host.npu_smi import display_ids, npu_smi, parse_info
from ascendenv.vocabulary import ChipFamily

SAMPLES = Path(__file__).parent / "data" / "npu-smi"

# file: driver, (id, name, health, bus address, memory in MiB) of the first and the last chip, how many
EXPECTED = {
    "info_310_4chip_20.2.0.txt": (
        "20.2.0",
        ("215/0", "310", "OK", "0000:DA:00.0", 8192),
        ("215/3", "310", "OK", "0000:DB:00.0", 8192),
        4,
    ),
    "info_310B4_23.0.0_alarm.txt": (
        "23.0.0",
        ("0", "310B4", "Alarm", None, 15609),
        ("0", "310B4", "Alarm", None, 15609),
        1,
    ),
    "info_310P3_duo_25.0.rc1.1.txt": (
        "25.0.rc1.1",
        ("8/0", "310P3", "OK", "0000:01:00.0", 44280),
        ("8/1", "310P3", "OK", "0000:01:00.0", 43693),
        2,
    ),
    "info_910ProB_24.1.0_head.txt": (
        "24.1.0",
        ("0", "910ProB", "OK", "0000:C1:00.0", 32768),
        ("2", "910ProB", "OK", "0000:41:00.0", 32768),
        3,
    ),
    "info_910_23.0.rc3_version_mismatch.txt": (
        "23.0.rc2.3",
        ("0", "xxx", "OK", "0000:C1:00.0", 32768),
        ("7", "xxx", "OK", "0000:02:00.0", 32768),
        8,
    ),
    "info_910B3_25.3.rc1.txt": (
        "25.3.rc1",
        ("0", "910B3", "OK", "0000:C1:00.0", 65536),
        ("1", "910B3", "OK", "0000:C2:00.0", 65536),
        2,
    ),
    "info_910B4_26.0.rc1.txt": (
        "26.0.rc1",
        ("0", "910B4", "OK", "0000:C1:00.0", 32768),
        ("0", "910B4", "OK", "0000:C1:00.0", 32768),
        1,
    ),
    "info_A3_25.2.0.txt": (
        "25.2.0",
        ("0/0", "Ascend910", "OK", "0000:9C:00.0", 65536),
        ("1/1", "Ascend910", "OK", "0000:39:00.0", 65536),
        4,
    ),
    "info_950PR_25.7.rc1.6.txt": (
        "25.7.rc1.6",
        ("0", "Ascend950PR", "OK", "0000:61:00.0", 131072),
        ("0", "Ascend950PR", "OK", "0000:61:00.0", 131072),
        1,
    ),
    "info_950_doc.txt": (
        "x.x.x",
        ("0", "xxx", "OK", "0000:91:00.0", 86016),
        ("0", "xxx", "OK", "0000:91:00.0", 86016),
        1,
    ),
}


def test_every_sample_has_an_expectation() -> None:
    assert {path.name for path in SAMPLES.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_reads_every_layout(name: str) -> None:
    driver, first, last, count = EXPECTED[name]
    table = parse_info((SAMPLES / name).read_text(encoding="utf-8"))
    chips = [
        (display_id, chip.name, chip.health, chip.bus_id, chip.memory_mib)
        for display_id, chip in zip(display_ids(table.chips), table.chips, strict=True)
    ]
    assert table.driver == driver
    assert len(chips) == count
    assert (chips[0], chips[-1]) == (first, last)


def test_tool_and_driver_versions_are_kept_apart() -> None:
    table = parse_info((SAMPLES / "info_910_23.0.rc3_version_mismatch.txt").read_text(encoding="utf-8"))
    assert (table.tool, table.driver) == ("23.0.rc3", "23.0.rc2.3")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_table_cut_anywhere_yields_fewer_chips_and_no_others(name: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    whole = parse_info(text).chips
    for end in range(0, len(text), 7):
        got = parse_info(text[:end]).chips
        assert len(got) <= len(whole)
        assert [chip.npu for chip in got] == [chip.npu for chip in whole[: len(got)]]


def test_processes_are_no_chips() -> None:
    table = (SAMPLES / "info_950_doc.txt").read_text(encoding="utf-8").partition("| No running")[0]
    processes = "| 0 | 4711 | python | 512 |\n| 0 | 4712 | python3.11 | 512 |\n"
    assert len(parse_info(table + processes).chips) == 1


@pytest.mark.parametrize("text", ["", "|||", "| 1 2 | OK |", "\x00\xff|\n|", "| NPU | 0 | OK | x |\n" * 3])
def test_text_of_no_known_layout_has_no_chips(text: str) -> None:
    assert parse_info(text).chips == ()


@pytest.mark.parametrize(
    ("name", "soc", "family"),
    [
        ("910B3", "Ascend910B3", ChipFamily.CHIP_910B),
        ("910B", "Ascend910B", ChipFamily.CHIP_910),
        ("910ProB", "Ascend910ProB", ChipFamily.CHIP_910),
        ("310P3", "Ascend310P3", ChipFamily.CHIP_310P),
        ("310", "Ascend310", ChipFamily.CHIP_310),
        ("Ascend 910B4", "Ascend910B4", ChipFamily.CHIP_910B),
        ("Ascend910", None, ChipFamily.A3),
        ("Ascend950PR", None, ChipFamily.CHIP_950),
        ("999X", None, None),
    ],
)
def test_names_are_told_apart_by_the_matrix(name: str, soc: str | None, family: ChipFamily | None) -> None:
    assert soc_of(load(), name) == soc
    assert family_of(load(), name) == family


def test_the_message_of_a_failing_tool_is_kept(tmp_path: Path) -> None:
    said = "DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi module initialize failed. ret is -8005\n"
    smi, table = npu_smi(FakeMachine(tmp_path).npu_smi(said, returncode=1).build())
    assert smi is not None
    assert not smi.works
    assert "-8005" in smi.message
    assert table.chips == ()


def test_a_tool_that_does_not_answer_is_present_and_not_working(tmp_path: Path) -> None:
    smi, _ = npu_smi(FakeMachine(tmp_path).program("/usr/local/sbin/npu-smi").build())
    assert smi is not None
    assert smi.where == "/usr/local/sbin/npu-smi"
    assert not smi.works


def test_no_tool(tmp_path: Path) -> None:
    smi, table = npu_smi(FakeMachine(tmp_path).build())
    assert smi is None
    assert table.chips == ()


def test_a_simulated_tool_is_known_by_the_mark_of_its_cann(tmp_path: Path) -> None:
    path = "/opt/simulated/bin/npu-smi"
    machine = (
        FakeMachine(tmp_path)
        .program(path)
        .file("/opt/simulated/share/info/simulator/version.info", "Version=1")
    )
    smi, _ = npu_smi(machine.environ(PATH="/opt/simulated/bin").build())
    assert smi is not None
    assert smi.simulated
