"""Without ``--simulate``: a CANN that is on the machine already is found by its files and used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from e2e.main_job import Installed, outer_environ, run


@pytest.fixture
def machine(installed: Installed, tmp_path: Path) -> dict[str, str]:
    """A user whose home holds a CANN; being a simulated one, it is labelled so all the way."""
    home = tmp_path / "home"
    shutil.copytree(installed.path / "ascendenv" / "simulated", home / "Ascend", symlinks=True)
    return outer_environ(tmp_path / "data") | {"HOME": str(home), "UV_CACHE_DIR": _uv_cache(installed)}


def _uv_cache(installed: Installed) -> str:
    uv = installed.checkout / ".tool-venv" / "bin" / "uv"
    return run([uv, "cache", "dir"], outer_environ(installed.home)).stdout.strip()


def test_it_is_used_and_not_changed(installed: Installed, machine: dict[str, str], tmp_path: Path) -> None:
    cann = Path(machine["HOME"]) / "Ascend"
    before = sorted((path.relative_to(cann), path.lstat().st_mtime_ns) for path in cann.rglob("*"))
    target = tmp_path / "project" / "venv"
    command = [installed.checkout / "bin" / "ascendenv", "install", "--env", target, "--format", "json"]
    answer = json.loads(run(command, machine).stdout)["result"]
    assert answer["environment"] == str(target)
    assert answer["simulated"] is True
    assert {check["outcome"] for check in answer["verification"]["checks"]} == {"passed"}
    activation = json.loads((target / "ascendenv" / "activation.json").read_text())
    assert activation["values"]["ASCEND_HOME_PATH"].startswith(str(cann))
    assert sorted((path.relative_to(cann), path.lstat().st_mtime_ns) for path in cann.rglob("*")) == before
    assert not (target / "ascendenv" / "simulated").exists()


def test_another_version_than_the_one_here_is_refused(installed: Installed, machine: dict[str, str]) -> None:
    command = [installed.checkout / "bin" / "ascendenv", "install", "--cann", "9.0.0"]
    done = run(command, machine, check=False)
    assert done.returncode == 4
    assert "CANN 9.0.0 is not installed" in done.stderr
    assert "hint:" in done.stderr


def test_a_broken_set_env_is_explained_and_leaves_nothing(
    installed: Installed, machine: dict[str, str], tmp_path: Path
) -> None:
    for script in (Path(machine["HOME"]) / "Ascend").rglob("set_env.sh"):
        if not script.is_symlink():
            script.write_text("echo 'the disk of set_env.sh is gone' >&2\nreturn 3\n")
    target = tmp_path / "venv"
    command = [installed.checkout / "bin" / "ascendenv", "install", "--env", target]
    done = run(command, machine, check=False)
    assert done.returncode == 4
    assert "set_env.sh failed" in done.stderr
    assert "the disk of set_env.sh is gone" in done.stderr
    assert "Traceback" not in done.stderr
    assert not target.exists()
