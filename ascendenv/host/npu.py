"""The NPUs: what npu-smi lists, else the device nodes, else the devices on the PCI bus."""

from __future__ import annotations

import re

from ascendenv.compatibility.model import Chip, Matrix
from ascendenv.compatibility.query import chip_of_soc
from ascendenv.host.files import children, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import Npu, NpuSmi
from ascendenv.host.npu_smi import ChipRow, InfoTable, display_ids
from ascendenv.vocabulary import ChipFamily

PCI_DEVICES = "/sys/bus/pci/devices"
HUAWEI_PCI_VENDOR = 0x19E5
"""Huawei's number in the PCI vendor registry; network cards of a Kunpeng server have it too."""

_NODE = re.compile(r"v?davinci\d+")
_SHARED_NODES = frozenset({"davinci_manager", "devmm_svm", "hisi_hdc", "svm0"})


def device_nodes(machine: Machine) -> tuple[str, ...]:
    """The nodes in ``/dev`` through which programs reach NPUs: chips by number, then the shared ones."""
    names = [path.name for path in children(machine, "/dev")]
    chips = sorted((name for name in names if _NODE.fullmatch(name)), key=_number)
    return tuple(f"/dev/{name}" for name in [*chips, *(name for name in names if name in _SHARED_NODES)])


def is_chip_node(node: str) -> bool:
    """Whether a device node stands for one chip rather than for the driver as a whole."""
    return _NODE.fullmatch(node.rpartition("/")[2]) is not None


def npus(machine: Machine, matrix: Matrix, smi: NpuSmi | None, table: InfoTable) -> tuple[Npu, ...]:
    """List one entry a chip, from the first source that shows any.

    In a container the PCI bus shows all NPUs of the host, also those not passed in, so it comes last.
    """
    on_bus = pci_npus(machine, matrix)
    return _from_table(matrix, smi, table, on_bus) or _from_nodes(machine, on_bus) or on_bus


def pci_npus(machine: Machine, matrix: Matrix) -> tuple[Npu, ...]:
    """NPUs by their PCI numbers, which are there before any driver is installed."""
    families = {int(chip.pci_device, 16): chip.family for chip in matrix.chips if chip.pci_device}
    found = []
    for path in children(machine, PCI_DEVICES):
        vendor, device = (_hex(read(machine, path / name)) for name in ("vendor", "device"))
        if vendor == HUAWEI_PCI_VENDOR and device in families:
            found.append(Npu(id=path.name, bus_id=path.name, family=families[device], where=str(path)))
    return tuple(found)


def soc_of(matrix: Matrix, name: str) -> str | None:
    """Tell the SoC from npu-smi's name, ``Ascend910B3`` from ``910B3``; A3 and 950 have none there."""
    soc = name.replace(" ", "")
    soc = soc if soc.startswith("Ascend") else f"Ascend{soc}"
    return soc if chip_of_soc(matrix, soc) is not None else None


def family_of(matrix: Matrix, name: str) -> ChipFamily | None:
    """The family that npu-smi's name means."""
    soc = soc_of(matrix, name)
    chip = chip_of_soc(matrix, soc) if soc is not None else _chip_by_name(matrix, name)
    return chip.family if chip is not None else None


def _chip_by_name(matrix: Matrix, name: str) -> Chip | None:
    return next((chip for chip in matrix.chips if name.replace(" ", "") in chip.npu_smi_names), None)


def _from_table(
    matrix: Matrix, smi: NpuSmi | None, table: InfoTable, on_bus: tuple[Npu, ...]
) -> tuple[Npu, ...]:
    by_bus = {npu.bus_id: npu.family for npu in on_bus}
    return tuple(
        Npu(
            id=display_id,
            family=family_of(matrix, chip.name) or by_bus.get(_sysfs_address(chip)),
            soc=soc_of(matrix, chip.name),
            health=chip.health,
            memory_mib=chip.memory_mib,
            bus_id=chip.bus_id,
            simulated=smi is not None and smi.simulated,
            where="npu-smi info",
        )
        for display_id, chip in zip(display_ids(table.chips), table.chips, strict=True)
    )


def _from_nodes(machine: Machine, on_bus: tuple[Npu, ...]) -> tuple[Npu, ...]:
    families = {npu.family for npu in on_bus}
    family = families.pop() if len(families) == 1 else None
    return tuple(
        Npu(id=node.removeprefix("/dev/"), family=family, where=node)
        for node in device_nodes(machine)
        if is_chip_node(node)
    )


def _sysfs_address(chip: ChipRow) -> str:
    return (chip.bus_id or "").lower()


def _number(name: str) -> tuple[int, str]:
    return int(re.sub(r"\D", "", name)), name


def _hex(text: str | None) -> int | None:
    try:
        return int((text or "").strip(), 16)
    except ValueError:
        return None
