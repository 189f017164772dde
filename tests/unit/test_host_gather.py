from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from machines import ASCEND, FakeMachine, laptop, npu_smi_table, server

from ascendenv.compatibility.load import load
from ascendenv.host.compiler import compiler
from ascendenv.host.container import container
from ascendenv.host.driver import record_problem
from ascendenv.host.files import read, real, which
from ascendenv.host.gather import gather
from ascendenv.host.interpreters import interpreters
from ascendenv.host.machine import Completed, LocalMachine
from ascendenv.host.model import Host
from ascendenv.vocabulary import Arch, ChipFamily


def test_a_server_with_eight_npus(tmp_path: Path) -> None:
    host = gather(load(), server(tmp_path).cann("9.1.0").build())
    assert (host.os.name, host.os.libc, host.os.libc_version) == ("openEuler 24.03", "glibc", "2.38")
    assert (host.cpu.arch, host.cpu.cores, host.cpu.model) == (Arch.AARCH64, 2, "Test CPU")
    assert [npu.id for npu in host.npus] == [str(number) for number in range(8)]
    assert {(npu.soc, npu.family, npu.memory_mib, npu.where) for npu in host.npus} == {
        ("Ascend910B3", ChipFamily.CHIP_910B, 65536, "npu-smi info")
    }
    assert host.chip is ChipFamily.CHIP_910B
    assert host.device_nodes[:2] == ("/dev/davinci0", "/dev/davinci1")
    assert host.driver is not None
    assert (host.driver.version, host.driver.where) == ("25.5.1", f"{ASCEND}/driver/version.info")
    assert host.firmware is not None
    assert host.firmware.version == "25.5.1"
    assert [cann.version for cann in host.canns] == ["9.1.0"]
    assert [python.version for python in host.interpreters] == ["3.11.9"]
    assert host.compiler is not None
    assert host.compiler.version == "11.4.0"
    assert host.warnings == ()


def test_a_laptop(tmp_path: Path) -> None:
    host = gather(load(), laptop(tmp_path).build())
    assert not any([host.npus, host.device_nodes, host.canns])
    assert not any([host.driver, host.firmware, host.npu_smi, host.container, host.chip])


def test_a_host_survives_the_way_through_json(tmp_path: Path) -> None:
    host = gather(load(), server(tmp_path).cann("9.1.0").nnal().build())
    assert Host.model_validate_json(host.model_dump_json()) == host


def test_this_machine() -> None:
    host = gather(load())
    assert host.cpu.machine != "unknown"
    assert host.os.kernel != "unknown"
    assert any(python.where == "the Python that runs ascendenv" for python in host.interpreters)


def test_without_npu_smi_the_nodes_and_the_bus_tell(tmp_path: Path) -> None:
    with_nodes = gather(load(), FakeMachine(tmp_path / "a").on_bus(8).device_nodes(1).build())
    assert [(npu.id, npu.family) for npu in with_nodes.npus] == [("davinci0", ChipFamily.CHIP_910B)]
    bus_only = gather(load(), FakeMachine(tmp_path / "b").on_bus(2, "0xd803").on_bus(0).build())
    assert [npu.family for npu in bus_only.npus] == [ChipFamily.A3, ChipFamily.A3]


def test_other_huawei_devices_are_no_npus(tmp_path: Path) -> None:
    assert gather(load(), FakeMachine(tmp_path).on_bus(4, "0xa222").build()).npus == ()


def test_numbers_of_another_vendor_are_no_npus(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).on_bus(1).file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n")
    assert gather(load(), machine.build()).npus == ()


def test_a_family_that_npu_smi_does_not_tell_comes_from_the_bus(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).on_bus(1, "0xd801").npu_smi(npu_smi_table(1, name="xxx"))
    assert [npu.family for npu in gather(load(), machine.build()).npus] == [ChipFamily.CHIP_910]


def test_in_a_container_npu_smi_tells_the_driver(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).file("/.dockerenv").npu_smi(npu_smi_table(1, driver="25.3.rc1"))
    driver = gather(load(), machine.build()).driver
    assert driver is not None
    assert (driver.version, driver.where) == ("25.3.rc1", "npu-smi info")


@dataclass(frozen=True)
class Hostile:
    """A machine on which looking at anything at all fails."""

    root: Path = Path("/nonexistent\0")
    environ: Mapping[str, str] = field(default_factory=lambda: {"PATH": "/bin", "HOME": "/root"})
    python: Path | None = None

    def run(self, _command: object) -> Completed | None:
        raise RuntimeError("https://user:secret@example.org refused")


def test_probes_that_raise_are_warnings_and_cost_nothing_else() -> None:
    host = gather(load(), Hostile())
    assert host.cpu.machine == host.os.name == "unknown"
    assert not any([host.canns, host.npus])
    assert any(
        warning.startswith("processor could not be examined: RuntimeError") for warning in host.warnings
    )
    assert "secret" not in " ".join(host.warnings)


@pytest.mark.parametrize(
    ("path", "variables", "kind"),
    [
        ("/.dockerenv", {}, "docker"),
        ("/run/.containerenv", {}, "podman"),
        ("/.dockerenv", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ("/var/run/secrets/kubernetes.io/serviceaccount/token", {}, "kubernetes"),
        ("/etc/motd", {}, None),
    ],
)
def test_container_marks(tmp_path: Path, path: str, variables: dict[str, str], kind: str | None) -> None:
    found = container(FakeMachine(tmp_path).file(path).environ(**variables).build())
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/run/systemd/container", "lxc\n", "lxc"),
        ("/proc/1/cgroup", "12:cpu:/kubepods/pod1\n", "kubernetes"),
        ("/proc/1/cgroup", "0::/docker/0123\n", "docker"),
        ("/proc/1/cgroup", "0::/init.scope\n", None),
        ("/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n", "wsl"),
    ],
)
def test_container_files(tmp_path: Path, path: str, text: str, kind: str | None) -> None:
    found = container(FakeMachine(tmp_path).file(path, text).build())
    assert (found.kind if found else None) == kind


def test_install_record_that_is_a_directory(tmp_path: Path) -> None:
    problem = record_problem(FakeMachine(tmp_path).directory("/etc/ascend_install.info").build())
    assert problem is not None
    assert "is a directory" in problem


def test_install_record_of_an_unfinished_installation(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).file("/etc/ascend_install.info", "Driver_Install_Status=incomplete\n")
    assert "Driver_Install_Status=incomplete" in (record_problem(machine.build()) or "")


def test_links_stay_inside_the_root(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).file("/etc/inside", "inside").link("/a/up", "../../../../etc/inside")
    machine.link("/a/absolute", "/etc/inside").link("/b", "/a")
    built = machine.build()
    assert real(built, "/b/absolute") == Path("/etc/inside")
    assert read(built, "/b/up") == read(built, "/b/absolute") == "inside"
    assert read(built, "/etc") is None
    assert read(built, "/missing") is None


def test_which_wants_a_program(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).file("/usr/local/bin/tool").program("/usr/bin/tool").build()
    assert which(machine, "tool") == Path("/usr/bin/tool")
    assert which(machine, "/usr/local/bin/tool") is None


def test_interpreters_once_each_and_newest_first(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).python("3.9.18").python("3.12.1", "/usr/bin/python3")
    machine.link("/usr/bin/python3.12", "python3").python("3.12.1", "/usr/bin/python3.12")
    machine.python("3.10.13", "/pyenv/versions/3.10.13/bin/python3.10").program("/pyenv/shims/python3.10")
    machine.program("/venv/bin/python3").file("/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.1\n")
    machine.program("/usr/bin/python3.13").program("/usr/bin/python3-config").program("/usr/bin/python2")
    found = interpreters(machine.environ(PATH="/venv/bin:/pyenv/shims:/usr/bin").build())
    assert [(python.version, str(python.path)) for python in found] == [
        ("3.12.1", "/usr/bin/python3"),
        ("3.10.13", "/pyenv/versions/3.10.13/bin/python3.10"),
        ("3.9.18", "/usr/bin/python3.9"),
    ]


def test_only_cpython_counts(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).python("3.11.9").python("3.10.13")
    question = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
    machine.prints(f"/usr/bin/python3.10 -I -S -c {question}", "pypy 3 10 13\n")
    assert [python.version for python in interpreters(machine.build())] == ["3.11.9"]


@pytest.mark.parametrize(
    ("chosen", "path", "where"),
    [
        ("", "/usr/bin/c++", "c++ --version"),
        ("/opt/clang++", "/opt/clang++", "$CXX"),
        ("ccache /opt/clang++", "/opt/clang++", "$CXX"),
        ("/opt/broken", "/usr/bin/c++", "c++ --version"),
        ("/opt/missing", "/usr/bin/c++", "c++ --version"),
        ("'unbalanced", "/usr/bin/c++", "c++ --version"),
    ],
)
def test_compilers(tmp_path: Path, chosen: str, path: str, where: str) -> None:
    machine = FakeMachine(tmp_path).compiler().program("/opt/clang++").program("/opt/broken")
    machine.prints("/opt/clang++ --version", "Debian clang version 14.0.6\nTarget: x\n")
    machine.prints("/opt/broken --version", "", returncode=1)
    found = compiler(machine.environ(CXX=chosen).build())
    assert found is not None
    assert (str(found.path), found.where) == (path, where)
    assert found.version == ("14.0.6" if chosen and path != "/usr/bin/c++" else "11.4.0")


def test_local_programs_that_cannot_run() -> None:
    machine = LocalMachine()
    assert machine.run(["/nonexistent/program"]) is None
    answer = machine.run(["sh", "-c", "echo hello; exit 3"])
    assert answer is not None
    assert (answer.returncode, answer.stdout) == (3, "hello\n")
