"""The device-runtime probe: built as a wheel against the CANN of the environment, then installed into it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ascendenv import paths, process, toml
from ascendenv.host.model import PipConfiguration
from ascendenv.install import toolchain
from ascendenv.install.environment import Environment
from ascendenv.install.files import digest, one_at_a_time, remove
from ascendenv.install.progress import Listener
from ascendenv.resolve import uv


def source_digest() -> str:
    """A hash of the probe's sources."""
    return digest((), [_source()])


def name_and_version() -> tuple[str, str]:
    """What the probe's wheel is called."""
    project = toml.loads((_source() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["name"], project["version"]


@dataclass(frozen=True)
class ProbeBuild:
    """What the probe is built for: an environment, with ``environ`` holding its CANN in effect."""

    environment: Environment
    environ: Mapping[str, str]
    pip: PipConfiguration
    compiler: Path
    offline: bool


def build_and_install(wanted: ProbeBuild, listener: Listener) -> None:
    """Build the probe's wheel (or take it from the cache) and install it.

    The build needs scikit-build-core and nanobind, which uv fetches into a build environment of its own.
    """
    wheel = _wheel(wanted, listener)
    install = [
        uv.executable(), "pip", "install", "--quiet", f"--python={wanted.environment.python}", "--no-deps",
        "--no-index", "--reinstall", str(wheel),
    ]  # fmt: skip
    process.run(install, env=uv.environ(wanted.pip))


def _wheel(wanted: ProbeBuild, listener: Listener) -> Path:
    python = process.run([wanted.environment.python, "-VV"], timeout=60).stdout
    identity = (python, toolchain.compiler_identity(wanted.compiler))
    kept = paths.cache_dir() / "probes" / digest(identity, [_source(), *_headers(wanted.environ)])
    kept.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(kept.with_suffix(".lock"), listener):
        if not list(kept.glob("*.whl")):
            # Beside its place in the cache, so that it gets there by a rename, whole or not at all.
            with tempfile.TemporaryDirectory(prefix="building-", dir=kept.parent) as scratch:
                built = _build(wanted, Path(scratch), listener)
                remove(kept)
                built.rename(kept)
        (wheel,) = kept.glob("*.whl")
        return wheel


def _source() -> Path:
    return paths.resource_dir("device_runtime") / "probe"


def _headers(environ: Mapping[str, str]) -> list[Path]:
    """The folders of CANN's headers that the probe is compiled against."""
    include = Path(environ["ASCEND_HOME_PATH"]) / "include"
    return [include / name for name in ("acl", "hccl") if (include / name).is_dir()]


def _build(wanted: ProbeBuild, scratch: Path, listener: Listener) -> Path:
    # The sources may lie in a read-only site-packages, and builds write beside them.
    copied, built = scratch / "probe", scratch / "dist"
    shutil.copytree(_source(), copied, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, _ in os.walk(copied):
        Path(folder).chmod(0o755)
    command = [
        uv.executable(), "build", "--wheel", f"--python={wanted.environment.python}", f"--out-dir={built}",
        "--no-create-gitignore", *uv.options(wanted.pip, offline=wanted.offline), str(copied),
    ]  # fmt: skip
    toolchain.run_build(command, wanted.compiler, listener, env=uv.environ(wanted.pip, wanted.environ))
    return built
