"""The device-runtime probe: built as a wheel against the CANN of the environment, then installed into it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from ascendenv import paths, process
from ascendenv.host.model import PipConfiguration
from ascendenv.install import toolchain
from ascendenv.install.environment import Environment
from ascendenv.install.files import digest
from ascendenv.install.progress import Listener
from ascendenv.resolve import uv


def source_digest() -> str:
    """A hash of the probe's sources."""
    return digest((), [paths.resource_dir("device_runtime") / "probe"])


def build_and_install(
    environment: Environment,
    environ: Mapping[str, str],
    pip: PipConfiguration,
    compiler: Path,
    listener: Listener,
    *,
    offline: bool,
) -> None:
    """Build the probe's wheel (or take it from the cache) and install it; ``environ`` has CANN in effect.

    The build needs scikit-build-core and nanobind, which uv fetches into a build environment of its own.
    """
    wheel = _wheel(environment, environ, uv.options(pip, offline=offline), pip, compiler, listener)
    install = [uv.executable(), "pip", "install", "--quiet", f"--python={environment.python}", "--no-deps",
               "--no-index", "--reinstall", str(wheel)]  # fmt: skip
    process.run(install, env=uv.environ(pip))


def _wheel(
    environment: Environment,
    environ: Mapping[str, str],
    options: Sequence[str],
    pip: PipConfiguration,
    compiler: Path,
    listener: Listener,
) -> Path:
    source = paths.resource_dir("device_runtime") / "probe"
    python = process.run([environment.python, "-VV"], timeout=60).stdout
    headers = Path(environ["ASCEND_HOME_PATH"]) / "include"
    folders = [source, *(headers / name for name in ("acl", "hccl") if (headers / name).is_dir())]
    kept = paths.cache_dir() / "probes" / digest((python, toolchain.compiler_identity(compiler)), folders)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(kept.with_suffix(".lock")):
        if not list(kept.glob("*.whl")):
            with tempfile.TemporaryDirectory(prefix="ascendenv-probe-") as scratch:
                _build(source, Path(scratch), environment, environ, options, pip, compiler, listener)
                shutil.rmtree(kept, ignore_errors=True)
                shutil.move(Path(scratch, "dist"), kept)
        (wheel,) = kept.glob("*.whl")
        return wheel


def _build(
    source: Path,
    scratch: Path,
    environment: Environment,
    environ: Mapping[str, str],
    options: Sequence[str],
    pip: PipConfiguration,
    compiler: Path,
    listener: Listener,
) -> None:
    # The sources may lie in a read-only site-packages, and builds write beside them.
    copied = scratch / "probe"
    shutil.copytree(source, copied)
    command = [
        uv.executable(), "build", "--wheel", f"--python={environment.python}", f"--out-dir={scratch / 'dist'}",
        "--no-create-gitignore", *options, str(copied),
    ]  # fmt: skip
    toolchain.run_build(command, compiler, listener, env=uv.environ(pip, environ))
