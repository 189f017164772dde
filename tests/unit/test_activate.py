"""``set_env.sh`` as data: what is captured of it, and what that does to a process environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mirror.cann import SET_ENV, make_cann

from ascendenv import activate
from ascendenv.activate import Activation, capture
from ascendenv.errors import ActivationError

PYTHON_DIR = Path(sys.executable).parent
# What a login shell has, and what a machine with another CANN in effect adds to it.
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/root"}


def captured(tmp_path: Path, more: str = "", *, set_env: str = SET_ENV) -> Activation:
    cann = make_cann(tmp_path / "Ascend", set_env=f"{set_env}\n{more}\n")
    return capture([cann / "set_env.sh"], python_dir=PYTHON_DIR)


def test_entries_values_and_where_they_stand(tmp_path: Path) -> None:
    activation = captured(tmp_path)
    home = str(tmp_path / "Ascend" / "cann-9.1.0")
    assert activation.values["ASCEND_HOME_PATH"] == home
    assert activation.prepend["PATH"] == (f"{home}/bin",)
    assert activation.prepend["LD_LIBRARY_PATH"] == (f"{home}/lib64", f"{home}/lib64/plugin/opskernel")
    assert activation.append["LD_LIBRARY_PATH"] == (f"{home}/devlib",)
    assert {"HOME", "PWD", "SHLVL", "_", "LC_ALL"}.isdisjoint(activation.values)


def test_the_same_as_sourcing_it(tmp_path: Path) -> None:
    """For a caller with entries of his own, the data have the effect of the script itself."""
    activation = captured(tmp_path)
    caller = {**PLAIN, "LD_LIBRARY_PATH": "/theirs/lib", "PYTHONPATH": "/theirs/python:/more"}
    script = activation.scripts[0]
    sourced = subprocess.run(
        ["bash", "--norc", "-c", f"source '{script}'; env -0"],
        env=caller,
        text=True,
        capture_output=True,
        check=True,
    )
    expected = dict(line.split("=", 1) for line in sourced.stdout.split("\0") if line)
    for name in ("_", "PWD", "SHLVL"):
        expected.pop(name, None)
    assert activation.apply(caller) == expected


def test_applied_twice_is_applied_once(tmp_path: Path) -> None:
    activation = captured(tmp_path)
    caller = {**PLAIN, "LD_LIBRARY_PATH": ":/theirs::", "PYTHONPATH": "/theirs"}
    once = activation.apply(caller)
    assert activation.apply(once) == once
    assert "" not in once["LD_LIBRARY_PATH"].split(":"), "an empty entry is the working directory"
    assert "" not in activation.apply(PLAIN)["PYTHONPATH"].split(":")


def test_another_cann_in_effect_goes_and_all_else_stays(tmp_path: Path) -> None:
    other = make_cann(tmp_path / "other", "8.5.0")
    driver = "/usr/local/Ascend/driver/lib64"
    caller = {
        **PLAIN,
        "ASCEND_HOME_PATH": str(other),
        "PATH": f"{other}/bin:/usr/bin",
        "LD_LIBRARY_PATH": f"{other}/lib64:{driver}:{other}-mine/lib",
        "CPATH": f"{other}/include",
    }
    applied = captured(tmp_path).apply(caller)
    assert str(other) + "/" not in json.dumps(applied)
    assert driver in applied["LD_LIBRARY_PATH"]
    assert f"{other}-mine/lib" in applied["LD_LIBRARY_PATH"]
    assert "CPATH" not in applied, "an empty one would be the working directory"
    assert applied["PATH"].endswith(":/usr/bin")


def test_entries_of_ours_that_the_caller_has_elsewhere_are_not_doubled(tmp_path: Path) -> None:
    activation = captured(tmp_path)
    (ours,) = activation.prepend["PATH"]
    assert activation.apply({**PLAIN, "PATH": f"/usr/bin:{ours}"})["PATH"] == f"{ours}:/usr/bin"


@pytest.mark.parametrize(
    "value", ["two\nlines", "quotes ' and \"", "a=b=c", "", "  spaces  ", "$HOME `id` \\", "中文"]
)
def test_any_value(value: str, tmp_path: Path) -> None:
    written = value.replace("'", "'\\''")
    assert captured(tmp_path, f"export ANY='{written}'").values["ANY"] == value


@pytest.mark.parametrize(
    "more",
    [
        "echo to standard output; printf 'FAKE=1\\0'",
        "echo to standard error >&2",
        'echo "$NOT_SET_ANYWHERE" >/dev/null',
        "read -r answer; cat",
        "set -- --cxx_abi=1",
        "set -u",
        "unset HOME",
        "PATH=/nowhere",
        "env() { echo mine; }; export -f env",
        "alias env=false; shopt -s expand_aliases",
        "cd /",
    ],
)
def test_what_scripts_do_besides(more: str, tmp_path: Path) -> None:
    activation = captured(tmp_path, more)
    assert activation.values["ASCEND_HOME_PATH"] == str(tmp_path / "Ascend" / "cann-9.1.0")
    assert "FAKE" not in activation.values
    assert not [name for name in activation.values if not name.isidentifier()]


def test_scripts_get_no_arguments(tmp_path: Path) -> None:
    activation = captured(tmp_path, 'export SEEN="$#"')
    assert activation.values["SEEN"] == "0"


def test_two_scripts_in_order(tmp_path: Path) -> None:
    cann = make_cann(tmp_path)
    nnal = tmp_path / "nnal" / "atb" / "set_env.sh"
    nnal.parent.mkdir(parents=True)
    nnal.write_text('export ATB_HOME_PATH="$ASCEND_HOME_PATH/atb"; export PATH="/nnal/bin:$PATH"\n')
    activation = capture([cann / "set_env.sh", nnal], python_dir=PYTHON_DIR)
    assert activation.values["ATB_HOME_PATH"] == f"{cann}/atb"
    assert activation.prepend["PATH"] == ("/nnal/bin", f"{cann}/bin")


def test_the_environments_python_is_the_scripts_python(tmp_path: Path) -> None:
    activation = captured(tmp_path, 'export WHICH="$(command -v python3)"')
    assert activation.values["WHICH"] == str(PYTHON_DIR / "python3")


def test_the_callers_variables_do_not_reach_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/callers/lib")
    monkeypatch.setenv("BASH_ENV", "/callers/bashrc")
    activation = captured(tmp_path, 'export SEEN="$LD_LIBRARY_PATH:$BASH_ENV"')
    assert "/callers/" not in activation.values["SEEN"]
    assert "/ascendenv/before" not in activation.values["SEEN"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("echo no driver >&2; return 7", "failed with exit code 7\n  no driver"),
        ("false", "failed with exit code 1"),
        ("exit 3", "failed with exit code 3"),
        ("exit 0", "ends the shell"),
        ("if [", "failed with exit code"),
        ("kill -9 $$", "failed with exit code -9"),
    ],
)
def test_a_script_that_fails(more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ActivationError, match=message) as failed:
        captured(tmp_path, more)
    assert "set_env.sh" in failed.value.message
    assert failed.value.hint


def test_a_script_that_is_not_canns(tmp_path: Path) -> None:
    with pytest.raises(ActivationError, match="set no ASCEND_HOME_PATH"):
        captured(tmp_path, set_env="export OTHER=1")


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ActivationError, match="does not exist"):
        capture([tmp_path / "set_env.sh"], python_dir=PYTHON_DIR)


def test_a_script_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activate, "_SECONDS", 0.3)
    with pytest.raises(ActivationError, match=r"had not ended after 0\.3 s"):
        captured(tmp_path, "sleep 600")


def test_without_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activate, "_CLEAN_PATH", str(tmp_path))
    with pytest.raises(ActivationError, match="needs bash"):
        captured(tmp_path)


def test_a_path_with_spaces_and_quotes(tmp_path: Path) -> None:
    activation = captured(tmp_path / 'it\'s a "place" $HOME')
    assert activation.values["ASCEND_HOME_PATH"].endswith('it\'s a "place" $HOME/Ascend/cann-9.1.0')


def test_kept_as_json_and_read_again(tmp_path: Path) -> None:
    activation = captured(tmp_path)
    assert Activation.model_validate_json(activation.model_dump_json()) == activation
    assert os.environ.get("ASCEND_HOME_PATH") != activation.values["ASCEND_HOME_PATH"]
