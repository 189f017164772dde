"""The C++ tests of the simulated runtime, one executable a subject, and its install tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from device_runtime_builds import (
    CANN_VERSION,
    SOURCES,
    build_simulator,
    cache_directory,
    environment,
    run_build,
)
from filelock import FileLock

SUBJECTS = sorted(path.stem for path in (SOURCES / "simulator" / "tests").glob("*_test.cpp"))


@pytest.fixture(scope="session")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_simulator(cache_directory(tmp_path_factory))


@pytest.fixture(scope="session")
def executables(cann: Path) -> Path:
    """Directory of the test executables."""
    build = cann.parents[1] / "build"
    with FileLock(build.parent / "tests.lock"):
        run_build(["cmake", "--build", str(build), "--target", "simulator_tests"])
    return build / "tests"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject(subject: str, executables: Path, cann: Path, tmp_path: Path) -> None:
    # The tests' own tree, beside them, and not the installed one.
    libraries = executables.parent / "built" / "lib64"
    completed = subprocess.run(
        [executables / subject],
        cwd=tmp_path,
        env=environment(cann, LD_LIBRARY_PATH=str(libraries), ASCENDENV_SIM_STATE=str(tmp_path / "state")),
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert completed.stdout.splitlines()[-1] == "all checks hold"


def shell(command: str, env: dict[str, str]) -> list[str]:
    """The lines that a strict bash without start-up files prints."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-euc", command],
        env=env,
        text=True,
        capture_output=True,
        check=True,
    ).stdout.splitlines()


@pytest.mark.parametrize("script", ["cann/set_env.sh", "ascend-toolkit/set_env.sh"])
def test_set_env_works_in_a_strict_shell(script: str, cann: Path) -> None:
    command = f'source "{cann.parent / script}"; echo "$ASCEND_HOME_PATH"; echo "$ASCENDENV_SIMULATED"'
    assert shell(command, {"PATH": "/usr/bin:/bin"}) == [str(cann), "1"]


def test_set_env_replaces_a_cann_beside_it_and_keeps_the_rest(cann: Path) -> None:
    beside = cann.parent / "cann-0.0.0" / "lib64"
    env = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": f"/opt/own:{beside}:/opt/other"}
    source = f'source "{cann / "set_env.sh"}"'
    once = shell(f'{source}; echo "$LD_LIBRARY_PATH"', env)
    twice = shell(f'{source}; {source}; echo "$LD_LIBRARY_PATH"', env)
    entries = once[0].split(":")
    assert entries[0] == str(cann / "lib64")
    assert entries[-3:] == ["/opt/own", "/opt/other", str(cann / "devlib")]
    assert str(beside) not in entries
    assert twice == once


def test_the_tree_says_what_it_is(cann: Path) -> None:
    about = (cann / "share" / "info" / "simulator" / "version.info").read_text()
    assert f"Version={CANN_VERSION}\nsimulated=true\n" in about
    (record,) = cann.glob("*-linux/ascend_toolkit_install.info")
    assert f"version={CANN_VERSION}\n" in record.read_text()
    assert f"path={cann}\n" in record.read_text()
    assert (cann.parent / "ascend-toolkit" / "latest").resolve() == cann
