"""What surrounds a run: pytest from the cache, the device label, the shipped suite."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ascendenv.errors import CommandFailedError, UsageError
from ascendenv.verify import runner, tools
from ascendenv.verify.model import Check
from ascendenv.vocabulary import Layer, Outcome


@dataclass(frozen=True)
class FakeEnvironment:
    """An environment without torch, without a probe and without CANN."""

    path: Path
    variables: dict[str, str] = field(default_factory=dict)
    python: Path = Path(sys.executable)

    def environ(self) -> dict[str, str]:
        return {**os.environ, **self.variables}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASCENDENV_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def without_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let the suite use the pytest of this test run."""
    monkeypatch.setattr(runner, "pytest_for", lambda *_args, **_options: tmp_path)


def wheels(folder: Path, *, version: str = "9.0.0") -> Path:
    """A folder with a wheel that claims to be pytest."""
    folder.mkdir()
    info = f"pytest-{version}.dist-info"
    with zipfile.ZipFile(folder / f"pytest-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pytest.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: pytest\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def test_pytest_is_installed_once_into_the_cache(cache: Path, tmp_path: Path) -> None:
    options = ["--no-index", f"--find-links={wheels(tmp_path / 'wheels')}"]
    folder = tools.pytest_for(Path(sys.executable), uv_options=options)
    inode = folder.stat().st_ino
    again = tools.pytest_for(Path(sys.executable), uv_options=["--no-index"])

    assert folder.is_relative_to(cache)
    assert sys.implementation.cache_tag in folder.name
    assert (folder / "pytest.py").is_file()
    assert again == folder
    assert folder.stat().st_ino == inode


def test_a_failed_installation_leaves_nothing_and_can_be_repeated(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError) as caught:
        tools.pytest_for(Path(sys.executable), uv_options=["--no-index"])
    assert caught.value.hint is not None
    assert "pytest" in caught.value.hint
    assert [path for path in (cache / "verify-tools").iterdir() if path.is_dir()] == []

    links = f"--find-links={wheels(tmp_path / 'wheels')}"
    folder = tools.pytest_for(Path(sys.executable), uv_options=["--no-index", links])
    assert (folder / "pytest.py").is_file()


def test_simulated_is_what_the_cann_in_effect_says(tmp_path: Path) -> None:
    home = tmp_path / "cann"
    home.mkdir()
    assert not runner.is_simulated({})
    assert not runner.is_simulated({"ASCEND_HOME_PATH": str(home)})
    assert runner.is_simulated({"ASCENDENV_SIMULATED": "1"})

    marker = home / "share" / "info" / "simulator" / "version.info"
    marker.parent.mkdir(parents=True)
    marker.write_text("simulated=true\n")
    assert runner.is_simulated({"ASCEND_HOME_PATH": str(home)})


@pytest.mark.parametrize("devices", [[], [-1]])
def test_wrong_devices_are_the_users_mistake(devices: list[int], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--devices"):
        runner.verify(FakeEnvironment(tmp_path), on_check=lambda _: None, devices=devices)


def test_an_unknown_suite_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no suite `thorough`"):
        runner.verify(FakeEnvironment(tmp_path), on_check=lambda _: None, suite="thorough")


@pytest.mark.usefixtures("without_tools")
def test_the_quick_suite_where_nothing_is_installed_fails_at_its_lowest_layer(tmp_path: Path) -> None:
    told: list[Check] = []
    report = runner.verify(FakeEnvironment(tmp_path, {"ASCENDENV_SIMULATED": "1"}), on_check=told.append)

    assert not report.ok
    assert report.failed_layer is Layer.PROBE
    assert {check.layer for check in report.checks} == set(Layer)
    assert {check.outcome for check in report.checks if check.layer is Layer.PROBE} == {Outcome.FAILED}
    above = [check for check in report.checks if check.layer is not Layer.PROBE]
    assert {check.outcome for check in above} == {Outcome.NOT_RUN}
    assert {check.detail for check in above} == {"not run: layer probe failed: probe.devices"}
    assert report.device.model_dump() == {"simulated": True, "soc": None, "count": None}
    assert told == list(report.checks)


@pytest.mark.usefixtures("without_tools")
def test_every_check_of_the_suite_explains_itself(tmp_path: Path) -> None:
    checks = runner.verify(FakeEnvironment(tmp_path), on_check=lambda _: None).checks

    ids = [check.id for check in checks]
    assert len(ids) == len(set(ids))
    assert [check.layer for check in checks] == sorted(
        (check.layer for check in checks), key=list(Layer).index
    )
    for check in checks:
        assert check.id.startswith(f"{check.layer}.")
        assert check.title, check.id
        assert check.proves, check.id
        assert check.advice, check.id


def in_suite(code: str) -> str:
    """What ``code`` prints in a Python whose modules are the suite's."""
    path = f"import sys; sys.path.insert(0, {str(runner.SUITE)!r}); "
    command = [sys.executable, "-B", "-c", path + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_suite_imports_nothing_of_ascendenv() -> None:
    assert in_suite("import conftest, sys; print('ascendenv' in sys.modules)") == "False"
    for file in runner.SUITE.glob("*.py"):
        assert "from ascendenv." not in file.read_text()
        assert "import ascendenv." not in file.read_text()


def test_the_suite_knows_the_layers_in_their_order() -> None:
    layers = in_suite("from suite_checks import LAYERS; print(*LAYERS)").split()

    assert layers == [str(layer) for layer in Layer]
