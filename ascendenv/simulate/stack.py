"""The torch and torch_npu that a simulated CANN is for: those of an environment, whoever has made it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from ascendenv.compatibility.model import Matrix, TorchNpuRelease
from ascendenv.errors import UsageError
from ascendenv.install import packages
from ascendenv.install.environment import Environment, active_environment, list_environments
from ascendenv.install.place import resolved
from ascendenv.install.transaction import settle
from ascendenv.simulate.build import InstalledTorch

_MAKES_ONE = "`ascendenv install --simulate` makes one"


@dataclass(frozen=True)
class Stack:
    """An environment's torch and torch_npu. ``release`` is what the matrix knows of that torch_npu."""

    environment: Environment
    torch: InstalledTorch
    torch_npu: str
    release: TorchNpuRelease | None


def find_stack(matrix: Matrix, *, env: Path | None, torch: str | None) -> Stack:
    """The stack of the environment named, else of one with that torch, else of the one at hand.

    At hand is the active environment, else the one that ascendenv itself runs in when torch_npu is there,
    else the one installed last. Raises ``UsageError`` when there is none, or when its torch cannot be used.
    """
    environment = Environment(_place(env, torch))
    settle(environment.path)
    if not environment.python.exists():
        raise UsageError(
            f"{environment.path} is not a Python environment: it has no bin/python",
            hint=f"--env names another; {_MAKES_ONE}",
        )
    there = packages.versions(environment)
    for name in ("torch", "torch-npu"):
        if name not in there:
            raise UsageError(
                f"{environment.path} has no {name.replace('-', '_')}",
                hint=f"`ascendenv install --simulate --env {environment.path}` puts both there; "
                "--env names another environment",
            )
    return _usable(matrix, environment, there["torch"], there["torch-npu"], asked=torch)


def _usable(
    matrix: Matrix, environment: Environment, torch: str, torch_npu: str, *, asked: str | None
) -> Stack:
    package = packages.site_packages(environment) / "torch"
    release = next((row for row in matrix.torch_npu if row.version == Version(torch_npu)), None)
    anew = f"`ascendenv install --simulate --env {environment.path} --torch-npu {torch_npu}` replaces it"
    if asked is not None and Version(asked).public != Version(torch).public:
        raise UsageError(
            f"{environment.path} has torch {torch}, not {asked}",
            hint="leave --torch out, or name another --env",
        )
    if (package / "lib" / "libtorch_cuda.so").exists():
        raise UsageError(
            f"torch {torch} in {environment.path} is a CUDA build, which torch_npu refuses to run beside",
            hint=anew,
        )
    if release is not None and Version(torch).public != release.torch:
        raise UsageError(
            f"torch_npu {torch_npu} in {environment.path} is built for torch {release.torch}, not {torch}",
            hint=anew,
        )
    return Stack(environment, InstalledTorch(package, torch), torch_npu, release)


def _place(env: Path | None, torch: str | None) -> Path:
    if env is not None:
        return resolved(env)
    if torch is not None:
        return _with_torch(torch)
    active = active_environment(os.environ)
    if active is not None:
        return active
    own = Environment(Path(sys.prefix))
    if own.python.exists() and "torch-npu" in packages.versions(own):
        return own.path
    known = list_environments().environments
    if not known:
        raise UsageError(
            "there is no environment with torch and torch_npu to simulate a CANN for",
            hint=f"activate one, or name one with --env; {_MAKES_ONE}",
        )
    return known[0].path


def _with_torch(torch: str) -> Path:
    """Of the environments that ascendenv has set up, the last one with that torch."""
    known = list_environments().environments
    found = next((e.path for e in known if e.torch == Version(torch).public), None)
    if found is None:
        here = ", ".join(sorted({e.torch for e in known}, key=Version)) or "none"
        raise UsageError(
            f"no environment that ascendenv has set up has torch {torch} (there: {here})",
            hint=f"`ascendenv install --simulate --torch {torch}` makes one; --env names any other",
        )
    return found
