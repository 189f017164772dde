"""`bin/ascendenv` with a Python that only writes down what it is asked to do: no network, no real set-up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[2] / "bin" / "ascendenv"
NAMES = ("python3", *(f"python3.{minor}" for minor in range(10, 15)))

SYSTEM_PYTHON = """#!/bin/sh
case "$*" in
    *"sys.exit(sys.version_info < (3, 10))"*) exit "$(cat '{state}/too-old')" ;;
    *"import venv, ensurepip"*) exit "$(cat '{state}/no-ensurepip')" ;;
    *"sys.version_info[:2]"*) echo 3.11 ;;
    "-I -m venv "*) echo venv >>'{state}/log'; mkdir -p "$4/bin"; cp '{state}/tool-python' "$4/bin/python" ;;
    *) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""
TOOL_PYTHON = """#!/bin/sh
case "$*" in
    "-I -m pip "*)
        env | grep '^PIP_' >>'{state}/pip-settings'
        echo started >>'{state}/log'
        sleep "$(cat '{state}/pip-seconds')"
        exit "$(cat '{state}/pip-fails')" ;;
    "-I -m ascendenv"*) shift 3; printf '<%s>' "$@"; echo " in $PWD" ;;
    *) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


class Checkout:
    """A checkout with the launcher and what its Python does; each knob is a file that the scripts read."""

    def __init__(self, root: Path) -> None:
        self.path = root / "a checkout"
        self.state = root / "state"
        self.bin = root / "bin"
        for folder in (self.path / "bin", self.state, self.bin):
            folder.mkdir(parents=True)
        shutil.copy(LAUNCHER, self.path / "bin")
        (self.path / "pyproject.toml").write_text("[project]\n")
        for name in NAMES:
            self._script(self.bin / name, SYSTEM_PYTHON)
        self._script(self.state / "tool-python", TOOL_PYTHON)
        self.set(**{"too-old": 0, "no-ensurepip": 0, "pip-fails": 0, "pip-seconds": 0})

    def _script(self, path: Path, text: str) -> None:
        path.write_text(text.replace("{state}", str(self.state)))
        path.chmod(0o755)

    def set(self, **knobs: float) -> None:
        for name, value in knobs.items():
            (self.state / name).write_text(str(value))

    def only(self, name: str) -> None:
        """Of all the Pythons, `name` alone is there and new enough."""
        for other in NAMES:
            if other != name:
                (self.bin / other).write_text("#!/bin/sh\nexit 1\n")

    @property
    def launcher(self) -> Path:
        return self.path / "bin" / "ascendenv"

    @property
    def log(self) -> list[str]:
        return (self.state / "log").read_text().split() if (self.state / "log").exists() else []

    def environ(self, extra: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "ASCEND"))}
        return {**kept, "PATH": f"{self.bin}:{os.environ['PATH']}", **extra}

    def start(self, *words: str, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.launcher, *words],
            env=self.environ(extra),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(
        self, *words: str, launcher: Path | None = None, cwd: Path | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [launcher or self.launcher, *words],
            env=self.environ(extra),
            cwd=cwd,
            text=True,
            capture_output=True,
            check=False,
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_sets_up_once_and_passes_everything_on(checkout: Checkout, tmp_path: Path) -> None:
    first = checkout.run("run", "--", "a b", "", "$HOME", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == f"<run><--><a b><><$HOME> in {tmp_path}\n"
    assert "(once)" in first.stderr
    second = checkout.run("list", cwd=tmp_path)
    assert second.stdout == f"<list> in {tmp_path}\n"
    assert second.stderr == ""
    assert checkout.log == ["venv", "started"]


def test_through_a_chain_of_links(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "near").symlink_to(checkout.launcher)
    (tmp_path / "far dir").mkdir()
    (tmp_path / "far dir" / "ascendenv").symlink_to("../near")
    done = checkout.run("list", launcher=tmp_path / "far dir" / "ascendenv")
    assert done.stdout.startswith("<list>")
    assert (checkout.path / ".tool-venv").is_dir()


def test_sets_up_again_when_the_dependencies_or_the_place_have_changed(checkout: Checkout) -> None:
    checkout.run("list")
    (checkout.path / "pyproject.toml").write_text("[project]\ndependencies = ['more']\n")
    checkout.run("list")
    assert checkout.log.count("venv") == 2
    moved = checkout.path.with_name("moved")
    checkout.path.rename(moved)
    checkout.path = moved
    checkout.run("list")
    assert checkout.log.count("venv") == 3


def test_sets_up_again_when_its_python_is_gone(checkout: Checkout) -> None:
    checkout.run("list")
    (checkout.path / ".tool-venv" / "bin" / "python").unlink()
    assert checkout.run("list").stdout.startswith("<list>")
    assert checkout.log.count("venv") == 2


def test_an_interrupted_set_up_is_done_again(checkout: Checkout) -> None:
    checkout.set(**{"pip-seconds": 30})
    with checkout.start("list") as interrupted:
        _wait_until(lambda: "started" in checkout.log)
        os.killpg(interrupted.pid, signal.SIGKILL)
    checkout.set(**{"pip-seconds": 0})
    assert checkout.run("list").stdout.startswith("<list>")
    assert checkout.log == ["venv", "started"] * 2


def test_two_first_uses_at_once_set_up_once(checkout: Checkout) -> None:
    checkout.set(**{"pip-seconds": 0.3})
    with checkout.start("list") as first:
        _wait_until(lambda: "started" in checkout.log)
        second = checkout.run("list")
        assert first.communicate()[0].startswith("<list>")
    assert second.stdout.startswith("<list>")
    assert "waiting for it" in second.stderr
    assert checkout.log == ["venv", "started"]


def test_pip_settings_that_would_send_packages_elsewhere(checkout: Checkout) -> None:
    bad = {
        "PIP_TARGET": "/t",
        "PIP_PREFIX": "/p",
        "PIP_USER": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_ROOT": "/r",
    }
    done = checkout.run("list", launcher=None, cwd=None, PIP_INDEX_URL="https://mirror.test/simple", **bad)
    assert done.stdout.startswith("<list>")
    assert (checkout.state / "pip-settings").read_text() == "PIP_INDEX_URL=https://mirror.test/simple\n"


def test_without_ensurepip_it_names_the_package(checkout: Checkout) -> None:
    checkout.set(**{"no-ensurepip": 1})
    done = checkout.run("list")
    assert done.returncode == 2
    assert "cannot make virtual environments" in done.stderr
    assert "3.11" in done.stderr.split("hint:")[1]
    assert not (checkout.path / ".tool-venv").exists()


def test_too_old_a_python_is_passed_over(checkout: Checkout) -> None:
    checkout.only("python3.12")
    assert checkout.run("list").stdout.startswith("<list>")


def test_no_python_that_is_new_enough(checkout: Checkout) -> None:
    checkout.set(**{"too-old": 1})
    done = checkout.run("list")
    assert done.returncode == 2
    assert "needs Python 3.10 or newer" in done.stderr
    assert "ASCENDENV_PYTHON" in done.stderr


def test_the_python_that_was_named(checkout: Checkout) -> None:
    checkout.only("python3.11")
    spaced = checkout.bin / "my python"
    (checkout.bin / "python3.11").rename(spaced)
    assert checkout.run("list", ASCENDENV_PYTHON=str(spaced)).stdout.startswith("<list>")
    assert checkout.run("list").returncode == 0, "what is set up needs no Python to be looked for"
    assert checkout.log.count("venv") == 1
    refused = checkout.run("list", ASCENDENV_PYTHON="/no/such/python")
    assert refused.returncode == 2
    assert "/no/such/python is not a Python 3.10 or newer" in refused.stderr
    assert checkout.run("list").returncode == 0, "a wrong name takes nothing away"


def test_sets_up_again_when_another_python_is_named(checkout: Checkout) -> None:
    checkout.run("list")
    for _ in range(2):
        assert checkout.run("list", ASCENDENV_PYTHON=str(checkout.bin / "python3.12")).returncode == 0
    assert checkout.log.count("venv") == 2


def test_packages_that_cannot_be_had(checkout: Checkout) -> None:
    checkout.set(**{"pip-fails": 1})
    done = checkout.run("list")
    assert done.returncode == 4
    assert "could not be installed" in done.stderr
    assert "check the network" in done.stderr
    assert not (checkout.path / ".tool-venv").exists()


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in 20 s"
        time.sleep(0.01)
