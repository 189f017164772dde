"""The processor."""

from __future__ import annotations

import re

from ascendenv.host.files import children, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import Cpu
from ascendenv.vocabulary import Arch

_MODEL_KEYS = ("model name", "Model Name", "Hardware", "cpu model")
_CPU_DIRECTORY = re.compile(r"cpu\d+")


def cpu(machine: Machine) -> Cpu:
    """Architecture by ``uname -m``, model by ``/proc/cpuinfo``, cores as the kernel counts them."""
    answer = machine.run(["uname", "-m"])
    name = answer.stdout.strip() if answer is not None and answer.stdout.strip() else "unknown"
    info = read(machine, "/proc/cpuinfo") or ""
    return Cpu(
        where="uname -m, /proc/cpuinfo",
        machine=name,
        arch=next((arch for arch in Arch if arch.value == name), None),
        model=_model(info),
        cores=_cores(machine, info),
    )


def _model(info: str) -> str:
    for line in info.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in _MODEL_KEYS and value.strip():
            return value.strip()
    return "unknown"


def _cores(machine: Machine, info: str) -> int:
    listed = sum(line.startswith("processor") for line in info.splitlines())
    online = [
        path for path in children(machine, "/sys/devices/system/cpu") if _CPU_DIRECTORY.fullmatch(path.name)
    ]
    return listed or len(online)
