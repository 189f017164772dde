"""The command line: wrong input gets a paragraph, a hint and its exit code; results go where they belong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from installs import host, installation, probe_wheel
from trees import exact_tree
from typer.testing import CliRunner, Result

from ascendenv import __version__, cli, commands
from ascendenv.errors import ExitCode
from ascendenv.install import probe
from ascendenv.install.installer import install
from ascendenv.install.progress import Silent

ROOT = Path(__file__).resolve().parents[2]
Invoke = Callable[..., Result]
COMMANDS = [
    *("install", "resolve", "doctor", "verify", "run", "env", "list"),
    *("matrix", "matrix list", "matrix show", "matrix why", "matrix check", "matrix schema"),
    *("simulate", "simulate build", "simulate run"),
]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user without any configuration, who has a home of his own."""
    foreign = ("UV_", "PIP_", "ASCEND", "VIRTUAL_ENV", "CONDA_", "PYTHON", "LD_LIBRARY_PATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {
        **kept,
        "HOME": str(tmp_path),
        "ASCENDENV_HOME": str(tmp_path / "home"),
        "ASCENDENV_CACHE_DIR": str(tmp_path / "cache"),
        "PIP_CONFIG_FILE": os.devnull,
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "PYTHONPATH": str(ROOT),
    }


def run(
    environ: dict[str, str], *words: str, before: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The real command line in a process of its own; `before` is Python code to run first."""
    code = f"import sys\n{before}\nfrom ascendenv.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environ,
        text=True,
        capture_output=True,
        check=False,
        cwd=cwd,
    )


@pytest.fixture
def invoke(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command line inside of this process: quick, for what ends before anything is begun."""
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    runner = CliRunner()
    return lambda *words: runner.invoke(cli.app, words, prog_name="ascendenv")


@pytest.mark.parametrize(
    ("words", "code", "texts"),
    [
        ("instal", 2, ["No such command 'instal'", "install"]),
        ("list --formt json", 2, ["--formt", "--format"]),
        ("list --format xml", 2, ["'xml'", "'text', 'json'"]),
        ("env --shell zsh", 2, ["'zsh'", "'fish'"]),
        ("resolve --torch 2.7.9", 2, ["torch 2.7.9", "2.7.1"]),
        ("resolve --torch-npu 2.7.1.pst8", 2, ["2.7.1.pst8", "2.7.1.post8"]),
        ("resolve --cann 9.1.0x", 2, ["9.1.0x"]),
        ("resolve --cann 19.1.0", 2, ["19.1.0"]),
        ("resolve --offline --chip 910x", 2, ["910x", "did you mean"]),
        ("resolve --offline --arch arch64", 2, ["arch64", "aarch64"]),
        ("resolve --offline --python 2.7", 2, ["2.7"]),
        ("resolve --offline --python three", 2, ["three"]),
        ("install --simulate --offline --python 3.77", 2, ["3.77"]),
        ("install --simulate --env /etc/passwd", 2, ["/etc/passwd is a file"]),
        ("install --simulate --env /etc", 2, ["/etc is neither"]),
        ("install --simulate --env /etc/passwd/env", 2, ["/etc/passwd is a file"]),
        ("install --simulate --env ~nobody-of-that-name/env", 2, ["~nobody-of-that-name"]),
        ("install --simulate --env /a:b", 2, ["colons"]),
        ("install --simulate --offline --devices 99", 2, ["99 devices", "1 to 64"]),
        ("install --simulate --offline --memory 64", 2, ["did you mean 64GiB?"]),
        ("install --devices 8", 2, ["--simulate"]),
        ("simulate run", 2, ["Missing argument"]),
        ("simulate run -- true", 2, ["no environment with torch", "ascendenv install"]),
        ("run", 2, ["Missing argument"]),
        ("run -- true", 2, ["no environment yet", "ascendenv install"]),
        ("run --env /etc -- true", 2, ["/etc is not an environment"]),
        ("run --bogus true", 2, ["--bogus"]),
        ("env", 2, ["no environment yet"]),
        ("verify", 2, ["no environment yet"]),
        ("verify --env /etc", 2, ["/etc is not an environment"]),
        ("matrix show bogus", 2, ["'bogus'"]),
        ("matrix show cann 9.1.0 torch 2.7.1", 2, ["ascendenv matrix why cann 9.1.0 torch 2.7.1"]),
        ("matrix check --offline", 6, ["--against FILE"]),
        ("matrix check --against /none.md", 2, ["/none.md cannot be read: No such file"]),
        ("matrix check --against /etc/hostname", 2, ["no table that is understood"]),
        ("matrix list --chip 910x", 2, ["910x"]),
        ("matrix list drivers --torch 2.7.1", 2, ["narrowed by --cann"]),
        ("matrix list driver", 2, ["did you mean `drivers`?"]),
        ("matrix why torch newest", 2, ["'newest' is no torch"]),
        ("matrix list --torch newest", 2, ["'newest' is no version of torch"]),
    ],
)
def test_wrong_input(words: str, code: int, texts: list[str], invoke: Invoke, tmp_path: Path) -> None:
    done = invoke(*words.split())
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(("error: ", "Usage: ")), "nothing is shown as begun"
    for text in texts:
        assert text in done.stderr
    assert not (tmp_path / "home").exists(), "wrong input leaves nothing behind"


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("#!/bin/sh\necho no libpython >&2; exit 127\n", 0o755, "no libpython"),
        ("#!/no/such/interpreter\n", 0o755, "exited with 127"),
        ("\x7fELF of another machine", 0o755, "exited with 126"),
        ("not executable", 0o644, "Permission denied"),
    ],
)
def test_an_environment_whose_python_is_broken(
    text: str, mode: int, reason: str, invoke: Invoke, tmp_path: Path
) -> None:
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    python.write_text(text)
    python.chmod(mode)
    before = exact_tree(tmp_path / "env")
    done = invoke("install", "--simulate", "--env", str(tmp_path / "env"))
    assert done.exit_code == ExitCode.USAGE, done.stderr
    assert "does not run" in done.stderr
    assert reason in done.stderr
    assert exact_tree(tmp_path / "env") == before


def test_another_architecture_cannot_be_installed(invoke: Invoke) -> None:
    other = "x86_64" if os.uname().machine == "aarch64" else "aarch64"
    done = invoke("install", "--simulate", "--arch", other)
    assert done.exit_code == ExitCode.USAGE
    assert "ascendenv resolve" in done.stderr


def test_failures_as_json(invoke: Invoke) -> None:
    done = invoke("resolve", "--torch", "2.7.9", "--format", "json")
    assert done.exit_code == ExitCode.USAGE
    assert done.stderr == ""
    envelope = json.loads(done.stdout)
    assert envelope == {
        "schema": "ascendenv/resolve/1",
        "ok": False,
        "exit_code": 2,
        "result": None,
        "messages": [
            {
                "level": "error",
                "code": "usage",
                "text": "the matrix knows no torch 2.7.9",
                "hint": "did you mean 2.7.1?",
            }
        ],
    }


def _fail() -> None:
    raise IndexError


def test_a_bug_asks_for_a_report(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "examine", _fail)
    done = invoke("doctor", "--format", "json")
    assert done.exit_code == ExitCode.INTERNAL
    (message,) = json.loads(done.stdout)["messages"]
    assert "bug in ascendenv: IndexError" in message["text"]
    (report,) = (tmp_path / "home" / "bugs").iterdir()
    assert str(report) in message["hint"]
    assert "Traceback" in report.read_text()


def test_a_bug_where_nothing_can_be_written(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_HOME", "/proc/ascendenv")
    monkeypatch.setattr(commands, "examine", _fail)
    done = invoke("doctor")
    assert done.exit_code == ExitCode.INTERNAL
    report = Path(done.stderr.split()[-1])
    assert "Traceback" in report.read_text()
    report.unlink()


def test_help_of_every_command_needs_nothing_heavy(environ: dict[str, str]) -> None:
    """typer itself takes pydantic for the help of a command, though not for the list of commands."""
    code = (
        "import sys; from typer.testing import CliRunner; from ascendenv import cli\n"
        "heavy = {'requests', 'rich', 'uv', 'packaging', 'platformdirs', 'filelock'}\n"
        f"for command in [''] + {COMMANDS!r}:\n"
        "    done = CliRunner().invoke(cli.app, [*command.split(), '--help'])\n"
        "    assert done.exit_code == 0 and 'Usage:' in done.stdout, command\n"
        "    if not command: assert 'pydantic' not in sys.modules\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, text=True, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_version(environ: dict[str, str]) -> None:
    assert run(environ, "--version").stdout == f"ascendenv {__version__}\n"


def test_a_reader_that_goes_away(environ: dict[str, str]) -> None:
    for words in ("matrix list", "--help"):
        done = subprocess.run(
            ["sh", "-c", f"'{sys.executable}' -m ascendenv {words} | true"],
            env=environ,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.stderr == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(number: signal.Signals, code: int, environ: dict[str, str]) -> None:
    before = (
        "import signal\nfrom ascendenv import commands\n"
        f"commands.examine = lambda: signal.raise_signal({int(number)})\n"
    )
    done = run(environ, "doctor", before=before)
    assert done.returncode == code
    assert (done.stdout, done.stderr) == ("", f"interrupted ({number.name} was received)\n")


@pytest.fixture
def installed(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that is ready to be used."""
    for name in ("ASCENDENV_HOME", "ASCENDENV_CACHE_DIR", "UV_CACHE_DIR"):
        monkeypatch.setenv(name, environ[name])
    monkeypatch.setattr(probe, "_wheel", lambda *_: probe_wheel(tmp_path))
    wanted = installation(tmp_path, tmp_path / "an env")
    install(wanted, host(), Silent(), lambda _: None)
    return wanted.environment.path


@pytest.mark.usefixtures("installed")
def test_run_gives_the_command_everything(environ: dict[str, str]) -> None:
    show = (
        "import os, sys, torch; print(torch.__version__, sys.argv[1:], sys.stdin.read(), "
        "os.environ['ASCEND_OPP_PATH'], os.environ['LD_LIBRARY_PATH']); sys.exit(42)"
    )
    caller = {**environ, "LD_LIBRARY_PATH": "/callers/own", "PYTHONHOME": "/elsewhere"}
    command = [sys.executable, "-E", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); "]
    command[-1] += "from ascendenv.cli import main; main()"
    words = ["run", "--", "python", "-c", show, "--format", "-h", "--", "--env"]
    done = subprocess.run(
        [*command, *words], env=caller, input="given", text=True, capture_output=True, check=False
    )
    assert done.returncode == 42, done.stderr
    assert done.stdout.startswith("2.7.1 ['--format', '-h', '--', '--env'] given ")
    assert done.stdout.rstrip().endswith("/cann-9.1.0/devlib")
    assert ":/callers/own:" in done.stdout


def test_run_without_dashes_and_with_env(installed: Path, environ: dict[str, str]) -> None:
    done = run(
        environ, "run", "--env", str(installed), "sh", "-c", 'echo "$0 $1" $VIRTUAL_ENV', "--env", "-q"
    )
    assert done.stdout == f"--env -q {installed}\n"


@pytest.mark.usefixtures("installed")
def test_run_passes_signals_on(environ: dict[str, str]) -> None:
    assert run(environ, "run", "--", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("name", "reason"), [("no-such-program", "No such file"), ("/etc", "Permission denied")]
)
def test_run_of_what_cannot_be_run(name: str, reason: str, installed: Path, environ: dict[str, str]) -> None:
    done = run(environ, "run", "--", name, cwd=installed)
    assert done.returncode == ExitCode.USAGE
    assert f"`{name}` cannot be run: {reason}" in done.stderr


def test_env_is_evaluated_by_a_strict_shell(installed: Path, environ: dict[str, str], tmp_path: Path) -> None:
    tricky = 'it\'s "quoted" $HOME `id`\nand a second line=\\'
    file = installed / "ascendenv" / "activation.json"
    activation = json.loads(file.read_text())
    activation["values"]["TRICKY"] = tricky
    file.write_text(json.dumps(activation))
    cann = tmp_path / "Ascend" / "cann-9.1.0"
    script = (
        "set -eu\n"
        f"ascendenv() {{ '{sys.executable}' -E -c 'import sys; sys.path.insert(0, \"{ROOT}\"); "
        'from ascendenv.cli import main; main()\' "$@"; }\n'
        'eval "$(ascendenv env)"; first=$(env -0 | sort -z | tr "\\0" "\\n")\n'
        'eval "$(ascendenv env)"; second=$(env -0 | sort -z | tr "\\0" "\\n")\n'
        '[ "$first" = "$second" ]; [ -z "${PYTHONHOME+set}" ]\n'
        'printf "%s|%s|%s|%s" "$TRICKY" "$LD_LIBRARY_PATH" "$VIRTUAL_ENV" "$(command -v python)"\n'
    )
    caller = {**environ, "PYTHONHOME": "/elsewhere"}
    for shell in ("bash", "sh"):
        done = subprocess.run([shell, "-c", script], env=caller, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        value, libraries, virtual, python = done.stdout.rsplit("|", 3)
        assert value == tricky
        assert libraries == f"{cann}/lib64:{cann}/lib64/plugin/opskernel:{cann}/devlib"
        assert (virtual, python) == (str(installed), f"{installed}/bin/python")


def test_env_for_fish_and_as_json(installed: Path, environ: dict[str, str]) -> None:
    caller = {**environ, "ASCEND_OPP_PATH": "/other"}
    assert json.loads(run(caller, "env", "--shell", "json").stdout)["VIRTUAL_ENV"] == str(installed)
    lines = run(caller, "env", "--shell", "fish").stdout.splitlines()
    assert f"set -gx VIRTUAL_ENV '{installed}'" in lines
    (path,) = (line for line in lines if line.startswith("set -gx PATH "))
    assert f"'{installed}/bin' " in path
    assert ":" not in path


def test_fish_understands_it(installed: Path, environ: dict[str, str]) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not on this machine")
    text = run(environ, "env", "--shell", "fish").stdout
    done = subprocess.run(
        ["fish", "-c", f"{text}\nprintf %s $VIRTUAL_ENV"],
        env=environ,
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout == str(installed)


def test_list_shows_it(installed: Path, environ: dict[str, str]) -> None:
    (found,) = json.loads(run(environ, "list", "--format", "json").stdout)["result"]["environments"]
    assert (found["path"], found["torch"], found["verified"]) == (str(installed), "2.7.1", False)


def test_why_says_no_with_a_code_of_its_own(invoke: Invoke) -> None:
    done = invoke("matrix", "why", "cann==9.1.0", "torch==2.6.0", "--format", "json")
    assert done.exit_code == ExitCode.NO_COMBINATION
    answer = json.loads(done.stdout)
    assert (answer["schema"], answer["ok"], answer["exit_code"]) == ("ascendenv/matrix-why/1", False, 3)
    assert answer["result"]["instead"][0]["command"] == "ascendenv resolve --cann 9.1.0 --torch 2.12.0"
    assert invoke("matrix", "why", "cann==9.1.0", "torch==2.7.1").exit_code == ExitCode.OK


def test_the_matrix_in_other_formats(invoke: Invoke) -> None:
    listed = invoke("matrix", "list", "trains", "--cann", "9.1.0", "--format", "toml")
    assert listed.stdout.startswith('table = "trains"\n\nrows = [\n  { train = "26.1.1", cann = "9.1.X"')
    shown = invoke("matrix", "show", "train", "26.1.0", "--format", "markdown")
    assert "| CANN | 9.1.0 | official |" in shown.stdout
    assert json.loads(invoke("matrix", "schema").stdout)["title"] == "The compatibility matrix of ascendenv"
