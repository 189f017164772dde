"""All probes together: a machine as one :class:`~ascendenv.host.model.Host`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from ascendenv.compatibility.model import Matrix
from ascendenv.host.cann import cann_installs
from ascendenv.host.compiler import compiler
from ascendenv.host.container import container
from ascendenv.host.cpu import cpu
from ascendenv.host.driver import driver, firmware, record_problem
from ascendenv.host.guard import guarded_environment
from ascendenv.host.interpreters import interpreters
from ascendenv.host.machine import LocalMachine, Machine
from ascendenv.host.model import Cpu, Driver, Host, NpuSmi, OperatingSystem, PipConfiguration
from ascendenv.host.npu import device_nodes, npus
from ascendenv.host.npu_smi import InfoTable, npu_smi
from ascendenv.host.os_release import UNKNOWN, operating_system
from ascendenv.host.pip_config import pip_configuration
from ascendenv.host.urls import redact_text

T = TypeVar("T")
N = TypeVar("N")

_PROBES_AT_ONCE = 4
_NO_TABLE = InfoTable(None, None, ())


@dataclass
class _Probes:
    """Runs probes and keeps what went wrong: one that raises counts as having found nothing."""

    warnings: list[str] = field(default_factory=list)

    def ask(self, subject: str, probe: Callable[[], T], nothing: N) -> T | N:
        """What the probe found, or ``nothing``."""
        try:
            return probe()
        except Exception as error:  # noqa: BLE001  # whatever a strange machine provokes, the other facts stay useful
            reason = redact_text(f"{type(error).__name__}: {error}")
            self.warnings.append(f"{subject} could not be examined: {reason}")
            return nothing


def gather(matrix: Matrix, machine: Machine | None = None) -> Host:
    """Look at ``machine``, by default this one. Programs are asked side by side; nothing is written."""
    on = machine if machine is not None else LocalMachine()
    probes = _Probes()
    with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
        smi_answer = pool.submit(probes.ask, "npu-smi", lambda: npu_smi(on), (None, _NO_TABLE))
        python_answer = pool.submit(probes.ask, "Python interpreters", lambda: interpreters(on), ())
        compiler_answer = pool.submit(probes.ask, "C++ compiler", lambda: compiler(on), None)
        os_facts = probes.ask("operating system", lambda: operating_system(on), _NO_SYSTEM)
        cpu_facts = probes.ask("processor", lambda: cpu(on), _NO_CPU)
        smi, table = smi_answer.result()
        host = Host(
            os=os_facts,
            cpu=cpu_facts,
            npus=probes.ask("NPUs", lambda: npus(on, matrix, smi, table), ()),
            device_nodes=probes.ask("device nodes", lambda: device_nodes(on), ()),
            driver=probes.ask("driver", lambda: driver(on), None) or _driver_by_tool(smi),
            firmware=probes.ask("firmware", lambda: firmware(on), None),
            npu_smi=smi,
            ascend_home_path=on.environ.get("ASCEND_HOME_PATH") or None,
            canns=probes.ask("CANN installations", lambda: cann_installs(on), ()),
            interpreters=python_answer.result(),
            compiler=compiler_answer.result(),
            pip=probes.ask(
                "pip configuration", lambda: pip_configuration(on, warn=probes.warnings.append), _NO_PIP
            ),
            guarded=probes.ask("active environment", lambda: guarded_environment(on), None),
            container=probes.ask("container", lambda: container(on), None),
        )
    problem = probes.ask("driver's install record", lambda: record_problem(on), None)
    return host.model_copy(update={"warnings": (*probes.warnings, *([problem] if problem else []))})


def _driver_by_tool(smi: NpuSmi | None) -> Driver | None:
    """Containers often lack the driver's version file; there npu-smi is the one to know."""
    if smi is None or smi.simulated or smi.driver_version is None:
        return None
    return Driver(version=smi.driver_version, where="npu-smi info")


_NO_SYSTEM = OperatingSystem(
    name=UNKNOWN, kernel=UNKNOWN, libc=UNKNOWN, libc_version=UNKNOWN, where="not examined"
)
_NO_CPU = Cpu(machine=UNKNOWN, arch=None, model=UNKNOWN, cores=0, where="not examined")
_NO_PIP = PipConfiguration(where="not examined")
