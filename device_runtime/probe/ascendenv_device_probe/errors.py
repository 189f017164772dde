"""What can go wrong on a device."""

from __future__ import annotations

__all__ = ["DataMismatchError", "DeviceError", "LimitNotEnforcedError"]


class DeviceError(RuntimeError):
    """A call of AscendCL or HCCL failed.

    `code` is the value the call returned (an `aclError`, or an `HcclResult` where `call` begins with `Hccl`),
    `message` is what the runtime says about it.
    """

    def __init__(self, code: int, call: str, message: str) -> None:
        super().__init__(code, call, message)
        self.code = code
        self.call = call
        self.message = message

    def __str__(self) -> str:
        return f"{self.call} returned {self.code}: {self.message}"


class DataMismatchError(RuntimeError):
    """Data came back from a device other than it should be; the text names the first wrong place."""


class LimitNotEnforcedError(RuntimeError):
    """A device granted more memory than it has."""
