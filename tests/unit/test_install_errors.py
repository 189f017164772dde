"""Installations that go wrong: the exit code, a text that helps, and everything as it was before."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from installs import host, installation, plan, probe_wheel
from mirror.cann import SET_ENV
from mirror.server import Reply, answering
from trees import exact_tree

from ascendenv import paths
from ascendenv.compatibility.load import load
from ascendenv.errors import AscendenvError, ExitCode
from ascendenv.install import installer, packages, probe, toolchain
from ascendenv.install.environment import Environment, choose, list_environments
from ascendenv.install.files import one_at_a_time
from ascendenv.install.installer import Installation, Installed, install
from ascendenv.install.place import require_place, resolved
from ascendenv.install.progress import Silent
from ascendenv.simulate.build import source_digest
from ascendenv.simulate.model import SimulatedCann
from ascendenv.verify.session import VerificationError


@pytest.fixture(autouse=True)
def _own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_", "ASCEND"))]:
        monkeypatch.delenv(name)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASCENDENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASCENDENV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setattr(probe, "_wheel", lambda *_: probe_wheel(tmp_path))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An environment of the user's own."""
    place = tmp_path / "env"
    packages.create(Environment(place), Path(sys.executable), host().pip)
    (place / "bin" / "theirs").write_text("precious")
    return place


def run(wanted: Installation, *, compiler: bool = True) -> Installed:
    return install(wanted, host(compiler=compiler), Silent(), lambda _: None)


def refused(wanted: Installation, *, compiler: bool = True) -> AscendenvError:
    """The error of an installation that must leave everything as it was."""
    before = exact_tree(wanted.environment.path)
    with pytest.raises(AscendenvError) as error:
        run(wanted, compiler=compiler)
    assert exact_tree(wanted.environment.path) == before
    assert list(paths.journals_dir().glob("*.json")) == []
    return error.value


def test_a_wheel_that_is_not_what_its_hash_says(tmp_path: Path, place: Path) -> None:
    error = refused(installation(tmp_path, place, of=plan(tmp_path / "wheels", sha256="0" * 64)))
    assert error.exit_code is ExitCode.INTEGRITY
    assert "numpy" in error.message


def test_a_wheel_that_cannot_be_fetched(tmp_path: Path, place: Path) -> None:
    url = "http://127.0.0.1:9/numpy-1.26.4-py3-none-any.whl"
    error = refused(installation(tmp_path, place, of=plan(tmp_path / "wheels", url=url)))
    assert error.exit_code is ExitCode.NETWORK
    assert error.hint


def test_a_wheel_that_the_server_does_not_have(tmp_path: Path, place: Path) -> None:
    with answering({"/any": Reply()}) as server:
        url = f"{server.url}/numpy-1.26.4-py3-none-any.whl"
        error = refused(installation(tmp_path, place, of=plan(tmp_path / "wheels", url=url)))
    assert error.exit_code is ExitCode.NETWORK
    assert "404" in error.message


def test_set_env_that_fails(tmp_path: Path, place: Path) -> None:
    error = refused(installation(tmp_path, place, set_env=f"{SET_ENV}\necho no driver >&2; return 1\n"))
    assert error.exit_code is ExitCode.INSTALL_FAILED
    assert "no driver" in error.message


def test_a_simulator_that_does_not_build(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "device_runtime" / "simulator"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text('message(FATAL_ERROR "this cannot be built")\n')
    monkeypatch.setattr(paths, "resource_dir", lambda name: tmp_path / name)
    monkeypatch.setattr(probe, "source_digest", lambda: "")
    wanted = installation(tmp_path, place)
    wanted = Installation(
        environment=wanted.environment,
        plan=wanted.plan,
        interpreter=wanted.interpreter,
        cann=SimulatedCann("9.1.0", load().socs[0], driver="26.1.0"),
        verify=False,
    )
    error = refused(wanted)
    assert error.exit_code is ExitCode.INSTALL_FAILED
    assert "this cannot be built" in error.message


def test_a_verification_that_cannot_be_started(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise VerificationError("the suite could not be started", hint="look")

    monkeypatch.setattr(installer, "verify", broken)
    wanted = installation(tmp_path, place)
    error = refused(Installation(**{**vars(wanted), "verify": True}))
    assert error.exit_code is ExitCode.INSTALL_FAILED
    assert error.hint == "look"


def test_a_full_disk(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    wanted = installation(tmp_path, place)
    monkeypatch.setattr(Environment, "save", full)
    error = refused(wanted)
    assert error.exit_code is ExitCode.INSTALL_FAILED
    assert "free some space" in (error.hint or "")


def test_a_missing_compiler_is_told_before_anything_is_done(tmp_path: Path) -> None:
    error = refused(installation(tmp_path, tmp_path / "new"), compiler=False)
    assert error.code == "build-tool-missing"
    assert "apt-get install g++" in (error.hint or "")
    assert not (tmp_path / "home").exists()


def test_a_second_time_does_nothing(tmp_path: Path, place: Path) -> None:
    wanted = installation(tmp_path, place)
    assert run(wanted).changed
    before = exact_tree(place)
    shutil.rmtree(tmp_path / "wheels")
    assert not run(wanted, compiler=False).changed
    assert exact_tree(place) == before


def test_what_was_replaced_since_is_put_right(tmp_path: Path, place: Path) -> None:
    wanted = installation(tmp_path, place)
    run(wanted)
    (info,) = place.glob("lib/python3*/site-packages/numpy-*.dist-info")
    info.rename(info.with_name("numpy-2.0.0.dist-info"))
    metadata = info.with_name("numpy-2.0.0.dist-info") / "METADATA"
    text = metadata.read_text().replace("1.26.4", "2.0.0")
    metadata.unlink()  # it is a hard link into uv's cache
    metadata.write_text(text)
    assert packages.missing(wanted.environment, [("numpy", "1.26.4"), ("torch", "2.7.1")]) == ["numpy 1.26.4"]
    assert run(wanted).changed
    assert not run(wanted).changed


def test_what_was_installed_is_listed_and_used(tmp_path: Path, place: Path) -> None:
    wanted = installation(tmp_path, place)
    run(wanted)
    (listed,) = list_environments().environments
    assert (listed.path, listed.torch, listed.verified) == (place, "2.7.1", False)
    environ = choose(None).environ({"PATH": f"/usr/bin:{place}/bin:/bin", "PYTHONHOME": "/elsewhere"})
    assert environ["PATH"].startswith(f"{place}/bin:{tmp_path}/Ascend/cann-9.1.0/bin:")
    assert environ["PATH"].endswith(":/usr/bin:/bin")
    assert environ["VIRTUAL_ENV"] == str(place)
    assert "PYTHONHOME" not in environ
    shutil.rmtree(place)
    assert list_environments().environments == ()


def test_no_environment_at_all() -> None:
    with pytest.raises(AscendenvError, match="no environment yet") as error:
        choose(None)
    assert error.value.exit_code is ExitCode.USAGE


def test_a_stale_variable_names_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/gone")
    with pytest.raises(AscendenvError, match="no environment yet"):
        choose(None)


def test_places_by_any_name_are_one(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(place)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("env", "./home/../env", "link", "~/env", "~/link/"):
        assert resolved(Path(name)) == place


@pytest.mark.parametrize("name", ["~no-such-user-here/env", "a:b", "a\nb", "\udcff"])
def test_places_that_no_environment_can_have(name: str) -> None:
    with pytest.raises(AscendenvError) as error:
        resolved(Path(name))
    assert error.value.exit_code is ExitCode.USAGE


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(AscendenvError) as error:
        require_place(resolved(tmp_path / "loop"))
    assert error.value.exit_code in {ExitCode.USAGE, ExitCode.INSTALL_FAILED}


def _file(place: Path) -> None:
    place.touch()


def _below_a_file(place: Path) -> None:
    place.parent.rmdir()
    place.parent.touch()


def _full_of_other_things(place: Path) -> None:
    place.mkdir()
    (place / "thesis.tex").touch()


def _python_installation(place: Path) -> None:
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)


def _without_its_python(place: Path) -> None:
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").touch()
    (place / "bin" / "python").symlink_to("/usr/bin/python3.5")


@pytest.mark.parametrize(
    ("make", "text", "code"),
    [
        (_file, "is a file", ExitCode.USAGE),
        (_below_a_file, "nothing can be below it", ExitCode.USAGE),
        (_full_of_other_things, "neither an empty place nor a Python environment", ExitCode.USAGE),
        (_python_installation, "is a Python installation", ExitCode.USAGE),
        (_without_its_python, "led to /usr/bin/python3.5", ExitCode.USAGE),
    ],
)
def test_places_that_are_something_else(make: object, text: str, code: ExitCode, tmp_path: Path) -> None:
    place = tmp_path / "above" / "env"
    place.parent.mkdir()
    assert callable(make)
    make(place)
    before = exact_tree(tmp_path)
    with pytest.raises(AscendenvError, match=text) as error:
        require_place(resolved(place))
    assert error.value.exit_code is code
    assert exact_tree(tmp_path) == before


def test_places_that_can_be_used_are_left_as_they_are(tmp_path: Path, place: Path) -> None:
    conda = tmp_path / "conda"
    _python_installation(conda)
    (conda / "conda-meta").mkdir()
    (tmp_path / "empty").mkdir()
    before = exact_tree(tmp_path)
    for usable in (conda, place, tmp_path / "empty", tmp_path / "a" / "b" / "c"):
        require_place(usable)
    assert exact_tree(tmp_path) == before


@pytest.fixture
def foreign() -> Iterator[Path]:
    """A directory that may be looked into and not be written to, with one that may not be looked into."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "closed" / "inside").mkdir(parents=True)
        (folder / "closed").chmod(0)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@contextmanager
def nobody() -> Iterator[None]:
    """Without root's rights to write everywhere, where the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)


@pytest.mark.parametrize("name", ["env", "a/b/env", "closed", "closed/env", "closed/inside/env"])
def test_a_place_that_cannot_be_written_to(name: str, foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_HOME", str(foreign / "home"))
    with nobody(), pytest.raises(AscendenvError) as error:
        require_place(resolved(foreign / name))
    assert error.value.exit_code is ExitCode.INSTALL_FAILED
    assert str(foreign) in error.value.message
    assert "--env" in (error.value.hint or "")


def test_a_home_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDENV_HOME", "/proc/ascendenv")
    wanted = installation(tmp_path, tmp_path / "new")
    with pytest.raises(AscendenvError) as error:
        run(wanted)
    assert error.value.exit_code is ExitCode.INSTALL_FAILED
    assert "ASCENDENV_HOME" in (error.value.hint or "")
    assert not (tmp_path / "new").exists()


def test_settings_for_other_builds_stay_outside() -> None:
    other = {"CXXFLAGS": "-Werror", "CMAKE_GENERATOR": "Xcode", "DESTDIR": "/tmp", "PYTHONPATH": "/p"}
    kept = {"CMAKE_PREFIX_PATH": "/cann", "LD_LIBRARY_PATH": "/lib", "PATH": "/bin"}
    environ = toolchain.environ(Path("/usr/bin/g++"), {**other, **kept, "CXX": "icc", "CMAKE_ARGS": "-DX=1"})
    assert environ.pop("CXX") == "/usr/bin/g++"
    assert environ.pop("PATH").endswith(":/bin")
    assert environ == {name: value for name, value in kept.items() if name != "PATH"}


def test_who_has_to_wait_is_told(tmp_path: Path) -> None:
    code = (
        "import sys; from filelock import FileLock\n"
        "with FileLock(sys.argv[1]): print('held', flush=True); sys.stdin.read()\n"
    )
    lock = tmp_path / "build.lock"
    said: list[str] = []

    class Ear(Silent):
        def line(self, text: str) -> None:
            said.append(text)
            other.communicate()  # lets the other one go on to its end

    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with one_at_a_time(lock, Ear()):
            assert len(said) == 1
    assert "waiting for another ascendenv" in said[0]
    assert str(lock) in said[0]


def test_the_simulators_sources_are_part_of_what_is_installed(tmp_path: Path) -> None:
    assert len(source_digest()) == len(probe.source_digest()) == 24
    assert installation(tmp_path, tmp_path / "a").digest == installation(tmp_path, tmp_path / "b").digest
