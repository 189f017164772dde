from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machines import ASCEND, FakeMachine, laptop, npu_smi_table, server

from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.checks import CHECKS
from ascendenv.doctor.diagnose import diagnose
from ascendenv.doctor.model import Diagnosis, Finding
from ascendenv.errors import ExitCode
from ascendenv.host.gather import gather
from ascendenv.host.model import Host
from ascendenv.vocabulary import Severity


def examine(machine: FakeMachine) -> Diagnosis:
    return diagnose(gather(load(), machine.build()), load())


def of(diagnosis: Diagnosis, check_id: str) -> Finding:
    (found,) = (finding for finding in diagnosis.findings if finding.id == check_id)
    return found


def errors(diagnosis: Diagnosis) -> list[str]:
    return [finding.id for finding in diagnosis.findings if finding.severity is Severity.ERROR]


def troubles(diagnosis: Diagnosis) -> list[str]:
    worth = {Severity.ERROR, Severity.WARNING}
    return [finding.id for finding in diagnosis.findings if finding.severity in worth]


def healthy(root: Path) -> FakeMachine:
    return server(root).cann("9.1.0").nnal().environ(ASCEND_HOME_PATH=f"{ASCEND}/cann-9.1.0")


def a3(root: Path) -> FakeMachine:
    machine = FakeMachine(root, "aarch64", "openEuler 22.03", "2.34").python("3.10.14").compiler()
    machine.on_bus(16, "0xd803").device_nodes(16).driver("25.3.rc1").npu_smi(npu_smi_table(16, "Ascend910"))
    return machine.cann("8.5.0")


def old_layout(root: Path) -> FakeMachine:
    machine = (
        FakeMachine(root, "aarch64", "Ubuntu 22.04").python("3.11.9").compiler().on_bus(8).device_nodes(8)
    )
    machine.driver("24.1.rc3").npu_smi(npu_smi_table(8, "910B4", "24.1.rc3"))
    return machine.old_cann("8.2.RC1").old_cann("8.1.RC1", latest=False)


def container_without_version_file(root: Path) -> FakeMachine:
    machine = (
        FakeMachine(root, "aarch64").file("/.dockerenv").python("3.11.9").compiler().on_bus(8).device_nodes(1)
    )
    return machine.npu_smi("npu get board type failed. ret is -9005\n", returncode=1).cann("9.1.0")


@pytest.mark.parametrize("build", [healthy, a3, old_layout, container_without_version_file])
def test_healthy_machines_raise_no_alarm(tmp_path: Path, build: Callable[[Path], FakeMachine]) -> None:
    diagnosis = examine(build(tmp_path))
    assert troubles(diagnosis) == []
    assert diagnosis.exit_code is ExitCode.OK


def test_the_stack_in_one_line(tmp_path: Path) -> None:
    diagnosis = examine(healthy(tmp_path).cann("8.5.0"))
    assert diagnosis.stack == (
        "aarch64 · openEuler 24.03 · 8 x Ascend910B3 · driver 25.5.1 · CANN 9.1.0 (in effect), 8.5.0"
    )


def test_a_laptop_has_one_error_and_is_told_the_way_on(tmp_path: Path) -> None:
    diagnosis = examine(laptop(tmp_path))
    assert troubles(diagnosis) == ["npu.present"]
    assert diagnosis.exit_code is ExitCode.PROBLEM_FOUND
    assert diagnosis.findings[0].id == "npu.present"
    fixes = of(diagnosis, "npu.present").fix
    assert [fix.command for fix in fixes if fix.command] == [
        "ascendenv install --simulate",
        "ascendenv install",
    ]
    assert [word for fix in fixes for word in ("driver", "CANN", "PyTorch") if word in fix.note][:3] == [
        "driver",
        "CANN",
        "PyTorch",
    ]
    assert of(diagnosis, "npu.driver").severity is Severity.INFO
    assert of(diagnosis, "cann.found").severity is Severity.INFO
    assert diagnosis.stack == "x86_64 · Ubuntu 22.04 · no NPU · no driver · no CANN"


def test_an_npu_without_anything_else(tmp_path: Path) -> None:
    diagnosis = examine(laptop(tmp_path).on_bus(1))
    assert errors(diagnosis) == ["npu.driver", "npu.device-nodes", "cann.found"]


def test_a_driver_that_is_too_old(tmp_path: Path) -> None:
    diagnosis = examine(server(tmp_path, driver="24.1.0").cann("9.1.0"))
    assert errors(diagnosis) == ["driver.floor"]
    found = of(diagnosis, "driver.floor")
    assert found.title.en == "driver 24.1.0 is older than CANN 9.1.0 allows (25.2.0 or newer)"
    assert "24.1.0" in found.title.zh
    assert any("26.1.0" in fix.note for fix in found.fix)


@pytest.mark.parametrize(
    ("driver", "severity"),
    [
        ("25.5.1", Severity.OK),
        ("25.0.rc1", Severity.ERROR),
        ("99.0.0", Severity.INFO),
        ("weird", Severity.INFO),
    ],
)
def test_drivers_with_a_cann(tmp_path: Path, driver: str, severity: Severity) -> None:
    assert of(examine(server(tmp_path, driver=driver).cann("9.1.0")), "driver.floor").severity is severity


def test_only_the_cann_in_effect_is_held_against_the_driver(tmp_path: Path) -> None:
    machine = server(tmp_path, driver="25.0.rc1").cann("9.1.0").cann("8.5.0")
    diagnosis = examine(machine.environ(ASCEND_HOME_PATH=f"{ASCEND}/cann-8.5.0"))
    assert errors(diagnosis) == []


def test_half_installed_cann(tmp_path: Path) -> None:
    diagnosis = examine(server(tmp_path).cann("9.1.0", without=("lib64",)))
    assert errors(diagnosis) == ["cann.found", "cann.complete"]
    assert "lib64/libascendcl.so" in of(diagnosis, "cann.complete").seen[0].what


def test_half_installed_beside_a_whole_one_is_a_warning(tmp_path: Path) -> None:
    diagnosis = examine(server(tmp_path).cann("9.1.0", without=("opp",)).cann("8.5.0"))
    assert troubles(diagnosis) == ["cann.complete"]
    assert diagnosis.exit_code is ExitCode.OK


def test_half_installed_and_in_effect_is_an_error(tmp_path: Path) -> None:
    machine = server(tmp_path).cann("9.1.0", without=("opp",)).cann("8.5.0")
    diagnosis = examine(machine.environ(ASCEND_HOME_PATH=f"{ASCEND}/cann-9.1.0"))
    assert errors(diagnosis) == ["cann.complete"]


def test_a_toolkit_without_operators(tmp_path: Path) -> None:
    machine = server(tmp_path).cann("9.1.0", without=("opp",)).directory(f"{ASCEND}/cann-9.1.0/opp")
    assert troubles(examine(machine)) == ["cann.operators"]


def test_parts_of_another_version(tmp_path: Path) -> None:
    machine = healthy(tmp_path).file(f"{ASCEND}/cann-9.1.0/runtime/version.info", "Version=8.5.0\n")
    machine.file(f"{ASCEND}/cann-9.1.0/share/info/runtime/version.info", "Version=8.5.0\n")
    diagnosis = examine(machine)
    assert troubles(diagnosis) == ["cann.parts"]
    assert of(diagnosis, "cann.parts").seen[0].what == "runtime 8.5.0"


def test_a_cann_for_another_processor(tmp_path: Path) -> None:
    machine = server(tmp_path).cann("9.1.0", without=("aarch64-linux",))
    machine.file(
        f"{ASCEND}/cann-9.1.0/x86_64-linux/ascend_toolkit_install.info", "version=9.1.0\narch=x86_64\n"
    )
    assert errors(examine(machine)) == ["cann.arch"]


def test_ascend_home_path_that_leads_nowhere(tmp_path: Path) -> None:
    diagnosis = examine(server(tmp_path).cann("9.1.0").environ(ASCEND_HOME_PATH="/gone"))
    assert errors(diagnosis) == ["cann.in-effect"]


def test_a_container_without_device_nodes(tmp_path: Path) -> None:
    diagnosis = examine(laptop(tmp_path).file("/.dockerenv").on_bus(8).driver("25.5.1").cann("9.1.0"))
    assert errors(diagnosis) == ["npu.device-nodes"]
    found = of(diagnosis, "npu.device-nodes")
    assert found.title.en == "this container was given no NPU"
    assert "--device /dev/davinci0" in found.fix[0].command
    assert "docker container" in diagnosis.stack


def test_npu_smi_missing_is_a_warning(tmp_path: Path) -> None:
    machine = laptop(tmp_path).on_bus(8).device_nodes(8).driver("25.5.1").cann("9.1.0")
    diagnosis = examine(machine)
    assert troubles(diagnosis) == ["npu.smi"]
    assert "8 x NPU (910b)" in diagnosis.stack


def test_npu_smi_failing_gets_no_single_verdict(tmp_path: Path) -> None:
    machine = laptop(tmp_path).on_bus(8).device_nodes(8).driver("25.5.1").cann("9.1.0")
    machine.npu_smi("dcmi module initialize failed. ret is -8005\n", returncode=1)
    found = of(examine(machine), "npu.smi")
    assert found.severity is Severity.WARNING
    assert "-8005" in found.seen[0].what
    assert found.why.startswith("several things cause this")


@pytest.mark.parametrize(("code", "severity"), [("-9005", Severity.INFO), ("-8020", Severity.WARNING)])
def test_npu_smi_in_a_container(tmp_path: Path, code: str, severity: Severity) -> None:
    machine = container_without_version_file(tmp_path).npu_smi(f"dcmi failed. ret is {code}\n", returncode=1)
    assert of(examine(machine), "npu.smi").severity is severity


def test_health_that_is_not_ok(tmp_path: Path) -> None:
    machine = healthy(tmp_path).npu_smi(npu_smi_table(8, health="Alarm"))
    assert troubles(examine(machine)) == ["npu.health"]


def test_fewer_nodes_than_npus(tmp_path: Path) -> None:
    machine = laptop(tmp_path).device_nodes(6).driver("25.5.1").npu_smi(npu_smi_table(8)).cann("9.1.0")
    assert troubles(examine(machine)) == ["npu.device-nodes"]


def test_simulated_npus_are_no_npus(tmp_path: Path) -> None:
    machine = laptop(tmp_path).cann("9.1.0", parent="/sim")
    home = "/sim/cann-9.1.0"
    machine.file(f"{home}/share/info/simulator/version.info", "Version=0.1.0\n").program(
        f"{home}/bin/npu-smi"
    )
    machine.prints(f"{home}/bin/npu-smi info", npu_smi_table(2))
    diagnosis = examine(machine.environ(ASCEND_HOME_PATH=home, PATH=f"{home}/bin:/usr/bin"))
    assert diagnosis.simulated
    assert errors(diagnosis) == ["npu.present"]
    assert of(diagnosis, "cann.found").severity is Severity.INFO
    assert "2 x Ascend910B3 (simulated)" in diagnosis.stack
    assert "no driver" in diagnosis.stack
    assert "CANN 9.1.0 (simulated, in effect)" in diagnosis.stack


def test_no_fitting_python(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).compiler().python("3.6.15")
    assert errors(examine(machine)) == ["npu.present", "python.supported"]


def test_no_compiler(tmp_path: Path) -> None:
    assert troubles(examine(FakeMachine(tmp_path).python("3.11.9"))) == ["npu.present", "build.compiler"]


@pytest.mark.parametrize(
    ("glibc", "severity"), [("2.28", Severity.OK), ("2.17", Severity.WARNING), ("2.12", Severity.ERROR)]
)
def test_c_libraries(tmp_path: Path, glibc: str, severity: Severity) -> None:
    assert of(examine(FakeMachine(tmp_path, glibc=glibc)), "host.libc").severity is severity


def test_musl(tmp_path: Path) -> None:
    machine = (
        laptop(tmp_path).prints("getconf GNU_LIBC_VERSION", "", returncode=1).file("/lib/ld-musl-x86_64.so.1")
    )
    assert "host.libc" in errors(examine(machine))


def test_a_processor_that_ascend_has_nothing_for(tmp_path: Path) -> None:
    diagnosis = examine(FakeMachine(tmp_path, "riscv64").python("3.11.9").compiler())
    assert errors(diagnosis) == ["npu.present", "host.arch"]


def test_pip_sources_are_shown_without_credentials(tmp_path: Path) -> None:
    machine = laptop(tmp_path).environ(PIP_INDEX_URL="https://user:secret@example.org/simple")
    diagnosis = examine(machine)
    assert of(diagnosis, "pip.config").seen[0].what == "index https://***@example.org/simple"
    assert "secret" not in diagnosis.model_dump_json()


def test_pip_that_can_install_nothing(tmp_path: Path) -> None:
    diagnosis = examine(laptop(tmp_path).environ(PIP_NO_INDEX="1"))
    assert of(diagnosis, "pip.config").severity is Severity.WARNING


def test_what_could_not_be_examined_is_said(tmp_path: Path) -> None:
    diagnosis = examine(healthy(tmp_path).file("/etc/pip.conf", "no section\n"))
    assert troubles(diagnosis) == ["host.probes"]


def test_a_check_that_raises_harms_no_other(tmp_path: Path) -> None:
    def broken(_host: Host, _matrix: Matrix) -> Iterator[Finding]:
        raise ZeroDivisionError

    host = gather(load(), laptop(tmp_path).build())
    diagnosis = diagnose(host, load(), {"test.broken": broken, **CHECKS})
    found = of(diagnosis, "test.broken")
    assert (found.severity, found.title.en) == (Severity.WARNING, "check crashed: test.broken")
    assert found.seen[0].what == "ZeroDivisionError"
    assert len(diagnosis.findings) == 1 + len(diagnose(host, load()).findings)


def guarded(root: Path, *installed: str) -> FakeMachine:
    """A machine whose active environment has a guard, and these packages."""
    machine = (
        healthy(root)
        .environ(VIRTUAL_ENV="/env")
        .file(
            "/env/ascendenv/guard/constraints.txt",
            "# heading\ntorch==2.9.0\ntorch-npu==2.9.0\ntriton==0+overwrites.triton.ascend\n"
            'numpy<2; python_version < "3.13"\nnumpy>2; python_version >= "3.13"\n',
        )
    )
    for name in installed:
        machine.directory(f"/env/lib/python3.11/site-packages/{name}.dist-info")
    return machine


def test_an_environment_as_it_was_installed(tmp_path: Path) -> None:
    found = of(examine(guarded(tmp_path, "torch-2.9.0", "torch_npu-2.9.0", "numpy-1.26.4")), "env.guard")

    assert found.severity is Severity.OK
    assert found.seen[0].what == "5 constraints hold"


def test_a_guard_that_was_bypassed(tmp_path: Path) -> None:
    found = of(examine(guarded(tmp_path, "torch-2.13.0+cpu", "triton-3.5.0", "numpy-2.1.0")), "env.guard")

    assert found.severity is Severity.ERROR
    assert [seen.what for seen in found.seen] == [
        "torch 2.13.0+cpu is installed; torch==2.9.0 belongs here",
        "torch-npu is gone; torch-npu==2.9.0 belongs here",
        "triton 3.5.0 is installed, which overwrites triton-ascend",
        'numpy 2.1.0 is installed; numpy<2; python_version < "3.13" belongs here',
    ]
    assert found.fix[0].command == "ascendenv install --env /env --torch-npu 2.9.0"


def test_worst_first_and_in_both_languages(tmp_path: Path) -> None:
    diagnosis = examine(server(tmp_path, driver="24.1.0").cann("9.1.0", without=("opp",)).cann("8.5.0"))
    order = [list(Severity).index(finding.severity) for finding in diagnosis.findings]
    assert order == sorted(order)
    for finding in diagnosis.findings:
        assert finding.title.en
        assert finding.title.zh
        assert finding.id in CHECKS
        assert finding.severity is Severity.OK or finding.why
