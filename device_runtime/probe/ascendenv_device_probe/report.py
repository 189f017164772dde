"""Runs every check of the probe and gathers the outcomes as plain data for JSON."""

from __future__ import annotations

import os
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, TypedDict

from . import (
    DataMismatchError,
    DeviceError,
    LimitNotEnforcedError,
    all_reduce,
    cann_version,
    copy_round_trip,
    device_count,
    memory_info,
    out_of_memory,
    soc_name,
    stream_event_order,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Outcome", "Report", "gather"]

SCHEMA = "ascendenv-device-probe/report/1"
ROUND_TRIP_BYTES = (1 << 20) + 3  # odd on purpose: the last word is not a whole one


class Outcome(TypedDict, total=False):
    """`ok`, and then `value`; else `error` and, for a failed call, its `code` and `call`."""

    ok: bool
    value: object
    error: str
    code: int
    call: str


class Report(TypedDict):
    """Outcomes by check, and by device and check."""

    schema: str
    ok: bool
    simulated: bool
    checks: dict[str, Outcome]
    devices: dict[str, dict[str, Outcome]]


def gather() -> Report:
    """Ask all visible devices; a check that fails is part of the report, not an exception."""
    checks = {
        "device_count": _outcome(device_count),
        "soc_name": _outcome(soc_name),
        "cann_version": _outcome(cann_version),
    }
    count = checks["device_count"].get("value", 0)
    indices = list(range(count)) if isinstance(count, int) else []
    devices = {str(index): _device(index) for index in indices}
    if indices:
        checks["all_reduce"] = _outcome(lambda: [asdict(result) for result in all_reduce(indices)])
    outcomes = [*checks.values(), *(outcome for device in devices.values() for outcome in device.values())]
    return Report(
        schema=SCHEMA,
        ok=bool(indices) and all(outcome["ok"] for outcome in outcomes),
        simulated=bool(os.environ.get("ASCENDENV_SIMULATED")),
        checks=checks,
        devices=devices,
    )


def _device(index: int) -> dict[str, Outcome]:
    return {
        "memory_info": _outcome(lambda: memory_info(index)),
        "copy_round_trip": _outcome(lambda: copy_round_trip(index, ROUND_TRIP_BYTES, seed=index)),
        "stream_event_order": _outcome(lambda: stream_event_order(index)),
        "out_of_memory": _outcome(lambda: _refusal(index)),
    }


def _refusal(index: int) -> dict[str, object]:
    refusal = out_of_memory(index)
    return {"code": refusal.code, "call": refusal.call, "message": refusal.message}


def _outcome(check: Callable[[], object]) -> Outcome:
    try:
        value = check()
    except DeviceError as error:
        return Outcome(ok=False, error=str(error), code=error.code, call=error.call)
    except (DataMismatchError, LimitNotEnforcedError) as error:
        return Outcome(ok=False, error=str(error))
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return Outcome(ok=True, value=value)
