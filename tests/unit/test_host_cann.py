from __future__ import annotations

from pathlib import Path

from machines import ASCEND, FakeMachine

from ascendenv.host.cann import cann_installs

NEW = f"{ASCEND}/cann-9.1.0"


def test_one_of_the_flat_layout(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, "aarch64").cann("9.1.0").nnal()
    machine.link(f"{ASCEND}/cann", "cann-9.1.0").link(f"{ASCEND}/ascend-toolkit/latest", f"{ASCEND}/cann")
    machine.file(f"{ASCEND}/ascend-toolkit/set_env.sh").environ(
        ASCEND_HOME_PATH=f"{ASCEND}/ascend-toolkit/latest"
    )
    (found,) = cann_installs(machine.build())
    assert found.version == "9.1.0"
    assert found.arch == "aarch64"
    assert (found.root, found.home, found.set_env) == (Path(NEW), Path(NEW), Path(NEW, "set_env.sh"))
    assert found.nnal == Path(f"{ASCEND}/nnal/atb")
    assert found.parts == {"runtime": "9.1.0", "compiler": "9.1.0", "hccl": "9.1.0"}
    assert found.complete
    assert found.operators
    assert found.in_effect
    assert not found.simulated
    assert found.where == "/usr/local/Ascend"


def test_two_of_the_layout_with_latest(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, "aarch64").old_cann("8.2.RC1").old_cann("8.3.RC1", latest=False).nnal()
    machine.environ(ASCEND_HOME_PATH=f"{ASCEND}/ascend-toolkit/8.2.RC1")
    used, other = cann_installs(machine.build())
    assert (used.version, used.complete, used.in_effect) == ("8.2.RC1", True, True)
    assert used.root == Path(f"{ASCEND}/ascend-toolkit")
    assert used.home == Path(f"{ASCEND}/ascend-toolkit/latest")
    assert used.nnal == Path(f"{ASCEND}/nnal/atb")
    assert (other.version, other.missing, other.in_effect) == ("8.3.RC1", ("set_env.sh",), False)
    assert other.nnal == used.nnal


def test_all_places_are_looked_at_and_the_newest_is_first(tmp_path: Path) -> None:
    machine = (
        FakeMachine(tmp_path)
        .cann("8.5.0")
        .cann("9.0.0", parent="/root/Ascend")
        .cann("9.1.0", parent="/opt/a")
    )
    machine.cann("9.1.1", parent="/conda/Ascend").cann("9.2.0", parent="/elsewhere")
    machine.file(
        "/etc/Ascend/ascend_cann_install.info", "Install_Path=/opt/a\nToolkit_InstallPath=/opt/a/cann-9.1.0\n"
    )
    machine.environ(CONDA_PREFIX="/conda", ASCEND_TOOLKIT_HOME="/elsewhere/cann-9.2.0")
    found = cann_installs(machine.build())
    assert [(cann.version, cann.where) for cann in found] == [
        ("9.2.0", "$ASCEND_TOOLKIT_HOME"),
        ("9.1.1", "$CONDA_PREFIX/Ascend"),
        ("9.1.0", "/etc/Ascend/ascend_cann_install.info"),
        ("9.0.0", "$HOME/Ascend"),
        ("8.5.0", "/usr/local/Ascend"),
    ]


def test_half_installed(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).cann("9.1.0", without=("lib64", "opp", "set_env.sh"))
    (found,) = cann_installs(machine.build())
    assert not found.complete
    assert not found.operators
    assert found.missing == ("opp", "lib64/libascendcl.so", "lib64/libhccl.so", "set_env.sh")


def test_a_dead_link_is_no_library(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).cann("9.1.0", without=("lib64/libhccl.so",))
    machine.link(f"{NEW}/lib64/libhccl.so", "../gone/libhccl.so")
    assert cann_installs(machine.build())[0].missing == ("lib64/libhccl.so",)


def test_links_in_a_circle_are_survived(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).cann("9.1.0", without=("runtime",)).link(f"{NEW}/runtime", "runtime")
    assert cann_installs(machine.build())[0].missing == ("runtime",)


def test_without_a_record_the_parts_or_the_name_tell_the_version(tmp_path: Path) -> None:
    record = ("x86_64-linux",)
    by_part = FakeMachine(tmp_path / "a").cann("9.1.0", without=record).build()
    assert cann_installs(by_part)[0].version == "9.1.0"
    internal = FakeMachine(tmp_path / "b").cann("8.5.0", without=(*record, "runtime/version.info"))
    internal.file(f"{ASCEND}/cann-8.5.0/runtime/version.info", "Version=8.5.0.2.220\n")
    internal.file(f"{ASCEND}/cann-8.5.0/share/info/runtime/version.info", "Version=8.5.0.2.220\n")
    assert cann_installs(internal.build())[0].version == "8.5.0"


def test_version_cfg_translates_internal_numbers(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).old_cann(
        "8.0.0", without=("runtime/version.info", "compiler/version.info")
    )
    machine.directory(f"{ASCEND}/ascend-toolkit/8.0.0/runtime").directory(
        f"{ASCEND}/ascend-toolkit/8.0.0/compiler"
    )
    machine.file(
        f"{ASCEND}/ascend-toolkit/latest/version.cfg", "runtime_running_version=[7.6.0.1.220:8.0.0]\n"
    )
    assert cann_installs(machine.build())[0].parts == {"runtime": "8.0.0"}


def test_a_simulated_one_is_marked(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).cann("9.1.0", parent="/sim")
    machine.file("/sim/cann-9.1.0/share/info/simulator/version.info", "Version=0.1.0\n")
    (found,) = cann_installs(machine.environ(ASCEND_HOME_PATH="/sim/cann-9.1.0").build())
    assert found.simulated
    assert found.in_effect
    assert "simulator" not in found.parts


def test_directories_that_are_no_cann(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path).directory(f"{ASCEND}/cann-9.1.0").directory(f"{ASCEND}/driver")
    machine.file(f"{ASCEND}/cann-notes").environ(ASCEND_HOME_PATH="/nowhere", HOME="relative")
    assert cann_installs(machine.build()) == ()
