"""The tree of a simulated CANN, in each layout, read back by what reads the vendor's."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import ASCEND, FakeMachine

from ascendenv.activate import capture
from ascendenv.compatibility.load import load
from ascendenv.host.cann import cann_installs
from ascendenv.host.model import CannInstall
from ascendenv.install.progress import Silent
from ascendenv.paths import resource_dir
from ascendenv.simulate.build import Libraries
from ascendenv.simulate.choose import find_soc
from ascendenv.simulate.model import SimulatedCann, SimulatedDevices
from ascendenv.simulate.tree import make_tree, record_of

NEW = ["8.5.0", "8.5.2", "9.0.0-beta.2", "9.1.0", "9.2.0"]
OLD = ["8.1.RC1", "8.2.RC1", "8.3.RC2"]
OLD_ENVIRON = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH")


def made(root: Path, cann: str) -> Path:
    """A tree in `root/usr/local/Ascend` and the directory with its `set_env.sh`."""
    kept = root / "kept"
    (kept / "built" / "lib64").mkdir(parents=True)
    for name in ("libascendcl.so", "libhccl.so"):
        (kept / "built" / "lib64" / name).write_text("built")
    (kept / "source").symlink_to(resource_dir("device_runtime") / "simulator")
    target = root / ASCEND.lstrip("/")
    return make_tree(wanted(cann), Libraries(kept, "2.13.0+cpu"), target, Path("/usr/bin/c++"), Silent())


def wanted(cann: str) -> SimulatedCann:
    soc = find_soc(load(), "Ascend910B3")
    return SimulatedCann(cann, soc, driver="25.2.0", devices=SimulatedDevices(8, "64GiB"))


def read_back(root: Path) -> CannInstall:
    (found,) = cann_installs(FakeMachine(root).build())
    return found


@pytest.mark.parametrize("cann", [*OLD, *NEW])
def test_it_is_found_whole_and_known_as_simulated(cann: str, tmp_path: Path) -> None:
    root = made(tmp_path, cann)
    found = read_back(tmp_path)
    assert found.version == cann
    assert set(found.parts.values()) == {cann}
    assert (found.complete, found.operators, found.simulated) == (True, True, True)
    assert tmp_path / found.root.relative_to("/") == root
    assert found.arch is not None


@pytest.mark.parametrize("cann", NEW)
def test_since_8_5_a_directory_with_its_version_holds_everything(cann: str, tmp_path: Path) -> None:
    assert made(tmp_path, cann) == tmp_path / f"usr/local/Ascend/cann-{cann}"
    toolkit = tmp_path / "usr/local/Ascend/ascend-toolkit"
    assert (toolkit / "latest").resolve() == toolkit.parent / f"cann-{cann}"
    for script in (toolkit / "set_env.sh", toolkit.parent / "cann" / "set_env.sh"):
        activation = capture([script], python_dir=Path("/usr/bin"))
        assert activation.values["ASCEND_HOME_PATH"] == str(toolkit.parent / f"cann-{cann}")


@pytest.mark.parametrize("cann", OLD)
def test_up_to_8_3_latest_is_a_directory_of_links(cann: str, tmp_path: Path) -> None:
    assert made(tmp_path, cann) == tmp_path / "usr/local/Ascend/ascend-toolkit"
    latest = tmp_path / "usr/local/Ascend/ascend-toolkit/latest"
    assert (latest / "runtime").readlink() == Path(f"../{cann}/runtime")
    assert f"[simulated:{cann}]" in (latest / "version.cfg").read_text()
    activation = capture([latest.parent / "set_env.sh"], python_dir=Path("/usr/bin"))
    assert {activation.values[name] for name in OLD_ENVIRON} == {str(latest)}
    assert activation.values["ASCEND_OPP_PATH"] == f"{latest}/opp"
    assert "CMAKE_PREFIX_PATH" not in activation.prepend
    assert f"{latest}/tools/aml/lib64" in activation.prepend["LD_LIBRARY_PATH"]


@pytest.mark.parametrize("cann", ["8.2.RC1", "9.1.0"])
def test_everything_it_says_of_itself_says_simulated(cann: str, tmp_path: Path) -> None:
    home = made(tmp_path, cann)
    activation = capture([home / "set_env.sh"], python_dir=Path("/usr/bin"))
    assert activation.values["ASCENDENV_SIMULATED"] == "1"
    written = [path for path in home.parent.rglob("*") if path.name.endswith((".info", ".cfg", "set_env.sh"))]
    assert len(written) > 8
    for path in written:
        assert "simulated" in path.read_text().lower() or "Forwards to" in path.read_text(), path


def test_what_it_simulates_is_written_into_it(tmp_path: Path) -> None:
    assert record_of(made(tmp_path, "9.1.0")) == {
        "Version": "9.1.0",
        "simulated": "true",
        "soc": "Ascend910B3",
        "devices": "8",
        "memory": "64GiB",
        "cube_cores": "20",
        "vector_cores": "40",
        "l2_cache": "192MiB",
        "driver": "25.2.0",
        "torch": "2.13.0+cpu",
    }


@pytest.mark.parametrize("cann", ["8.2.RC1", "9.1.0"])
def test_sourcing_it_again_changes_nothing(cann: str, tmp_path: Path) -> None:
    script = made(tmp_path, cann) / "set_env.sh"
    once = capture([script], python_dir=Path("/usr/bin"))
    twice = capture([script, script], python_dir=Path("/usr/bin"))
    assert (once.prepend, once.append, once.values) == (twice.prepend, twice.append, twice.values)


def test_an_older_tree_in_the_same_place_is_gone(tmp_path: Path) -> None:
    made(tmp_path / "a", "9.1.0")
    target = tmp_path / "a" / ASCEND.lstrip("/")
    kept = Libraries(tmp_path / "a" / "kept", "2.13.0")
    make_tree(wanted("8.2.RC1"), kept, target, Path("/usr/bin/c++"), Silent())
    assert [path.name for path in target.iterdir()] == ["ascend-toolkit"]
