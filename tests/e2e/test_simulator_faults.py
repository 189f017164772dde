"""Faults on request, as a program with the real torch and torch_npu meets them."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Protocol

import pytest


class Simulated(Protocol):
    """An environment with torch and torch_npu on the simulated CANN."""

    def python(self, source: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


PROGRAM = """
import json, torch, torch_npu
def failure(call):
    try: call()
    except Exception as error: return type(error).__name__ + ": " + str(error)
    return ""
def compute():
    ones = torch.ones(4, 4, device="npu")
    assert (ones @ ones).sum().item() == 64
print("REPORT", json.dumps({
    "available": torch.npu.is_available(),
    "count": torch.npu.device_count(),
    "set_device": failure(lambda: torch.npu.set_device(0)),
    "compute": failure(compute),
    "synchronize": failure(torch.npu.synchronize),
}))
"""


def meet(simulated: Simulated, fault: str) -> dict[str, Any]:
    """What the program saw of the fault."""
    done = simulated.python(PROGRAM, ASCENDENV_SIM_FAULT=fault, ASCENDENV_SIM_DEVICES="2")
    assert done.returncode == 0, done.stderr
    (report,) = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    seen: dict[str, Any] = json.loads(report.removeprefix("REPORT "))
    return seen


def check(text: str, *parts: str) -> None:
    for part in ("[simulated CANN]", *parts):
        assert part in text


@pytest.mark.parametrize(
    ("fault", "code", "text"),
    [
        ("no-device", "207004", "EL0001"),
        ("driver-missing", "507899", "DrvMngGetConsoleLogLevel failed. (ret=4)"),
        ("device-busy", "507899", "drvRetCode=87"),
        ("permission-denied", "507899", "EL0007"),
        ("meteor", "100000", "there are no-device, driver-missing"),
    ],
)
def test_no_device_can_be_reached(simulated: Simulated, fault: str, code: str, text: str) -> None:
    seen = meet(simulated, fault)
    assert (seen["available"], seen["count"]) == (False, 0)
    for call in ("set_device", "compute", "synchronize"):
        check(seen[call], f"aclInit, error code is {code}", text)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("device-busy@0", "EL0005"),
        ("permission-denied@0", "EL0007"),
        ("version-mismatch", "E30006: Failed to verify the OPP"),
    ],
)
def test_a_device_cannot_be_opened(simulated: Simulated, fault: str, text: str) -> None:
    seen = meet(simulated, fault)
    assert (seen["available"], seen["count"]) == (True, 2)
    for call in ("set_device", "compute", "synchronize"):
        check(seen[call], "error code is 507033", text, "Failed to open device")


def test_a_missing_device_is_not_counted(simulated: Simulated) -> None:
    seen = meet(simulated, "no-device@0")
    assert seen == {"available": True, "count": 1, "set_device": "", "compute": "", "synchronize": ""}


def test_memory_runs_out(simulated: Simulated) -> None:
    seen = meet(simulated, "out-of-memory")
    assert seen["set_device"] == ""
    assert seen["compute"].startswith("OutOfMemoryError: NPU out of memory.")
    assert seen["synchronize"] == ""


@pytest.mark.parametrize(
    ("fault", "code", "text"),
    [
        ("ecc-error:1", "507054", "HBM MULTI BIT ECC ERROR."),
        ("device-lost:1", "507010", "loses the heartbeat"),
    ],
)
def test_a_device_breaks_in_the_middle_of_its_work(
    simulated: Simulated, fault: str, code: str, text: str
) -> None:
    seen = meet(simulated, fault)
    assert seen["set_device"] == ""
    for call in ("compute", "synchronize"):
        check(seen[call], f"error code is {code}", text)
