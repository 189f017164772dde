"""`ascendenv install`, killed at each step and at any time, or interrupted: then it is run again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from installs import VERSIONS, installation
from mirror.cann import SET_ENV
from mirror.index import write_wheel
from trees import exact_tree
from uv import find_uv_bin

# The programs that are killed lie beside what they share with the quick tests.
DRIVERS = Path(__file__).parents[1] / "unit"
STEPS = ("environment", "packages", "activation", "probe")
MOMENTS = [(moment, step) for step in STEPS for moment in ("started", "finished")]
Tree = dict[str, tuple[str, int, int, int, int]]


class Machine:
    """Where one installation is tried again and again."""

    def __init__(self, root: Path, state: str) -> None:
        self.root = root
        self.place = root / "env"
        if state == "existing":
            theirs = write_wheel(root / "theirs", "theirs", "1.0")
            self._uv("venv", "--quiet", f"--python={sys.executable}", str(self.place))
            self._uv(
                "pip", "install", "--quiet", f"--python={self.place}/bin/python", "--no-index", str(theirs)
            )
            (self.place / "bin" / "torchrun").write_text("my own script")
        self.before = exact_tree(self.place)

    def _uv(self, *words: str) -> None:
        subprocess.run([find_uv_bin(), *words], check=True, env=self.environ)

    @property
    def environ(self) -> dict[str, str]:
        kept = {
            n: v for n, v in os.environ.items() if not n.startswith(("UV_", "PIP_", "ASCEND", "VIRTUAL_ENV"))
        }
        return {
            **kept,
            "PYTHONPATH": f"{DRIVERS.parents[1]}:{DRIVERS.parent}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASCENDENV_HOME": str(self.root / "home"),
            "ASCENDENV_CACHE_DIR": str(self.root / "cache"),
            "UV_CACHE_DIR": str(self.root / "uv"),
        }

    def start(self, kill_at: Sequence[str] = ()) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(DRIVERS / "install_driver.py"), str(self.root), str(self.place), *kill_at],
            env=self.environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, kill_at: Sequence[str] = ()) -> tuple[int, str, str]:
        with self.start(kill_at) as process:
            stdout, stderr = process.communicate()
        return process.returncode, stdout, stderr

    def found(self) -> Tree:
        """The tree that the last run has found when it began its work."""
        raw = json.loads((self.root / "found.json").read_text())
        return {name: tuple(entry) for name, entry in raw.items()}

    def require_installed(self, *, changed: bool) -> None:
        code, stdout, stderr = self.run()
        assert code == 0, stderr
        assert json.loads(stdout)["result"]["changed"] is changed
        site = next(self.place.glob("lib/python3*/site-packages"))
        for name, version in VERSIONS.items():
            assert version in (site / name / "__init__.py").read_text()
        after = exact_tree(self.place)
        theirs = {name for name in self.before if "theirs" in name or name == "bin/torchrun"}
        assert {name: self.before[name] for name in theirs} == {name: after[name] for name in theirs}
        assert not [name for name in after if name.startswith(".ascendenv")]


@pytest.mark.parametrize("state", ["new", "existing"])
def test_killed_at_each_step_then_run_again(state: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path, state)
    for moment in MOMENTS:
        code, _, stderr = machine.run(moment)
        assert code == -signal.SIGKILL, f"{moment}: {stderr}"
        assert machine.found() == machine.before, f"before {moment}"
    machine.require_installed(changed=True)
    assert machine.found() == machine.before
    machine.require_installed(changed=False)


def test_killed_at_any_time_then_run_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "existing")
    moments = random.Random(20261201)  # noqa: S311  # moments, not secrets
    for _ in range(5):
        with machine.start() as process:
            _wait_until(lambda: process.poll() is not None or (tmp_path / "home" / "journals").exists())
            time.sleep(moments.uniform(0, 0.4))
            os.killpg(process.pid, signal.SIGKILL)
        code, _, stderr = machine.run(("started", "environment"))
        assert code in {0, -signal.SIGKILL}, stderr
        if code == 0:  # it had come to its end before it was killed
            break
        assert machine.found() == machine.before
    code, _, stderr = machine.run()
    assert code == 0, stderr
    machine.require_installed(changed=False)


@pytest.mark.parametrize("state", ["new", "existing"])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_interrupted_in_a_step(number: signal.Signals, code: int, state: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path, state)
    pid = tmp_path / "pid"
    installation(
        tmp_path, machine.place, set_env=f"{SET_ENV}echo $$ >'{pid}.new'; mv '{pid}.new' '{pid}'; sleep 600"
    )
    with machine.start() as process:
        _wait_until(lambda: pid.exists() or process.poll() is not None)
        os.killpg(process.pid, number)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == code, stderr
    assert stdout == ""
    assert stderr.endswith(f"{machine.place} is as it was before\ninterrupted ({number.name} was received)\n")
    assert "Traceback" not in stderr
    assert exact_tree(machine.place) == machine.before
    _wait_until(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in 30 s"
        time.sleep(0.01)
