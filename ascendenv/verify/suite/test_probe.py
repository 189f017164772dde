"""Layer probe: the devices do elementary things, asked through CANN directly and without torch."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from suite_checks import check

if TYPE_CHECKING:
    from conftest import Told

DRIVER = (
    "`ascendenv doctor` checks driver, device files and permissions; `npu-smi info` must list the devices."
)
HEALTH = "The device named is at fault: `npu-smi info -t health -i ID`; `--devices` leaves it out."
SIZES = (1, 4097, 64 << 20)


@check(id="probe.devices", title="the devices answer", advice=DRIVER)
def test_devices(probe: ModuleType, tell: Told) -> None:
    """The runtime counts at least one device, names its chip and tells how much memory each has."""
    count, soc = probe.device_count(), probe.soc_name()
    assert count > 0, "the runtime sees no device"
    assert soc, "the runtime does not name the chip"
    tell.device(soc=soc, count=count)
    for device in range(count):
        memory = probe.memory_info(device)
        assert 0 < memory.free <= memory.total, (
            f"device {device} says {memory.free} of {memory.total} bytes are free"
        )
    tell.seen(f"{count} x {soc}, CANN {probe.cann_version() or 'of unknown version'}")


@check(id="probe.copy", title="patterns survive the way to each device and back", advice=HEALTH)
def test_copy(probe: ModuleType) -> None:
    """Host to device, on the device and back: not one byte changes, from one byte to 64 MiB."""
    for device in range(probe.device_count()):
        for nbytes in SIZES:
            probe.copy_round_trip(device, nbytes, seed=1 + device)


@check(id="probe.stream_order", title="streams wait for each other's events", advice=HEALTH)
def test_stream_order(probe: ModuleType) -> None:
    """A stream that waits for another's event reads what was written last before it, on each device."""
    for device in range(probe.device_count()):
        probe.stream_event_order(device)


@check(id="probe.out_of_memory", title="asking for too much memory is refused", advice=HEALTH)
def test_out_of_memory(probe: ModuleType, tell: Told) -> None:
    """Each device refuses more memory than it has with an error code, and goes on working."""
    refusals = set()
    for device in range(probe.device_count()):
        refusals.add(probe.out_of_memory(device).code)
        probe.copy_round_trip(device, SIZES[1], seed=100 + device)
    tell.seen(f"refused with {', '.join(str(code) for code in sorted(refusals))}")


@check(id="probe.invalid_device", title="a device that does not exist is refused", advice=DRIVER)
def test_invalid_device(probe: ModuleType, tell: Told) -> None:
    """The number after the last device gives an error and no other device."""
    count = probe.device_count()
    try:
        memory = probe.memory_info(count)
    except probe.DeviceError as refusal:
        tell.seen(str(refusal))
        return
    raise AssertionError(f"of {count} devices, number {count} answers with {memory}")


@check(
    id="probe.all_reduce",
    title="all devices sum up together",
    advice="The links between the devices are at fault: `hccn_tool -i 0 -link -g`, `npu-smi info -t topo`.",
)
def test_all_reduce(probe: ModuleType, tell: Told) -> None:
    """HCCL connects all visible devices from one process, and every element of their sum is right."""
    count = probe.device_count()
    if count < 2:
        pytest.skip(f"needs 2 devices, {count} visible")
    results = probe.all_reduce(range(count))
    assert [result.rank for result in results] == list(range(count)), f"the ranks are {results}"
    tell.seen(f"{results[0].elements} elements over {count} devices")
