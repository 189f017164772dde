"""``ascendenv simulate``: whose torch, one build for all trees, where they go, and what a program sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from simulations import builds, simulator, torch_environment
from trees import tree
from typer.testing import CliRunner, Result

from ascendenv import cli, paths
from ascendenv.errors import ExitCode
from ascendenv.render.text import SIMULATED

ROOT = Path(__file__).resolve().parents[2]
Invoke = Callable[..., Result]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user without any configuration, who has a home of his own."""
    foreign = ("ASCEND", "VIRTUAL_ENV", "CONDA_", "PYTHON", "LD_LIBRARY_PATH", "CXX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {
        **kept,
        "HOME": str(tmp_path),
        "ASCENDENV_HOME": str(tmp_path / "home"),
        "ASCENDENV_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return simulator(tmp_path / "checkout")


@pytest.fixture
def env(tmp_path: Path) -> Path:
    return torch_environment(tmp_path / "env", torch="2.13.0+cpu", torch_npu="2.13.0")


@pytest.fixture
def invoke(environ: dict[str, str], checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command line inside of this process."""
    monkeypatch.setattr(paths, "resource_dir", lambda name: checkout / name)
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    runner = CliRunner()
    return lambda *words: runner.invoke(cli.app, [str(word) for word in words], prog_name="ascendenv")


def run(environ: dict[str, str], checkout: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with the simulator of ``checkout``."""
    with start(environ, checkout, *words) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start(environ: dict[str, str], checkout: Path, *words: object) -> subprocess.Popen[str]:
    code = (
        "import sys\nfrom pathlib import Path\nfrom ascendenv import paths\n"
        f"paths.resource_dir = lambda name: Path({str(checkout)!r}) / name\n"
        "from ascendenv.cli import main\nmain()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, "simulate", *map(str, words)],
        env=environ,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )


def made(done: Result) -> dict[str, object]:
    assert done.exit_code == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)["result"]
    return result


def test_build_says_where_it_is_and_how_to_use_it(invoke: Invoke, env: Path) -> None:
    done = invoke(
        "simulate", "build", "--env", env, "--cann", "9.1.0", "--soc", "Ascend910B3", "--devices", 8
    )
    assert done.exit_code == 0, done.stderr
    first, what, where, following, _ = done.stdout.splitlines()
    assert first == SIMULATED
    assert "CANN 9.1.0, 8 x Ascend910B3 with 8GiB each, torch 2.13.0+cpu, torch_npu 2.13.0" in what
    assert (Path(where.split()[-1]) / "set_env.sh").is_file()
    assert "ascendenv simulate run" in following


def test_build_as_json(invoke: Invoke, env: Path) -> None:
    found = made(invoke("simulate", "build", "--env", env, "--memory", "64GiB", "--format", "json"))
    root = Path(str(found.pop("root")))
    assert root.name == "cann-9.2.0"
    assert (root / "set_env.sh").is_file()
    assert found == {
        "simulated": True,
        "cann": "9.2.0",
        "soc": "Ascend910B1",
        "devices": 2,
        "memory": "64GiB",
        "driver": "26.2.0",
        "environment": str(env),
        "torch": "2.13.0+cpu",
        "torch_npu": "2.13.0",
        "built": True,
    }


def test_one_build_serves_every_version_soc_and_number_of_devices(
    invoke: Invoke, env: Path, checkout: Path
) -> None:
    roots = set()
    for options in (
        "--cann 9.1.0",
        "--cann 8.2.RC1",
        "--chip Ascend910_9391",
        "--devices 8",
        "--devices 8 --memory 1GiB",
        "--devices 8",
    ):
        done = invoke("simulate", "build", "--env", env, "--format", "json", *options.split())
        roots.add(made(done)["root"])
    assert len(roots) == 5
    assert builds(checkout) == 1


def test_another_torch_needs_another_build(invoke: Invoke, env: Path, checkout: Path, tmp_path: Path) -> None:
    other = torch_environment(tmp_path / "other", torch="2.12.0+cpu", torch_npu="2.12.0")
    assert made(invoke("simulate", "build", "--env", env, "--format", "json"))["built"] is True
    found = made(invoke("simulate", "build", "--env", other, "--format", "json"))
    assert (found["built"], found["cann"]) == (True, "9.1.0")
    assert builds(checkout) == 2


def test_a_tree_in_a_place_of_ones_own(invoke: Invoke, env: Path, tmp_path: Path) -> None:
    place = tmp_path / "there" / "Ascend"
    command = ("simulate", "build", "--env", env, "--to", place, "--format", "json")
    assert made(invoke(*command, "--cann", "9.1.0"))["root"] == str(place / "cann-9.1.0")
    record = next(place.glob("cann-9.1.0/*-linux/ascend_toolkit_install.info")).read_text()
    assert f"path={place}/cann-9.1.0\n" in record
    assert made(invoke(*command, "--cann", "8.2.RC1"))["root"] == str(place / "ascend-toolkit")
    assert [path.name for path in place.iterdir()] == ["ascend-toolkit"], "the one before is gone"
    assert [path.name for path in place.parent.iterdir()] == ["Ascend"], "nothing is left beside it"


def test_what_is_no_simulated_cann_is_not_replaced(invoke: Invoke, env: Path, tmp_path: Path) -> None:
    place = tmp_path / "precious"
    (place / "cann-9.1.0").mkdir(parents=True)
    (place / "cann-9.1.0" / "set_env.sh").write_text("the vendor's\n")
    before = tree(place)
    done = invoke("simulate", "build", "--env", env, "--to", place)
    assert done.exit_code == ExitCode.USAGE
    assert "is no simulated CANN" in done.stderr
    assert tree(place) == before


@pytest.mark.parametrize(
    ("versions", "texts"),
    [
        ({}, ["has no torch", "ascendenv install --simulate --env"]),
        ({"torch": "2.13.0+cpu"}, ["has no torch_npu", "ascendenv install --simulate --env"]),
        (
            {"torch": "2.12.0+cpu", "torch_npu": "2.13.0"},
            ["torch_npu 2.13.0", "is built for torch 2.13.0, not 2.12.0+cpu"],
        ),
    ],
)
def test_an_environment_whose_torch_cannot_be_used(
    versions: dict[str, str], texts: list[str], invoke: Invoke, tmp_path: Path
) -> None:
    other = torch_environment(tmp_path / "other", **versions)
    done = invoke("simulate", "run", "--env", other, "--", "true")
    assert done.exit_code == ExitCode.USAGE
    for text in texts:
        assert text in done.stderr
    assert not (tmp_path / "cache").exists()


def test_a_cuda_build_of_torch(invoke: Invoke, env: Path) -> None:
    (packages,) = env.glob("lib/python3*/site-packages")
    (packages / "torch" / "lib" / "libtorch_cuda.so").touch()
    done = invoke("simulate", "build", "--env", env)
    assert done.exit_code == ExitCode.USAGE
    assert "is a CUDA build" in done.stderr
    assert f"ascendenv install --simulate --env {env} --torch-npu 2.13.0" in done.stderr


def test_the_active_environment_is_the_one_at_hand(
    invoke: Invoke, env: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = invoke("simulate", "build")
    assert done.exit_code == ExitCode.USAGE
    assert "there is no environment with torch and torch_npu" in done.stderr
    monkeypatch.setenv("VIRTUAL_ENV", str(env))
    assert made(invoke("simulate", "build", "--format", "json"))["environment"] == str(env)


@pytest.mark.parametrize(
    ("words", "code", "texts"),
    [
        ("--torch 2.7.9", ExitCode.USAGE, ["torch 2.7.9", "2.7.1"]),
        ("--torch 2.7.1", ExitCode.USAGE, ["no environment that ascendenv has set up", "install --simulate"]),
        ("--env ENV --torch 2.7.1", ExitCode.USAGE, ["has torch 2.13.0+cpu, not 2.7.1"]),
        ("--env ENV --cann 19.1.0", ExitCode.USAGE, ["19.1.0"]),
        ("--env ENV --soc Ascend910B9", ExitCode.USAGE, ["Ascend910B3"]),
        ("--env ENV --memory 64", ExitCode.USAGE, ["did you mean 64GiB?"]),
        ("--env ENV --devices 0", ExitCode.USAGE, ["1 to 64"]),
        ("--env ENV --devices two", ExitCode.USAGE, ["--devices", "integer"]),
        ("--env ENV --cann 8.3.RC1 --chip 950", ExitCode.NO_COMBINATION, ["--cann 9.2.0"]),
        ("--env /etc", ExitCode.USAGE, ["/etc is not a Python environment"]),
        ("--env ENV --to /etc", ExitCode.USAGE, ["/etc is there already"]),
    ],
)
def test_wrong_input(
    words: str, code: ExitCode, texts: list[str], invoke: Invoke, env: Path, tmp_path: Path
) -> None:
    done = invoke("simulate", "build", *words.replace("ENV", str(env)).split())
    assert done.exit_code == code, done.stderr
    assert done.stdout == ""
    for text in texts:
        assert text in done.stderr
    assert not (tmp_path / "cache").exists(), "wrong input leaves nothing behind"


def test_run_gives_the_program_its_arguments_and_returns_its_exit_code(
    environ: dict[str, str], checkout: Path, env: Path
) -> None:
    script = 'echo "$@"; command -v python; echo $ASCENDENV_SIMULATED $ASCEND_HOME_PATH; exit 7'
    done = run(environ, checkout, "run", "--env", env, "--", "sh", "-c", script, "sh", "--env", "-q")
    assert done.returncode == 7
    arguments, python, simulated = done.stdout.splitlines()
    assert (arguments, python) == ("--env -q", str(env / "bin" / "python"))
    assert simulated.startswith(f"1 {environ['ASCENDENV_CACHE_DIR']}/simulated/cann9.2.0-")
    assert SIMULATED in done.stderr.splitlines()


def test_run_builds_once_and_says_so_once(environ: dict[str, str], checkout: Path, env: Path) -> None:
    first = run(environ, checkout, "run", "--env", env, "--", "true")
    again = run(environ, checkout, "run", "--env", env, "--", "true")
    quiet = run(environ, checkout, "run", "--env", env, "--quiet", "--", "true")
    assert "compiled for torch 2.13.0+cpu" in first.stderr
    assert [again.stderr.splitlines()[0], len(again.stderr.splitlines())] == [SIMULATED, 2]
    assert quiet.stderr == ""
    assert builds(checkout) == 1


def test_run_passes_signals_on(environ: dict[str, str], checkout: Path, env: Path) -> None:
    done = run(environ, checkout, "run", "--env", env, "--", "sh", "-c", "kill -TERM $$")
    assert done.returncode == -signal.SIGTERM


def test_run_of_what_cannot_be_run(environ: dict[str, str], checkout: Path, env: Path) -> None:
    done = run(environ, checkout, "run", "--env", env, "--", "no-such-program")
    assert done.returncode == ExitCode.USAGE
    assert "`no-such-program` cannot be run: No such file" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing_that_counts(
    number: signal.Signals, environ: dict[str, str], checkout: Path, env: Path, tmp_path: Path
) -> None:
    project = checkout / "device_runtime" / "simulator" / "CMakeLists.txt"
    begun, go = tmp_path / "begun", tmp_path / "go"
    slow = f"file(TOUCH {begun})\nif(NOT EXISTS {go})\n  execute_process(COMMAND sleep 60)\nendif()\n"
    project.write_text(project.read_text() + slow)
    with start(environ, checkout, "run", "--env", env, "--", "true") as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "interrupted" in said
    assert not list((tmp_path / "cache").glob("builds/*/built"))
    assert not list((tmp_path / "cache").glob("simulated/*"))
    go.touch()
    assert run(environ, checkout, "run", "--env", env, "--", "true").returncode == 0
