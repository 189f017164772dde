"""What an installation needs, small: real wheels of a few bytes, a CANN of files alone, a machine.

The probe's wheel is the one thing that is not built here, for that takes long. Everything else, uv and its
virtual environments included, is real.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from mirror.cann import make_cann
from mirror.index import write_wheel

from ascendenv.host.model import CannInstall, Compiler, Cpu, Host, OperatingSystem, PipConfiguration
from ascendenv.install import probe
from ascendenv.install.environment import Environment
from ascendenv.install.installer import Installation
from ascendenv.resolve.model import Package, Pairing, Plan, Target
from ascendenv.vocabulary import Arch, Evidence, Verdict

VERSIONS = {"torch": "2.7.1", "torch_npu": "2.7.1.post8", "numpy": "1.26.4"}
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def host(*, compiler: bool = True) -> Host:
    """A machine without NPU, and without pip configuration."""
    return Host(
        os=OperatingSystem(
            name="Ubuntu 22.04", kernel="5.10", libc="glibc", libc_version="2.35", where="test"
        ),
        cpu=Cpu(machine="x86_64", arch=Arch.X86_64, model="test", cores=2, where="test"),
        pip=PipConfiguration(no_index=True, where="test"),
        compiler=Compiler(path=Path("/usr/bin/c++"), version="12", where="test") if compiler else None,
    )


def plan(folder: Path, *, sha256: str | None = None, url: str | None = None) -> Plan:
    """A plan for the wheels in `folder`; `sha256` and `url` make the last of them a wrong one."""
    packages = [_package(folder, name, version) for name, version in VERSIONS.items()]
    changes = {"sha256": sha256, "url": url}
    packages[-1] = packages[-1].model_copy(update={k: v for k, v in changes.items() if v is not None})
    return Plan(
        target=Target(arch=Arch.X86_64, python=HERE, glibc="2.35"),
        pairing=Pairing(
            cann="9.1.0",
            torch=VERSIONS["torch"],
            torch_npu=VERSIONS["torch_npu"],
            train="26.1.0",
            verdict=Verdict.PAIRED,
            evidence=Evidence.OFFICIAL,
        ),
        packages=tuple(packages),
        reasons=(),
        lock=_lock(packages),
    )


def _package(folder: Path, name: str, version: str) -> Package:
    wheel = write_wheel(folder, name, version)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Package(name=name.replace("_", "-"), version=version, url=wheel.as_uri(), sha256=digest)


def _lock(packages: list[Package]) -> str:
    lines = ['lock-version = "1.0"', 'created-by = "test"']
    for package in packages:
        lines += [
            "[[packages]]",
            f'name = "{package.name}"',
            f'version = "{package.version}"',
            f'wheels = [{{url = "{package.url}", hashes = {{sha256 = "{package.sha256}"}}}}]',
        ]
    return "\n".join(lines) + "\n"


def installation(
    root: Path, place: Path, *, of: Plan | None = None, set_env: str | None = None
) -> Installation:
    """Install into `place` what lies below `root`, on a CANN there; without verification."""
    cann = root / "Ascend" / "cann-9.1.0"
    if not cann.exists():
        make_cann(root / "Ascend", **({} if set_env is None else {"set_env": set_env}))
    return Installation(
        environment=Environment(place),
        plan=of or plan(root / "wheels"),
        interpreter=Path(sys.executable),
        cann=CannInstall(root=cann, home=cann, version="9.1.0", complete=True, where="test"),
        verify=False,
    )


def probe_wheel(root: Path) -> Path:
    """Stands in for the probe's wheel."""
    return write_wheel(root / "probe", *probe.name_and_version())
