"""The guard against real pip and real uv, on an index of tiny wheels."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mirror.index import FakeIndex
from rich.console import Console
from uv import find_uv_bin

from ascendenv.compatibility.load import load
from ascendenv.errors import UsageError
from ascendenv.guard_files import without_guards
from ascendenv.host.guard import broken, guarded_environment
from ascendenv.host.machine import LocalMachine
from ascendenv.host.model import PipConfiguration
from ascendenv.install.environment import Environment
from ascendenv.install.guard import Guard
from ascendenv.install.guarding import status, turn_off, turn_on
from ascendenv.render.text import render

LINES = ("torch==2.9.0", "torch-npu==2.9.0", "triton-ascend==3.2.0", "triton==0+overwrites.triton.ascend")
NO_PIP = PipConfiguration(where="a test")
PIP, UV = "pip", "uv"


@pytest.fixture
def index(tmp_path: Path) -> FakeIndex:
    made = (
        FakeIndex(tmp_path / "index").add("torch", "2.9.0").add("torch", "2.10.0").add("torch_npu", "2.9.0")
    )
    made.add("triton_ascend", "3.2.0", files={"triton/__init__.py": "ASCEND = True\n"})
    made.add("triton", "3.5.0", files={"triton/__init__.py": "ASCEND = False\n"})
    made.add("vllm", "1.0", requires=["torch==2.10.0"]).add("xgrammar", "1.0", requires=["triton"])
    return made.add("harmless", "1.0", requires=["torch>=2"])


@pytest.fixture
def place(tmp_path: Path, index: FakeIndex) -> Path:
    """An environment with the stack in it, not yet guarded."""
    place = tmp_path / "some where" / "env"
    environ = clean(tmp_path, index)
    uv = find_uv_bin()
    run([uv, "venv", "--quiet", f"--python={sys.executable}", str(place)], environ)
    stack = ("torch==2.9.0", "torch-npu==2.9.0", "triton-ascend==3.2.0")
    run([uv, "pip", "install", "--quiet", f"--python={place / 'bin' / 'python'}", *stack], environ)
    return place


def clean(home: Path, index: FakeIndex) -> dict[str, str]:
    """An environment of variables that knows nothing but the index."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PIP_INDEX_URL": index.url,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_DEFAULT_INDEX": index.url,
        "UV_CACHE_DIR": str(home / "cache"),
        "UV_NO_PROGRESS": "1",
    }


def run(command: list[str], environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def installed(place: Path) -> dict[str, str]:
    lib = next((place / "lib").glob("python3*")) / "site-packages"
    names = (entry.name.removesuffix(".dist-info") for entry in lib.glob("*.dist-info"))
    return {name.rpartition("-")[0]: name.rpartition("-")[2] for name in names}


Install = Callable[[str, str], subprocess.CompletedProcess[str]]


@pytest.fixture(params=["activated", "run"])
def install(request: pytest.FixtureRequest, tmp_path: Path, index: FakeIndex, place: Path) -> Install:
    """Install with pip or uv, with the environment activated as anybody does, or under `ascendenv run`."""
    Guard(place).put(LINES, NO_PIP)
    environ = clean(tmp_path, index)
    if request.param == "run":
        environ |= {"VIRTUAL_ENV": str(place), **Guard(place).variables(environ)}
    activate = f"set -eu; . {shlex.quote(str(place / 'bin/activate'))}; "

    def install(tool: str, package: str) -> subprocess.CompletedProcess[str]:
        python = shlex.quote(str(place / "bin" / "python"))
        pip = f"{sys.executable} -m pip --python {python} install {package}"
        line = pip if tool == PIP else f"{find_uv_bin()} pip install {package}"
        script = line if request.param == "run" else activate + line
        return subprocess.run(
            ["bash", "-c", script], env=environ, capture_output=True, text=True, check=False, timeout=120
        )

    return install


@pytest.mark.parametrize("tool", [PIP, UV])
def test_torch_is_not_replaced(tool: str, install: Install, place: Path) -> None:
    done = install(tool, "vllm")

    assert done.returncode != 0
    assert "torch==2.10.0" in done.stdout + done.stderr
    assert installed(place)["torch"] == "2.9.0"


def test_pip_does_not_put_triton_over_triton_ascend(install: Install, place: Path) -> None:
    done = install(PIP, "xgrammar")

    assert done.returncode != 0
    assert "overwrites.triton.ascend" in done.stdout + done.stderr
    assert "triton" not in installed(place)


def test_uv_installs_without_triton(install: Install, place: Path) -> None:
    done = install(UV, "xgrammar")

    assert done.returncode == 0, done.stderr
    assert {"xgrammar", "triton_ascend"} <= installed(place).keys()
    assert "triton" not in installed(place)


@pytest.mark.parametrize("tool", [PIP, UV])
def test_what_does_no_harm_is_installed(tool: str, install: Install, place: Path) -> None:
    done = install(tool, "harmless")

    assert done.returncode == 0, done.stderr
    assert (installed(place)["harmless"], installed(place)["torch"]) == ("1.0", "2.9.0")


def test_a_lifted_guard_leaves_nothing_behind(tmp_path: Path, index: FakeIndex, place: Path) -> None:
    script = (place / "bin/activate").read_text()
    guard = Guard(place)
    guard.put(LINES, NO_PIP)
    assert guard.is_on

    guard.lift()

    assert (place / "bin/activate").read_text().rstrip() == script.rstrip()
    assert not guard.pip_conf.exists()
    assert not guard.is_on
    assert guard.variables(clean(tmp_path, index)) == {}


def test_deactivation_puts_the_variables_back(place: Path, tmp_path: Path, index: FakeIndex) -> None:
    Guard(place).put(LINES, NO_PIP)
    show = 'echo "$1:${UV_CONSTRAINT-}:${UV_EXCLUDE-unset}:${PIP_CONSTRAINT-unset}"; '
    quoted = shlex.quote(str(place / "bin/activate"))
    script = f"set -eu; . {quoted}; . {quoted}; deactivate; {show}"

    environ = {**clean(tmp_path, index), "UV_CONSTRAINT": "mine.txt"}
    done = run(["bash", "-c", script, "bash", "after"], environ)

    assert done.stdout == "after:mine.txt:unset:unset\n"


def test_what_went_round_the_guard_is_seen(tmp_path: Path, index: FakeIndex, place: Path) -> None:
    Guard(place).put(LINES, NO_PIP)
    seen = guarded_environment(LocalMachine(), place)
    assert seen is not None
    assert list(broken(seen)) == []
    assert seen.constraints == LINES

    uv = [find_uv_bin(), "pip", "install", "--quiet", f"--python={place / 'bin/python'}"]
    run([*uv, "torch==2.10.0", "triton"], clean(tmp_path, index))

    seen = guarded_environment(LocalMachine(), place)
    assert seen is not None
    assert list(broken(seen)) == [
        "torch 2.10.0 is installed; torch==2.9.0 belongs here",
        "triton 3.5.0 is installed, which overwrites triton-ascend",
    ]


def test_the_users_own_constraints_stay(tmp_path: Path, index: FakeIndex, place: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("harmless<1\n")
    guard = Guard(place)
    guard.pip_conf.write_text("# mine\n[global]\ntimeout = 5\n[install]\nno-input = true\n")
    guard.pip_conf.chmod(0o600)
    guard.put(LINES, NO_PIP.model_copy(update={"constraints": (str(own),)}))

    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin/python"), "install", "harmless"]
    done = subprocess.run(pip, env=clean(tmp_path, index), capture_output=True, text=True, check=False)

    assert "harmless<1" in done.stdout + done.stderr
    assert guard.pip_conf.stat().st_mode & 0o777 == 0o600
    guard.lift()
    assert guard.pip_conf.read_text() == "# mine\n[global]\ntimeout = 5\n[install]\nno-input = true\n"


def test_a_pip_conf_with_constraints_of_its_own_is_left_alone(place: Path) -> None:
    guard = Guard(place)
    guard.pip_conf.write_text("[install]\nconstraint = mine.txt\n")

    guard.put(LINES, NO_PIP)

    assert not guard.covers_pip
    assert guard.pip_conf.read_text() == "[install]\nconstraint = mine.txt\n"
    assert "PIP_CONSTRAINT" in guard.variables({})


def test_another_environments_guard_does_not_follow(place: Path) -> None:
    Guard(place).put(LINES, NO_PIP)
    other = "/other/ascendenv/guard/constraints.txt"

    given = Guard(place).variables({"UV_CONSTRAINT": f"mine.txt {other}"})

    assert without_guards(given["UV_CONSTRAINT"].split()) == ("mine.txt",)
    assert other not in given["UV_CONSTRAINT"]


def test_the_status_tells_known_conflicts_from_others(tmp_path: Path, index: FakeIndex, place: Path) -> None:
    matrix = load()
    row = next(row for row in matrix.extensions if (row.package, row.version) == ("vllm-ascend", "0.13.0"))
    index.add("vllm", "0.13.0", requires=["torch==2.10.0"]).add("vllm_ascend", "0.13.0")
    Guard(place).put(LINES, NO_PIP)
    uv = [find_uv_bin(), "pip", "install", "--quiet", "--no-deps", f"--python={place / 'bin/python'}"]
    run([*uv, "vllm==0.13.0", "vllm-ascend"], clean(tmp_path, index))

    found = status(Environment(place), matrix)
    (conflict,) = found.conflicts
    assert (found.on, found.broken, conflict.known) == (True, (), True)
    assert conflict.text == (
        "vllm 0.13.0 declares torch==2.10.0; with vllm-ascend 0.13.0 it runs on torch 2.9.0"
    )
    assert conflict.source == row.source

    turn_off(Environment(place))
    found = status(Environment(place), matrix.model_copy(update={"extensions": ()}))
    (conflict,) = found.conflicts
    assert (found.on, conflict.known) == (False, False)
    assert conflict.text == "vllm 0.13.0 declares torch==2.10.0, and torch is 2.9.0"


def test_it_cannot_be_turned_on_where_nothing_is_written_down(place: Path) -> None:
    with pytest.raises(UsageError, match="nothing is written down"):
        turn_on(Environment(place), NO_PIP)


def test_the_status_is_shown_with_its_constraints(place: Path) -> None:
    Guard(place).put(LINES, NO_PIP)
    console = Console(file=io.StringIO(), width=120)

    console.print(render(status(Environment(place), load())))

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith(f"Guard  on in {place}")
    assert "torch==2.9.0" in console.file.getvalue()
