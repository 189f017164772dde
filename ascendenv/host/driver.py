"""The NPU driver and firmware, by the version files that their packages leave."""

from __future__ import annotations

from pathlib import Path

from ascendenv.host.files import exists, is_dir, key_values, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import Driver

INSTALL_RECORD = "/etc/ascend_install.info"
_DEFAULT_ROOT = "/usr/local/Ascend"


def driver(machine: Machine) -> Driver | None:
    """The driver's version."""
    return _component(machine, "driver", "Driver_Install_Path_Param")


def firmware(machine: Machine) -> Driver | None:
    """The firmware's version, as the HDK package that it came with numbers it, where the file tells that."""
    return _component(machine, "firmware", "Firmware_Install_Path_Param")


def record_problem(machine: Machine) -> str | None:
    """What is wrong with the install record, if anything is."""
    if is_dir(machine, INSTALL_RECORD):
        return (
            f"{INSTALL_RECORD} is a directory: a container was started with a mount of a file that the host"
            " does not have"
        )
    status = key_values(read(machine, INSTALL_RECORD)).get("Driver_Install_Status", "complete")
    if status != "complete":
        return f"{INSTALL_RECORD} says Driver_Install_Status={status}: the driver is not completely installed"
    return None


def _component(machine: Machine, name: str, path_key: str) -> Driver | None:
    recorded = key_values(read(machine, INSTALL_RECORD)).get(path_key, "")
    roots = [root for root in (recorded, _DEFAULT_ROOT) if root.startswith("/")]
    for root in roots:
        path = Path(root) / name / "version.info"
        fields = key_values(read(machine, path)) if exists(machine, path) else {}
        version = fields.get("package_version") or fields.get("Version")
        if version:
            return Driver(where=str(path), version=version)
    return None
