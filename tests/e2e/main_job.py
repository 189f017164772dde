"""What the end-to-end tests share: a fresh user's process environment, a checkout, the main job's result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from prefork import Start
from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]
# Variables of the caller that would make this another machine than a fresh one.
_FOREIGN = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH")
_SECONDS = 1800


@dataclass(frozen=True)
class Installed:
    """What ``bin/ascendenv install --simulate`` made."""

    checkout: Path
    home: Path
    path: Path
    result: Mapping[str, object] = field(repr=False)

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.path / "bin" / "python"

    def cli(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the checkout's ``ascendenv``."""
        environ = outer_environ(self.home) | variables
        return run([self.checkout / "bin" / "ascendenv", *arguments], environ, check=check)

    def environ(self) -> dict[str, str]:
        """A process environment with this one in effect, as ``ascendenv env`` gives it."""
        return outer_environ(self.home) | self._exports | {"ASCENDENV_SIM_STATE": str(own_machine(self.home))}

    @cached_property
    def _exports(self) -> dict[str, str]:
        exports: dict[str, str] = json.loads(self.cli("env", "--shell", "json").stdout)
        return exports


@dataclass(frozen=True)
class Simulated:
    """Runs programs on the simulated CANN."""

    installed: Installed
    start: Start = field(repr=False)

    def python(self, source: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python source in the environment; the caller looks at the exit code.

        Without variables of its own it runs in a fork of a process that has imported torch_npu: most of the
        time of a small program goes into that.
        """
        environ = self.installed.environ() | variables
        if variables:
            return run([self.installed.python, "-c", source], environ, check=False)
        ended = self.start(["-c", source], environ, Path.cwd(), _SECONDS)
        if ended.code is None:
            raise subprocess.TimeoutExpired(source, _SECONDS, ended.stdout, ended.stderr)
        return subprocess.CompletedProcess(source, ended.code, ended.stdout, ended.stderr)


def run(
    command: Sequence[object], environ: Mapping[str, str], *, check: bool = True, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program without standard input and keep what it prints."""
    done = subprocess.run(
        [str(word) for word in command],
        env=dict(environ),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if check:
        assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def beside(installed: Installed, packages: Sequence[str], folder: Path) -> dict[str, str]:
    """Install packages beside an environment, which stays as it is; the variables that make it see them.

    What the environment has is not installed again, foremost not another torch.
    """
    list_own = "import importlib.metadata as m; print(*{d.name for d in m.distributions()}, sep='\\n')"
    own = run([installed.python, "-c", list_own], installed.environ()).stdout.split()
    overrides = folder / "overrides.txt"
    overrides.write_text("".join(f"{name}; python_version < '3'\n" for name in own))
    options = ["--python", installed.python, "--target", folder / "packages", "--overrides", overrides]
    run([find_uv_bin(), "pip", "install", *options, *packages], os.environ)
    paths = [str(folder / "packages"), installed.environ().get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def own_machine(home: Path) -> Path:
    """Where this worker's simulated machine is: tests that run side by side share no device memory."""
    machine = home / "machines" / os.environ.get("PYTEST_XDIST_WORKER", "only")
    machine.mkdir(parents=True, exist_ok=True)
    return machine


def outer_environ(home: Path) -> dict[str, str]:
    """The environment of a fresh user: nothing activated, data in ``home``; builds are cached by content."""
    environ = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return environ | {"ASCENDENV_HOME": str(home)}


def copy_checkout(target: Path) -> Path:
    """A clone of the project, with what is changed here and not yet committed."""
    listed = run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], os.environ
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target
