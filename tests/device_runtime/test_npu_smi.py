"""The stand-in for npu-smi: recorded layouts, read back by our own parser; failures as recorded."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from device_runtime_builds import build_simulator, cache_directory, environment

from ascendenv.compatibility.load import load
from ascendenv.host.npu import family_of, soc_of
from ascendenv.host.npu_smi import display_ids, parse_info

MATRIX = load()
RECORDED = Path(__file__).parent / "data" / "npu-smi"
RECORDED_TABLES = Path(__file__).parents[1] / "unit" / "data" / "npu-smi"
NOTICE = "SIMULATED  this is not an NPU: results say nothing about hardware"
Smi = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


@pytest.fixture
def npu_smi(built: Path, tmp_path: Path) -> Smi:
    """Runs npu-smi of a tree that says what is simulated; each call is on the same simulated machine."""
    home = tmp_path / "cann"
    (home / "lib64").mkdir(parents=True)
    (home / "bin").mkdir()
    for name in ("lib64/libascendcl.so", "bin/npu-smi"):
        shutil.copy2(built / name, home / name)

    def run(
        *arguments: str,
        soc: str = "Ascend910B3",
        driver: str = "25.3.rc1",
        devices: int = 2,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        record = home / "share/info/simulator/version.info"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(
            f"Version=9.1.0\nsimulated=true\nsoc={soc}\ndevices={devices}\nmemory=64GiB\ncube_cores=20\n"
            f"vector_cores=40\nl2_cache=192MiB\ndriver={driver}\n"
        )
        return subprocess.run(
            [home / "bin" / "npu-smi", *arguments],
            env=environment(home, ASCENDENV_SIM_STATE=str(tmp_path / "state"), **variables),
            text=True,
            capture_output=True,
            check=False,
            timeout=60,
        )

    return run


def body(done: subprocess.CompletedProcess[str]) -> str:
    """What it printed below the line that says that it is simulated."""
    assert done.returncode == 0, done.stdout + done.stderr
    first, _, rest = done.stdout.partition("\n")
    assert first == NOTICE
    return rest


LAYOUTS = [
    ("Ascend910B3", "25.3.rc1", "info_910B3_25.3.rc1.txt"),
    ("Ascend910B4", "26.0.rc1", "info_910B4_26.0.rc1.txt"),
    ("Ascend910_9391", "25.2.0", "info_A3_25.2.0.txt"),
    ("Ascend910ProB", "24.1.0", "info_910ProB_24.1.0_head.txt"),
    ("Ascend310B4", "23.0.0", "info_310B4_23.0.0_alarm.txt"),
    ("Ascend950PR_9579", "25.7.rc1.6", "info_950PR_25.7.rc1.6.txt"),
]


@pytest.mark.parametrize(("soc", "driver", "sample"), LAYOUTS)
def test_the_table_is_laid_out_as_recorded(soc: str, driver: str, sample: str, npu_smi: Smi) -> None:
    ours = body(npu_smi("info", soc=soc, driver=driver, devices=4)).splitlines()
    recorded = (RECORDED_TABLES / sample).read_text(encoding="utf-8").splitlines()
    processes = next(
        (i for i, line in enumerate(recorded) if "Process id" in line or "No running" in line), 0
    )
    recorded = recorded[: processes - 1] if processes else recorded
    assert ours[:6] == recorded[:6], "frame, versions and names of the columns"
    for printed, line in zip(ours[6:], recorded[6:], strict=False):
        assert len(printed) == len(line)
        assert [i for i, c in enumerate(printed) if c in "|+"] == [i for i, c in enumerate(line) if c in "|+"]
        assert [m.start() for m in re.finditer("/ ", printed)] == [m.start() for m in re.finditer("/ ", line)]


@pytest.mark.parametrize("soc", [row.soc for row in MATRIX.socs if not row.soc.startswith("Ascend350")])
@pytest.mark.parametrize("driver", ["25.5.1", "26.1.0"])
def test_our_parser_reads_what_is_simulated(soc: str, driver: str, npu_smi: Smi) -> None:
    family = next(chip.family for chip in MATRIX.chips if soc in chip.socs)
    done = npu_smi("info", soc=soc, driver=driver, devices=4)
    table = parse_info(done.stdout)
    assert (table.tool, table.driver) == (driver, driver)
    two_on_a_card = ("0/0", "0/1", "1/0", "1/1")
    assert display_ids(table.chips) == (two_on_a_card if family == "a3" else ("0", "1", "2", "3"))
    for number, chip in enumerate(table.chips):
        assert family_of(MATRIX, chip.name) is family
        assert soc_of(MATRIX, chip.name) in {soc, None}
        bus = None if family == "310b" else f"0000:{number + 1:02X}:00.0"
        assert (chip.health, chip.bus_id, chip.memory_mib) == ("OK", bus, 65536)
    assert len({len(line) for line in body(done).splitlines()} - {98}) <= 1


QUERIES = [
    ("Ascend910A", "info -t usages -i 0", "usages_910_23.0.5.txt"),
    ("Ascend310P3", "info -t usages -i 1", "usages_310P_duo.txt"),
    ("Ascend910A", "info -t common -i 0", "common_910.txt"),
    ("Ascend310P3", "info -t common -i 1", "common_310P_duo.txt"),
    ("Ascend910A", "info -t ecc -i 1", "ecc_910_23.0.5.txt"),
    ("Ascend910A", "info -t health -i 0 -c 0", "health_910_23.0.5.txt"),
    ("Ascend950PR_9579", "info -t health -i 0", "health_950_doc.txt"),
    ("Ascend950PR_9579", "info -t memory -i 0", "memory_950_doc.txt"),
    ("Ascend950PR_9579", "info -t usages -i 0", "usages_950_doc.txt"),
    ("Ascend910_9391", "info -l", "list_A3.txt"),
    ("Ascend310P3", "info -l", "list_310P_card.txt"),
    ("Ascend950PR_9579", "info -l", "list_950_doc.txt"),
    ("Ascend910B4", "info -t board -i 0 -c 0", "board_chip_910B4.txt"),
    ("Ascend910A", "info -t board -i 0 -c 0", "board_chip_910_23.0.5.txt"),
    ("Ascend910_9392", "info -t board -i 0 -c 0", "board_chip_A3.txt"),
    ("Ascend950PR_9579", "info -t board -i 0", "board_950PR_25.7.rc1.6.txt"),
]
# Of the board, not of a chip: there is no management controller, and a die has no number.
NOT_SIMULATED = {"VDie ID", "NDie ID", "Main Board ID", "Chip Version"}


def entries(text: str) -> dict[str, str]:
    """The first chip's `name : value` lines, as far as the management controller's."""
    text = text.partition("Chip Name                      : mcu")[0]
    pairs = (line.partition(" : ")[::2] for line in text.splitlines() if " : " in line)
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name.strip(), value.strip())
    return found


@pytest.mark.parametrize(("soc", "command", "sample"), QUERIES)
def test_queries_name_what_was_recorded(soc: str, command: str, sample: str, npu_smi: Smi) -> None:
    ours = entries(body(npu_smi(*command.split(), soc=soc, devices=4)))
    recorded = [name for name in entries((RECORDED / sample).read_text()) if name not in NOT_SIMULATED]
    assert recorded
    assert set(recorded) <= set(ours), sorted(set(recorded) - set(ours))


@pytest.mark.parametrize(
    ("soc", "sample"), [("Ascend910B4", "map_910B4.txt"), ("Ascend910_9391", "map_A3.txt")]
)
def test_the_mapping_is_laid_out_as_recorded(soc: str, sample: str, npu_smi: Smi) -> None:
    ours = body(npu_smi("info", "-m", soc=soc, devices=4)).splitlines()
    recorded = (RECORDED / sample).read_text().splitlines()
    chips = [line.split() for line in recorded[1:] if not line.endswith("Mcu")]
    assert ours[0].split("  ") == ("\t" + recorded[0]).split("  ")
    assert [line.split() for line in ours[1 : 1 + len(chips)]] == chips


def test_the_soc_of_a_chip_can_be_told(npu_smi: Smi) -> None:
    a3 = entries(body(npu_smi("info", "-t", "board", "-i", "0", "-c", "1", soc="Ascend910_9362")))
    assert f"{a3['Chip Name']}_{a3['NPU Name']}" == "Ascend910_9362"
    of_950 = entries(body(npu_smi("info", "-t", "board", "-i", "1", soc="Ascend950DT_9582")))
    assert f"{of_950['Chip Name']}_{of_950['NPU Name']}" == "Ascend950DT_9582"
    of_910b = entries(body(npu_smi("info", "-t", "board", "-i", "1", "-c", "0", soc="Ascend910B4-1")))
    assert of_910b["Chip Type"] + of_910b["Chip Name"] == "Ascend910B4-1"


@pytest.mark.parametrize("kind", ["temp", "power", "product", "memory", "usages", "ecc", "health", "common"])
@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend910_9391", "Ascend310P3", "Ascend310B4", "Ascend910A"])
def test_every_query_answers_for_every_family(kind: str, soc: str, npu_smi: Smi) -> None:
    whole = body(npu_smi("info", "-t", kind, "-i", "0", soc=soc))
    assert "NPU ID" in whole
    assert (
        entries(body(npu_smi("info", "-t", kind, "-i", "0", "-c", "0", soc=soc))).items()
        <= entries(whole).items()
    )


HOLD = """
import ctypes, os, sys
runtime = ctypes.CDLL(os.path.join(sys.argv[1], "lib64", "libascendcl.so"))
block = ctypes.c_void_p()
assert runtime.aclInit(None) == 0 and runtime.aclrtSetDevice(1) == 0
assert runtime.aclrtMalloc(ctypes.byref(block), ctypes.c_size_t(300 << 20), 0) == 0
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("soc", "driver", "card"),
    [
        ("Ascend910B3", "25.3.rc1", "1"),
        ("Ascend910B3", "26.1.0", "1"),
        ("Ascend310P3", "25.5.1", "1"),
        ("Ascend950PR_9579", "25.7.rc1", "1"),
        ("Ascend910_9391", "25.2.0", "0"),
    ],
)
def test_live_processes_and_their_memory(
    soc: str, driver: str, card: str, npu_smi: Smi, tmp_path: Path
) -> None:
    idle = body(npu_smi("info", soc=soc, driver=driver))
    home = tmp_path / "cann"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)],
        env=environment(home, ASCENDENV_SIM_STATE=str(tmp_path / "state")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        busy = body(npu_smi("info", soc=soc, driver=driver))
        usages = entries(body(npu_smi("info", "-t", "usages", "-i", card, soc=soc, driver=driver)))
        process.communicate("")
    line = next(line for line in busy.splitlines() if f"| {process.pid} " in line)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[0].split()[0] == card
    assert "python" in cells[2]
    assert 300 <= int(cells[3]) < 310
    assert len(parse_info(busy).chips) == len(parse_info(idle).chips), "a process is no chip"
    assert "DDR Capacity(MB)" in usages
    for _ in range(50):
        if body(npu_smi("info", soc=soc, driver=driver)) == idle:
            return
        time.sleep(0.1)
    pytest.fail("the memory of a process that has ended is still counted")


def test_more_memory_is_a_higher_rate(npu_smi: Smi) -> None:
    assert entries(body(npu_smi("info", "-t", "usages", "-i", "0")))["HBM Usage Rate(%)"] == "0"
    assert entries(body(npu_smi("info", "-t", "usages", "-i", "0")))["HBM Capacity(MB)"] == "65536"


@pytest.mark.parametrize(
    ("command", "code", "texts"),
    [
        ("", 215, ["Usage: npu-smi <Command|-h|-v> [Options...]"]),
        ("bogus", 211, ["Command or option is not found.", "Usage: npu-smi"]),
        ("info -t cpu -i 0", 215, ["Error parameter of -t", "Usage: npu-smi info"]),
        ("info -t board", 215, ["You must select a card at first."]),
        ("info -t board -i 9", 215, ["Invalid card id.", "Error parameter of -i"]),
        ("info -t board -i x", 215, ["Invalid card id."]),
        ("info -t board -i 0 -c 5", 215, ["Invalid chip id.", "Error parameter of -c"]),
        ("info -x", 215, ["Error parameter of -x"]),
        ("info -t flash -i 0", 0, ["This device does not support querying flash."]),
        ("set -t reset -i 0", 217, ["does not support npu-smi set"]),
    ],
)
def test_wrong_use(command: str, code: int, texts: list[str], npu_smi: Smi) -> None:
    done = npu_smi(*command.split())
    assert done.returncode == code, done.stdout
    assert done.stdout.startswith(NOTICE)
    for text in texts:
        assert text in done.stdout


@pytest.mark.parametrize("command", ["-h", "--help", "-v", "info -h", "info --help"])
def test_help_and_version(command: str, npu_smi: Smi) -> None:
    text = body(npu_smi(*command.split()))
    assert "Usage: npu-smi" in text or text == "npu-smi version: 25.3.rc1\n"


@pytest.mark.parametrize(
    ("fault", "code", "text"),
    [
        ("driver-missing", 187, "dcmi module initialize failed. ret is -8005"),
        ("permission-denied", 187, "dcmi module initialize failed. ret is -8005"),
        ("no-device", 187, "dcmi module initialize failed. ret is -8005"),
        ("device-busy", 172, "dcmi model initialized failed, because the device is used. ret is -8020"),
    ],
)
def test_faults_of_the_driver(fault: str, code: int, text: str, npu_smi: Smi) -> None:
    done = npu_smi("info", ASCENDENV_SIM_FAULT=fault)
    assert done.returncode == code
    assert text in done.stdout
    assert parse_info(done.stdout).chips == ()


def test_faults_of_a_device(npu_smi: Smi) -> None:
    variables = {"ASCENDENV_SIM_FAULT": "ecc-error@1,device-lost@2,no-device@3"}
    chips = parse_info(npu_smi("info", devices=5, **variables).stdout).chips
    assert [(chip.npu, chip.health) for chip in chips] == [
        ("0", "OK"),
        ("1", "Alarm"),
        ("2", "Critical"),
        ("4", "OK"),
    ]
    ecc = entries(body(npu_smi("info", "-t", "ecc", "-i", "1", devices=5, **variables)))
    assert ecc["HBM Double Bit Error Count"] == "1"
    health = entries(body(npu_smi("info", "-t", "health", "-i", "2", devices=5, **variables)))
    assert health["Health Status"] == "Critical"
    assert "simulated" in health["Error Information"]


def test_a_version_mismatch_shows_on_the_board(npu_smi: Smi) -> None:
    board = ("info", "-t", "board", "-i", "0")
    assert entries(body(npu_smi(*board)))["Compatibility"] == "OK"
    assert entries(body(npu_smi(*board, ASCENDENV_SIM_FAULT="version-mismatch")))["Compatibility"] == "NOK"


def test_a_wrong_setting_is_told(npu_smi: Smi) -> None:
    done = npu_smi("info", ASCENDENV_SIM_MEMORY="a lot")
    assert done.returncode == 215
    assert "ASCENDENV_SIM_MEMORY=a lot" in done.stderr
