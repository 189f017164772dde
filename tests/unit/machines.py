"""Fake machines: a directory tree and what its programs print, put together step by step."""

from __future__ import annotations

from pathlib import Path

from ascendenv.host.machine import Completed, RecordedMachine

ASCEND = "/usr/local/Ascend"


class FakeMachine:
    """A machine under ``root``. Every step returns the machine, so that one expression describes it."""

    def __init__(
        self, root: Path, arch: str = "x86_64", system: str = "Ubuntu 22.04", glibc: str = "2.35"
    ) -> None:
        self._root = root
        self._arch = arch
        self._environ = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/bin", "HOME": "/root"}
        self._programs: dict[str, Completed] = {}
        name, _, version = system.partition(" ")
        self.file("/etc/os-release", f'NAME="{name}"\nVERSION_ID="{version}"\nPRETTY_NAME="{system}"\n')
        self.file("/proc/sys/kernel/osrelease", "5.10.0\n")
        self.file(
            "/proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Test CPU\n\nprocessor\t: 1\nmodel name\t: Test CPU\n",
        )
        self.prints("uname -m", f"{arch}\n").prints("getconf GNU_LIBC_VERSION", f"glibc {glibc}\n")

    def file(self, path: str, text: str = "") -> FakeMachine:
        place = self._root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return self

    def directory(self, path: str) -> FakeMachine:
        (self._root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        return self

    def link(self, path: str, target: str) -> FakeMachine:
        place = self._root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        return self

    def program(self, path: str) -> FakeMachine:
        self.file(path, "#!/bin/sh\n")
        (self._root / path.lstrip("/")).chmod(0o755)
        return self

    def prints(self, command: str, stdout: str, returncode: int = 0) -> FakeMachine:
        self._programs[command] = Completed(returncode, stdout, "")
        return self

    def environ(self, **variables: str) -> FakeMachine:
        self._environ |= variables
        return self

    def python(self, version: str, path: str = "") -> FakeMachine:
        path = path or f"/usr/bin/python{'.'.join(version.split('.')[:2])}"
        question = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
        return self.program(path).prints(
            f"{path} -I -S -c {question}", f"cpython {version.replace('.', ' ')}\n"
        )

    def compiler(self, version: str = "11.4.0") -> FakeMachine:
        return self.program("/usr/bin/c++").prints(
            "/usr/bin/c++ --version", f"c++ (Ubuntu {version}-1) {version}\n"
        )

    def on_bus(self, count: int, device: str = "0xd802") -> FakeMachine:
        for number in range(count):
            place = f"/sys/bus/pci/devices/0000:{number + 1:02x}:00.0"
            self.file(f"{place}/vendor", "0x19e5\n").file(f"{place}/device", f"{device}\n")
        return self

    def device_nodes(self, count: int) -> FakeMachine:
        for name in (
            *(f"davinci{number}" for number in range(count)),
            "davinci_manager",
            "devmm_svm",
            "hisi_hdc",
        ):
            self.file(f"/dev/{name}")
        return self

    def driver(self, version: str) -> FakeMachine:
        self.file(f"{ASCEND}/driver/version.info", f"Version={version}\npackage_version={version}\n")
        self.file(f"{ASCEND}/firmware/version.info", f"Version=7.7.0.1.231\npackage_version={version}\n")
        return self.file(
            "/etc/ascend_install.info",
            f"Firmware_Install_Path_Param={ASCEND}\nDriver_Install_Path_Param={ASCEND}\n"
            "Driver_Install_Status=complete\n",
        )

    def npu_smi(self, answer: str, returncode: int = 0) -> FakeMachine:
        path = "/usr/local/bin/npu-smi"
        return self.program(path).prints(f"{path} info", answer, returncode)

    def cann(self, version: str, *, without: tuple[str, ...] = (), parent: str = ASCEND) -> FakeMachine:
        """Install a CANN of the layout that began with 8.5."""
        home = f"{parent}/cann-{version}"
        self._cann_files(home, version, without)
        for package in ("runtime", "hccl"):
            self.file(f"{home}/share/info/{package}/version.info", f"Version={version}\nversion_dir=cann\n")
        return self

    def old_cann(self, version: str, *, latest: bool = True, without: tuple[str, ...] = ()) -> FakeMachine:
        """Install a CANN of the layout up to 8.3; ``latest`` makes it the one that ``set_env.sh`` uses."""
        toolkit = f"{ASCEND}/ascend-toolkit"
        self._cann_files(f"{toolkit}/{version}", version, ("set_env.sh", *without))
        if latest:
            for name in ("opp", "runtime", "compiler", "lib64", f"{self._arch}-linux"):
                self.link(f"{toolkit}/latest/{name}", f"../{version}/{name}")
            self.file(f"{toolkit}/set_env.sh")
        return self

    def nnal(self) -> FakeMachine:
        return self.file(f"{ASCEND}/nnal/atb/set_env.sh")

    def build(self) -> RecordedMachine:
        return RecordedMachine(self._root, environ=dict(self._environ), programs=dict(self._programs))

    def _cann_files(self, home: str, version: str, without: tuple[str, ...]) -> None:
        record = f"package_name=Ascend-cann-toolkit\nversion={version}\narch={self._arch}\npath={home}\n"
        files = {
            "set_env.sh": "",
            "runtime/version.info": f"Version={version}\n",
            "compiler/version.info": f"Version={version}\n",
            "opp/built-in/op_impl/ai_core/tbe/kernel/config/kernel.json": "{}",
            "lib64/libascendcl.so": "",
            "lib64/libhccl.so": "",
            f"{self._arch}-linux/ascend_toolkit_install.info": record,
        }
        for name, text in files.items():
            if not name.startswith(without):
                self.file(f"{home}/{name}", text)


def npu_smi_table(count: int, name: str = "910B3", driver: str = "25.5.1", health: str = "OK") -> str:
    """What ``npu-smi info`` prints for ``count`` NPUs of one chip each, as drivers 22 to 25 lay it out."""
    head = [
        f"| npu-smi {driver:<24} Version: {driver:<52} |",
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |",
    ]
    rows = [
        line
        for number in range(count)
        for line in (
            f"| {number:<5} {name:<19} | {health:<13} | 96.7        32                0    / 0             |",
            f"| 0                         | {_bus_address(number)}  | 0           0 / 0    2800 / 65536 |",
        )
    ]
    return "\n".join([*head, *rows]) + "\n"


def _bus_address(number: int) -> str:
    return f"0000:{number + 1:02X}:00.0"


def laptop(root: Path) -> FakeMachine:
    """A healthy x86 machine without anything of Ascend."""
    return FakeMachine(root).python("3.11.9").compiler()


def server(root: Path, driver: str = "25.5.1") -> FakeMachine:
    """An aarch64 server with eight 910B3 and their driver, without CANN."""
    machine = FakeMachine(root, "aarch64", "openEuler 24.03", "2.38").python("3.11.9").compiler()
    return machine.on_bus(8).device_nodes(8).driver(driver).npu_smi(npu_smi_table(8, driver=driver))
