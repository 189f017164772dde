"""The Python side of an environment: the interpreter's virtual environment and the locked wheels in it."""

from __future__ import annotations

import importlib.metadata
import tempfile
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

from ascendenv import process
from ascendenv.errors import AscendenvError, CommandFailedError, InstallError, IntegrityError, NetworkError
from ascendenv.host.model import PipConfiguration
from ascendenv.install.environment import Environment
from ascendenv.resolve import uv
from ascendenv.resolve.model import Plan


def create(environment: Environment, interpreter: Path, pip: PipConfiguration) -> None:
    """Make the virtual environment, unless a Python environment is there already."""
    if environment.python.exists():
        return
    # The place may be an empty directory, or one that holds nothing but the transaction's own.
    options = (
        "--quiet",
        "--no-project",
        "--no-python-downloads",
        "--allow-existing",
        f"--python={interpreter}",
    )
    command = [uv.executable(), "venv", *options, str(environment.path)]
    process.run(command, env=uv.environ(pip))


def install(environment: Environment, plan: Plan, pip: PipConfiguration, *, offline: bool) -> None:
    """Install exactly the locked wheels; every one is checked against its hash.

    Raises :class:`~ascendenv.errors.IntegrityError` when a wheel is not what the lock says.
    """
    with tempfile.TemporaryDirectory(prefix="ascendenv-install-") as folder:
        lock = Path(folder, "pylock.toml")
        lock.write_text(plan.lock, encoding="utf-8")
        command = [
            uv.executable(), "pip", "install", "--quiet", f"--python={environment.python}", "--no-deps",
            *uv.options(pip, offline=offline), "--requirements", str(lock),
        ]  # fmt: skip
        try:
            process.run(command, env=uv.environ(pip))
        except CommandFailedError as error:
            raise _explained(error) from error


def missing(environment: Environment, names_and_versions: Iterable[tuple[str, str]]) -> list[str]:
    """Which of these packages the environment does not have in exactly this version.

    Reads the packages' metadata only, without starting the environment's Python.
    """
    there = versions(environment)
    return [
        f"{name} {version}"
        for name, version in names_and_versions
        if there.get(canonicalize_name(name)) != version
    ]


def replaced(environment: Environment, plan: Plan) -> tuple[str, ...]:
    """Packages that are there in another version than the plan's, such as ``numpy 1.26.4 by 2.4.6``."""
    there = versions(environment)
    return tuple(
        f"{package.name} {there[name]} by {package.version}"
        for package in plan.packages
        if there.get(name := canonicalize_name(package.name), package.version) != package.version
    )


def versions(environment: Environment) -> dict[str, str]:
    """The version of each package, by its normalised name; read without starting the environment's Python."""
    folders = map(str, environment.path.glob("lib/python3*/site-packages"))
    found = importlib.metadata.distributions(path=list(folders))
    return {canonicalize_name(package.name): package.version for package in found}


def site_packages(environment: Environment) -> Path:
    """Where the environment's Python finds its packages."""
    asked = process.run(
        [environment.python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], timeout=60
    )
    return Path(asked.stdout.strip())


def _explained(error: CommandFailedError) -> AscendenvError:
    if "hash mismatch" in error.tail.lower():
        return IntegrityError(
            f"a downloaded wheel is not what its hash says\n{error.tail}",
            hint="something altered the file on its way: check proxies and mirrors, then try again",
        )
    network_words = (
        "Failed to fetch",
        "Failed to download",
        "error sending request",
        "Network connectivity is disabled",
    )
    if any(word in error.tail for word in network_words):
        return NetworkError(
            f"a wheel could not be downloaded\n{error.tail}", hint="check the network, then try again"
        )
    if "No space left" in error.tail:
        return InstallError(
            f"the disk is full\n{error.tail}", hint="free some space, or choose another --env PATH"
        )
    return InstallError(f"the packages could not be installed\n{error.tail}")
