"""What a simulated CANN stands in for."""

from __future__ import annotations

from dataclasses import dataclass

from ascendenv.compatibility.model import Soc

# As many as the runtime's tables hold (kMostDevices in configuration.h of the simulator).
MOST_DEVICES = 64


@dataclass(frozen=True)
class SimulatedDevices:
    """How many NPUs to simulate, and the memory of each with its unit."""

    count: int = 2
    memory: str = "8GiB"


@dataclass(frozen=True)
class SimulatedCann:
    """Which CANN and which devices to simulate; ``driver`` is the version that npu-smi reports."""

    cann: str
    soc: Soc
    driver: str
    devices: SimulatedDevices = SimulatedDevices()

    @property
    def definitions(self) -> dict[str, str]:
        """The same for CMake."""
        return {
            "ASCENDENV_CANN_VERSION": self.cann,
            "ASCENDENV_SOC": self.soc.soc,
            "ASCENDENV_CUBE_CORES": str(self.soc.cube_cores),
            "ASCENDENV_VECTOR_CORES": str(self.soc.vector_cores),
            "ASCENDENV_CACHE": f"{self.soc.l2_mib}MiB",
            "ASCENDENV_DRIVER": self.driver,
            "ASCENDENV_DEVICES": str(self.devices.count),
            "ASCENDENV_MEMORY": self.devices.memory,
        }

    def __str__(self) -> str:
        return f"CANN {self.cann}, {self.devices.count} x {self.soc.soc} with {self.devices.memory} each"
