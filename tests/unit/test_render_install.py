"""What `install` shows and returns before it begins."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path

import pytest
from installs import host, installation
from rich.console import Console

from ascendenv.errors import InstallError
from ascendenv.install import place
from ascendenv.install.environment import EnvironmentList, Listed
from ascendenv.planning import Wanted
from ascendenv.render import install as shown
from ascendenv.render.console import show
from ascendenv.render.envelope import to_json
from ascendenv.render.output import print_result
from ascendenv.render.text import render
from ascendenv.resolve.model import Conflict, Plan
from ascendenv.result import Result


@pytest.fixture(autouse=True)
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan without a network, and a home of its own."""
    monkeypatch.setenv("ASCENDENV_HOME", str(tmp_path / "home"))
    wanted = installation(tmp_path, tmp_path / "env")
    monkeypatch.setattr(shown, "known_machine_for", lambda _: (None, host()))
    monkeypatch.setattr(shown, "prepare_install", lambda *_, **__: wanted)


def _install(*, dry_run: bool) -> None:
    result = shown.run_install(
        Wanted(),
        env=None,
        simulate=None,
        verify=False,
        dry_run=dry_run,
        ask=True,
        quiet=False,
        verbose=False,
    )
    print_result(result, as_json=False)


def test_a_dry_run_prints_the_plan_once_as_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _install(dry_run=True)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("Plan  ") == printed.out.count("1 packages") == 1
    assert f"into {tmp_path / 'env'}" in printed.out
    assert not (tmp_path / "env").exists()


def test_packages_of_the_users_that_would_change_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, version in (("numpy", "1.20.0"), ("torch", "2.7.1"), ("theirs", "1.0")):
        metadata = folder / f"{name}-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    _install(dry_run=True)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "replaces" in line]
    assert line.split("replaces")[1].strip() == "numpy 1.20.0 by 1.26.4"


def test_no_for_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "_agreed", lambda: False)
    _install(dry_run=False)
    printed = capsys.readouterr()
    assert printed.out == "nothing was done\n"
    assert printed.err.count("Plan  ") == 1
    assert not (tmp_path / "env").exists()


def test_programs_find_plans_and_conflicts_under_their_names(tmp_path: Path) -> None:
    plan = installation(tmp_path, tmp_path / "env").plan
    conflict = Conflict(summary="no", constraints=())
    assert _answer(plan) == {"plan": plan.model_dump(mode="json")}
    assert _answer(conflict) == {"conflict": conflict.model_dump(mode="json")}


def _answer(payload: Plan | Conflict) -> object:
    return json.loads(to_json(Result("ascendenv/resolve/1", payload)))["result"]


@pytest.mark.parametrize(
    ("where", "way_out"), [("home/envs/new", "ASCENDENV_HOME"), ("elsewhere", "leave it out")]
)
def test_a_place_that_cannot_be_written_to(
    where: str, way_out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InstallError, match="cannot be written to") as caught:
        place.require_place(tmp_path / where)
    assert way_out in (caught.value.hint or "")


def test_the_list_gives_each_path_a_line_that_is_not_broken() -> None:
    path = Path("/a/path", *["of many names"] * 10, "env")
    listed = Listed(
        path=path,
        cann="9.1.0",
        torch="2.7.1",
        torch_npu="2.7.1.post8",
        python="3.11",
        simulated=True,
        verified=False,
        installed=datetime.datetime.now(datetime.timezone.utc),
    )
    console = Console(file=io.StringIO(), width=80)
    show(console, render(EnvironmentList(environments=(listed,))))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        str(path),
        "    CANN 9.1.0 (simulated), torch 2.7.1, torch_npu 2.7.1.post8, Python 3.11",
        "    not verified",
    ]
