"""What a simulated CANN stands in for."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_DEVICES = 2
DEFAULT_MEMORY = "8GiB"


@dataclass(frozen=True)
class SimulatedCann:
    """Which CANN and which devices to simulate; ``memory`` is each device's, with its unit."""

    cann: str
    soc: str
    devices: int = DEFAULT_DEVICES
    memory: str = DEFAULT_MEMORY

    @property
    def definitions(self) -> dict[str, str]:
        """The same for CMake."""
        return {
            "ASCENDENV_CANN_VERSION": self.cann,
            "ASCENDENV_SOC": self.soc,
            "ASCENDENV_DEVICES": str(self.devices),
            "ASCENDENV_MEMORY": self.memory,
            "ASCENDENV_CUBE_CORES": "24",
            "ASCENDENV_VECTOR_CORES": "48",
            "ASCENDENV_CACHE": "192MiB",
        }
