"""The probe on simulated devices: what it answers, and what it raises."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from device_runtime_builds import CANN_VERSION, build_probe, build_simulator, cache_directory, environment

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
INVALID_DEVICE = 107001
OUT_OF_MEMORY = 207001
INVALID_PARAMETER = 1  # HCCL_E_PARA


class Probe:
    """Runs Python with the probe importable and a simulated CANN in effect."""

    def __init__(self, cann: Path, modules: Path) -> None:
        self.cann, self._modules = cann, modules

    def run(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        environ = environment(self.cann, PYTHONPATH=str(self._modules), **extra)
        return subprocess.run(
            [sys.executable, *arguments], env=environ, text=True, capture_output=True, check=False, timeout=60
        )

    def evaluate(self, expression: str, **extra: str) -> object:
        """The value of an expression over `probe`, through JSON; an exception as its class and fields."""
        program = f"""
import dataclasses, json
import ascendenv_device_probe as probe
try:
    value = {expression}
except Exception as error:
    value = {{"raised": type(error).__name__, **vars(error), "text": str(error)}}
print(json.dumps(value, default=dataclasses.asdict))
"""
        completed = self.run("-c", program, **extra)
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    cache = cache_directory(tmp_path_factory)
    cann = build_simulator(cache)
    return Probe(cann, build_probe(cache, cann))


def raised(outcome: object) -> dict[str, object]:
    assert isinstance(outcome, dict)
    assert "raised" in outcome, outcome
    return outcome


def test_what_the_machine_is(probe: Probe) -> None:
    expression = "[probe.device_count(), probe.soc_name(), probe.cann_version()]"
    assert probe.evaluate(expression) == [4, "Ascend910B3", CANN_VERSION]


def test_only_visible_devices_count(probe: Probe) -> None:
    assert probe.evaluate("probe.device_count()", ASCEND_RT_VISIBLE_DEVICES="1,3") == 2


def test_memory_is_in_bytes(probe: Probe) -> None:
    assert probe.evaluate("probe.memory_info(1)") == {"free": GIB, "total": GIB}


@pytest.mark.parametrize("nbytes", [1, 7, 4096, (1 << 20) + 3])
def test_copies_come_back(probe: Probe, nbytes: int) -> None:
    assert probe.evaluate(f"probe.copy_round_trip(3, {nbytes}, seed=9)") is None


def test_streams_wait_for_events(probe: Probe) -> None:
    order = probe.evaluate("probe.stream_event_order(0, 1 << 20)")
    assert isinstance(order, dict)
    assert order["nbytes"] == 1 << 20
    assert order["elapsed_ms"] > 0


def test_a_device_refuses_more_memory_than_it_has(probe: Probe) -> None:
    error = raised(probe.evaluate(f"probe.allocate(0, {GIB + 1})"))
    assert (error["raised"], error["code"], error["call"]) == ("DeviceError", OUT_OF_MEMORY, "aclrtMalloc")
    assert probe.evaluate("probe.out_of_memory(0).code") == OUT_OF_MEMORY


def test_an_allocation_that_fits_is_given_back(probe: Probe) -> None:
    expression = f"[probe.allocate(0, {GIB // 2}) for _ in range(4)] and probe.memory_info(0).free"
    assert probe.evaluate(expression) == GIB


@pytest.mark.parametrize(
    "call", ["memory_info(4)", "memory_info(-1)", "copy_round_trip(99, 8)", "stream_event_order(4)"]
)
def test_a_device_that_does_not_exist(probe: Probe, call: str) -> None:
    error = raised(probe.evaluate(f"probe.{call}"))
    assert (error["raised"], error["code"], error["call"]) == (
        "DeviceError",
        INVALID_DEVICE,
        "aclrtSetDevice",
    )
    assert error["text"] == f"aclrtSetDevice returned {INVALID_DEVICE}: {error['message']}"


@pytest.mark.parametrize(
    ("call", "exception"),
    [
        ("copy_round_trip(0, 0)", "ValueError"),
        ("copy_round_trip(0, -5)", "ValueError"),
        ("copy_round_trip(0, 'many')", "TypeError"),
        ("allocate(0, -1)", "TypeError"),
        ("stream_event_order(0, 0)", "ValueError"),
        ("all_reduce([])", "ValueError"),
        ("all_reduce([0], 0)", "ValueError"),
        ("all_reduce(['zero'])", "TypeError"),
    ],
)
def test_arguments_that_make_no_sense(probe: Probe, call: str, exception: str) -> None:
    assert raised(probe.evaluate(f"probe.{call}"))["raised"] == exception


@pytest.mark.parametrize("devices", [[0], [0, 1], [2, 0, 3], [0, 1, 2, 3]])
def test_devices_sum_up(probe: Probe, devices: list[int]) -> None:
    results = probe.evaluate(f"probe.all_reduce({devices}, 1000003)")
    assert isinstance(results, list)
    assert [(result["device"], result["rank"]) for result in results] == [
        (device, rank) for rank, device in enumerate(devices)
    ]
    assert all(result["elements"] == 1000003 and result["elapsed_ms"] > 0 for result in results)


@pytest.mark.parametrize("devices", [[0, 0], [0, 4], [-1]])
def test_devices_that_cannot_form_a_group(probe: Probe, devices: list[int]) -> None:
    error = raised(probe.evaluate(f"probe.all_reduce({devices})"))
    assert (error["code"], error["call"]) == (INVALID_PARAMETER, "HcclCommInitAll")


def test_report(probe: Probe) -> None:
    completed = probe.run("-m", "ascendenv_device_probe")
    assert completed.returncode == 0, completed.stdout
    report = json.loads(completed.stdout)
    assert (report["ok"], report["simulated"]) == (True, True)
    assert report["checks"]["device_count"] == {"ok": True, "value": 4}
    assert list(report["devices"]) == ["0", "1", "2", "3"]
    assert report["devices"]["0"]["out_of_memory"]["value"]["code"] == OUT_OF_MEMORY


def test_report_without_devices(probe: Probe) -> None:
    completed = probe.run("-m", "ascendenv_device_probe", ASCENDENV_SIM_DEVICES="0")
    assert completed.returncode == 1, completed.stderr
    report = json.loads(completed.stdout)
    assert report["ok"] is False
    assert report["devices"] == {}


def test_a_missing_library_is_an_import_error_with_advice(probe: Probe) -> None:
    completed = probe.run("-c", "import ascendenv_device_probe", LD_LIBRARY_PATH="")
    assert completed.returncode == 1
    last = completed.stderr.strip().splitlines()
    assert "ImportError: libascendcl.so" in completed.stderr
    assert "set_env.sh" in last[-1]
