"""The catalogue of checks, in the order in which the stack is built."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ascendenv.doctor import driver, environment, hardware, software, system
from ascendenv.doctor.finding import Check

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "npu.present": hardware.npu_present,
        "npu.driver": hardware.npu_driver,
        "npu.device-nodes": hardware.npu_device_nodes,
        "npu.smi": hardware.npu_smi,
        "npu.health": hardware.npu_health,
        "cann.found": software.cann_found,
        "cann.complete": software.cann_complete,
        "cann.parts": software.cann_parts,
        "cann.operators": software.cann_operators,
        "cann.arch": software.cann_arch,
        "cann.in-effect": software.cann_in_effect,
        "driver.floor": driver.driver_floor,
        "env.guard": environment.env_guard,
        "python.supported": system.python_supported,
        "build.compiler": system.build_compiler,
        "host.arch": system.host_arch,
        "host.libc": system.host_libc,
        "host.probes": system.host_probes,
        "pip.config": system.pip_config,
    }
)
"""Each check yields findings under its own id only."""
