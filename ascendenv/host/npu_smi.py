"""``npu-smi info``: its table, in all the layouts that drivers from 20.2 to 26.0 print.

All layouts give two lines to a chip: identity, health and power, then bus address and memory. They differ in
widths, in whether the NPU's number and name share a cell, and in the memory columns. Nothing here depends on
widths, and a line that fits no layout is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ascendenv.host.files import exists, real, which
from ascendenv.host.machine import Completed, Machine
from ascendenv.host.model import NpuSmi

_VERSIONS = re.compile(r"npu-smi\s+(?P<tool>\S+)\s+Version:\s*(?P<driver>[^\s|]+)")
_USED_AND_TOTAL = re.compile(r"\d+\s*/\s*(\d+)")
_BUS_ID = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_PROGRAMS = ("npu-smi", "/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi")


@dataclass(frozen=True)
class ChipRow:
    """What the table says of one chip. ``memory_mib`` is its own memory, HBM where it has some."""

    npu: str
    chip: str
    name: str
    health: str
    bus_id: str | None
    memory_mib: int | None


@dataclass(frozen=True)
class InfoTable:
    """The whole answer. ``driver`` is the driver's version; ``tool`` is npu-smi's own and may differ."""

    tool: str | None
    driver: str | None
    chips: tuple[ChipRow, ...]


def npu_smi(machine: Machine) -> tuple[NpuSmi | None, InfoTable]:
    """Find the tool and ask it; ``None`` when it is not there."""
    nothing = InfoTable(None, None, ())
    path = next((found for name in _PROGRAMS if (found := which(machine, name))), None)
    if path is None:
        return None, nothing
    simulated = is_simulated(machine, path)
    answer = machine.run([path, "info"])
    if answer is None:
        failed = NpuSmi(
            where=str(path), works=False, message="it could not be run or did not answer", simulated=simulated
        )
        return failed, nothing
    table = parse_info(answer.stdout)
    works = bool(table.chips)
    smi = NpuSmi(
        where=str(path),
        works=works,
        version=table.tool,
        driver_version=table.driver,
        message="" if works else _said(answer),
        simulated=simulated,
    )
    return smi, table


def is_simulated(machine: Machine, program: Path) -> bool:
    """Whether the program belongs to a simulated CANN, which leaves a mark beside its ``bin`` directory."""
    home = real(machine, program).parent.parent
    return exists(machine, home / "share/info/simulator/version.info")


def parse_info(text: str) -> InfoTable:
    """Read the table; chips of a layout that nobody has seen yet are left out rather than guessed."""
    versions = _VERSIONS.search(text)
    rows = list(_device_cells(text))
    chips = [chip for first, second in pairwise(rows) if (chip := _chip(first, second))]
    return InfoTable(
        tool=versions["tool"] if versions else None,
        driver=versions["driver"] if versions else None,
        chips=tuple(chips),
    )


def display_ids(chips: Sequence[ChipRow]) -> tuple[str, ...]:
    """A name for each chip: the NPU's number, with the chip's number behind it where a card has several."""
    on_card = Counter(chip.npu for chip in chips)
    return tuple(f"{chip.npu}/{chip.chip}" if on_card[chip.npu] > 1 else chip.npu for chip in chips)


def _device_cells(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if "Process id" in line:
            return
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def _chip(first: list[str], second: list[str]) -> ChipRow | None:
    identity = _identity(first)
    if identity is None or len(second) != len(first) or _identity(second) is not None:
        return None
    npu, name, health = identity
    bus_id = _BUS_ID.search(second[-2])
    return ChipRow(
        npu=npu,
        chip=(second[0].split() or ["0"])[0],
        name=name,
        health=health,
        bus_id=bus_id[0] if bus_id else None,
        memory_mib=_memory(second[-1]),
    )


def _identity(cells: list[str]) -> tuple[str, str, str] | None:
    """Number, name and health in the first of a chip's two lines; the second has an address for health."""
    match cells:
        case [number_and_name, health, _]:
            number, _, name = number_and_name.partition(" ")
        case [number, name, health, _]:
            pass
        case _:
            return None
    told = health.isalpha() and health != "NA"
    return (number, name.strip(), health) if told and number.isdigit() and name else None


def _memory(usage: str) -> int | None:
    totals = [int(total) for total in _USED_AND_TOTAL.findall(usage)]
    return totals[-1] if totals and totals[-1] > 0 else None


def _said(answer: Completed) -> str:
    lines = [line.strip() for line in f"{answer.stderr}\n{answer.stdout}".splitlines() if line.strip()]
    return " / ".join(lines[:3]) if lines else f"it printed nothing and exited with {answer.returncode}"
