"""Asks the devices of the CANN in effect to do elementary things, without torch.

Every function raises `DeviceError` for a call that fails and `DataMismatchError` for wrong data.
Devices are counted from 0 as the process sees them (after ASCEND_RT_VISIBLE_DEVICES).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import DataMismatchError, DeviceError, LimitNotEnforcedError
from .results import AllReduceResult, MemoryInfo, StreamOrder

if TYPE_CHECKING:
    from collections.abc import Sequence

try:
    from . import _probe
except ImportError as error:
    _hint = "the CANN environment is not in effect or not the one this probe was built for"
    _message = f"{error}\n\nhint: {_hint}: run `source <CANN>/set_env.sh`, or rebuild the probe"
    raise ImportError(_message, name=error.name, path=error.path) from error

__all__ = [
    "AllReduceResult",
    "DataMismatchError",
    "DeviceError",
    "LimitNotEnforcedError",
    "MemoryInfo",
    "StreamOrder",
    "all_reduce",
    "allocate",
    "cann_version",
    "copy_round_trip",
    "device_count",
    "memory_info",
    "out_of_memory",
    "soc_name",
    "stream_event_order",
]

_GIB = 1 << 30


def device_count() -> int:
    """Count the devices that this process sees."""
    return _probe.device_count()


def soc_name() -> str:
    """Name the chip as the runtime does, `Ascend910B3` for instance."""
    return _probe.soc_name()


def cann_version() -> str | None:
    """Return the version that the CANN libraries in use report, None where they have no call for it."""
    return _probe.cann_version()


def memory_info(device: int) -> MemoryInfo:
    """Return the free and total memory of a device in bytes."""
    free, total = _probe.memory_info(device)
    return MemoryInfo(free=free, total=total)


def allocate(device: int, nbytes: int) -> None:
    """Allocate `nbytes` on the device and free them again."""
    _probe.allocate(device, nbytes)


def out_of_memory(device: int) -> DeviceError:
    """Ask for 1 GiB more than the device has and return the error it answers with.

    Raises `LimitNotEnforcedError` if the device grants it.
    """
    nbytes = memory_info(device).total + _GIB
    try:
        allocate(device, nbytes)
    except DeviceError as refusal:
        if refusal.call != "aclrtMalloc":
            raise
        return refusal
    message = f"device {device} granted {nbytes} bytes, 1 GiB more than it has"
    raise LimitNotEnforcedError(message)


def copy_round_trip(device: int, nbytes: int, seed: int = 0) -> None:
    """Copy a pattern host -> device -> device -> host and compare it.

    `seed` chooses the pattern. Raises `DataMismatchError` naming the first wrong byte.
    """
    _probe.copy_round_trip(device, _positive("nbytes", nbytes), seed)


def stream_event_order(device: int, nbytes: int = 16 << 20) -> StreamOrder:
    """Let one stream wait for an event of another and check that it read what was written last."""
    return StreamOrder(
        nbytes=nbytes, elapsed_ms=_probe.stream_event_order(device, _positive("nbytes", nbytes))
    )


def all_reduce(devices: Sequence[int], elements: int = 1 << 20) -> list[AllReduceResult]:
    """Sum float32 values over the devices, one rank each in this process, and check every element."""
    if not devices:
        message = "all_reduce needs at least one device"
        raise ValueError(message)
    times = _probe.all_reduce(list(devices), _positive("elements", elements))
    return [
        AllReduceResult(device=device, rank=rank, elements=elements, elapsed_ms=elapsed)
        for rank, (device, elapsed) in enumerate(zip(devices, times, strict=True))
    ]


def _positive(name: str, value: int) -> int:
    if value <= 0:
        message = f"{name} must be positive, not {value}"
        raise ValueError(message)
    return value
