"""From a choice to a plan: every package of the environment, locked with its hash (PEP 751)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.pylock import Pylock

from ascendenv import process
from ascendenv.errors import AscendenvError, CommandFailedError, NetworkError
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve import uv
from ascendenv.resolve.model import Package, Plan, Target
from ascendenv.resolve.resolver import Choice
from ascendenv.resolve.tags import glibc_minor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The newest manylinux level that uv can be told of, and the oldest of the modern names.
_UV_NEWEST_GLIBC_MINOR = 40
_UV_OLDEST_GLIBC_MINOR = 28


class LockError(AscendenvError):
    """uv found no set of packages that satisfies the plan's requirements together."""

    code = "lock"


def lock(choice: Choice, pip: PipConfiguration, *, offline: bool = False) -> Plan:
    """Lock ``choice`` with hashes for its target. Only wheels are taken: nothing of a stranger's is built.

    Raises :class:`LockError` when the requirements cannot hold together,
    :class:`~ascendenv.errors.NetworkError` when an index could not be asked.
    """
    text = _compile(choice, pip, offline=offline)
    return Plan(
        target=choice.target,
        pairing=choice.pairing,
        packages=read_packages(text),
        reasons=choice.reasons,
        lock=text,
    )


def read_packages(lock_text: str) -> tuple[Package, ...]:
    """The packages of a ``pylock.toml``."""
    pylock = Pylock.from_dict(tomllib.loads(lock_text))
    return tuple(_package(package) for package in pylock.packages)


def _package(package: Any) -> Package:  # noqa: ANN401  # packaging's own type; its fields are all optional
    (wheel, *_) = package.wheels
    return Package(
        name=package.name,
        version=str(package.version),
        url=wheel.url or str(wheel.path),
        sha256=wheel.hashes["sha256"],
        size=wheel.size,
    )


def _compile(choice: Choice, pip: PipConfiguration, *, offline: bool) -> str:
    with tempfile.TemporaryDirectory(prefix="ascendenv-lock-") as folder:
        wanted, locked = Path(folder, "requirements.in"), Path(folder, "pylock.toml")
        wanted.write_text("\n".join(choice.requirements) + "\n")
        command = [
            uv.executable(), "pip", "compile", "--quiet", "--no-header", "--format=pylock.toml",
            f"--output-file={locked}", f"--python-version={choice.target.python}",
            f"--python-platform={_platform(choice.target)}", "--only-binary=:all:",
            *uv.options(pip, offline=offline), *uv.constraint_options(pip), *choice.uv_options, str(wanted),
        ]  # fmt: skip
        try:
            process.run(command, env=uv.environ(pip), cwd=Path(folder))
        except CommandFailedError as error:
            raise _explained(error, offline=offline) from error
        return locked.read_text()


def _platform(target: Target) -> str:
    minor = min(glibc_minor(target.glibc), _UV_NEWEST_GLIBC_MINOR)
    return f"{target.arch}-manylinux_2_{minor if minor >= _UV_OLDEST_GLIBC_MINOR else 17}"


def _explained(error: CommandFailedError, *, offline: bool) -> AscendenvError:
    if "No solution found" in error.tail:
        return LockError(
            f"the packages of the plan do not go together\n{error.tail}",
            hint="a constraint or an index of your pip configuration may be in the way: `pip config list`",
        )
    network_words = (
        "Failed to fetch",
        "error sending request",
        "Network connectivity is disabled",
        "dns error",
    )
    if offline or any(word in error.tail for word in network_words):
        return NetworkError(
            f"the packages could not be looked up\n{error.tail}",
            hint="check the network and the indexes of your pip configuration: `pip config list`",
        )
    return error
