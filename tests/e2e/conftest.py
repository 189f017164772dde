"""The README's main command, run once in a checkout of its own; every test here looks at what it made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.main_job import Installed, Simulated, beside, copy_checkout, outer_environ, run
from filelock import FileLock
from prefork import preforked


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installed:
    """The environment of the main job, shared by all workers."""
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    place = shared / "main-job"
    with FileLock(shared / "main-job.lock"):
        made = place / "installed.json"
        if not made.exists():
            copy_checkout(place / "checkout")
            command = [place / "checkout" / "bin" / "ascendenv", "install", "--simulate", "--format", "json"]
            done = run([*command, "--yes"], outer_environ(place / "home"), check=False)
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
            made.write_text(done.stdout)
        result = json.loads(made.read_text())["result"]
    return Installed(place / "checkout", place / "home", Path(result["environment"]), result)


@pytest.fixture(scope="session")
def simulated(installed: Installed) -> Iterator[Simulated]:
    """The simulated CANN with the real torch and torch_npu on it."""
    with preforked(str(installed.python), ["torch", "torch_npu"]) as start:
        yield Simulated(installed, start)


@pytest.fixture(scope="session")
def huggingface(simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables with which a program of the environment can import accelerate and transformers."""
    packages = ["accelerate==1.15.0", "transformers==5.24.0"]
    return beside(simulated.installed, packages, tmp_path_factory.mktemp("huggingface"))
