"""pytest for the suite, kept in the cache so that it never enters the environment that is verified."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from ascendenv import process
from ascendenv.paths import cache_dir
from ascendenv.resolve import uv

REQUIREMENT = "pytest>=8.2,<10"
HINT = "the verification needs pytest: make it available on the package index that pip is configured for"


def pytest_for(
    python: Path, *, uv_options: Sequence[str] = (), uv_environ: Mapping[str, str] | None = None
) -> Path:
    """A folder that holds pytest for this interpreter; installed with uv when it is not there yet.

    ``uv_options`` are uv's options for indexes, ``uv_environ`` is the environment that uv runs in.
    Raises :class:`~ascendenv.errors.CommandFailedError` with uv's own words when pytest cannot be had.
    """
    requirement = hashlib.sha256(REQUIREMENT.encode()).hexdigest()[:12]
    folder = cache_dir() / "verify-tools" / f"{_tag(python)}-{requirement}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            _install(folder, python, uv_options, uv_environ)
    return folder


def _install(folder: Path, python: Path, options: Sequence[str], environ: Mapping[str, str] | None) -> None:
    # Inside the same parent, so that the rename at the end is one step.
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as scratch:
        made = Path(scratch) / "packages"
        target = ["--python", str(python), "--target", str(made)]
        command = [uv.executable(), "pip", "install", "--quiet", *target, *options, REQUIREMENT]
        process.run(command, env=environ, hint=HINT)
        shutil.move(made, folder)


def _tag(python: Path) -> str:
    code = "import sys; print(sys.implementation.cache_tag)"
    return process.run([python, "-I", "-c", code]).stdout.strip()
