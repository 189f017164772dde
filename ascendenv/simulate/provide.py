"""What ``ascendenv simulate`` does: from its options to a tree that programs can run on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ascendenv.activate import capture
from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.host.compiler import compiler
from ascendenv.host.gather import gather
from ascendenv.host.machine import LocalMachine
from ascendenv.install.environment import Environment
from ascendenv.install.files import explained
from ascendenv.install.place import resolved
from ascendenv.install.progress import Listener, step
from ascendenv.install.toolchain import require_compiler
from ascendenv.planning import require_known
from ascendenv.simulate.build import built_libraries, libraries_for
from ascendenv.simulate.choose import choose, simulated_devices
from ascendenv.simulate.model import SimulatedCann
from ascendenv.simulate.stack import Stack, find_stack
from ascendenv.simulate.tree import cached_tree, put_tree, require_place_for_tree


@dataclass(frozen=True)
class Asked:
    """The options of ``simulate``; ``None`` leaves the choice to what goes with the rest.

    ``env`` and ``torch`` say whose torch runs the operators, ``to`` where the tree goes.
    """

    cann: str | None = None
    chip: str | None = None
    devices: int | None = None
    memory: str | None = None
    env: Path | None = None
    torch: str | None = None
    to: Path | None = None


class SimulatedTree(BaseModel):
    """A simulated CANN on disk. ``root`` holds ``set_env.sh``; ``built`` tells if it had to be compiled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    simulated: Literal[True] = True
    root: Path
    cann: str
    soc: str
    devices: int
    memory: str
    driver: str
    environment: Path
    torch: str
    torch_npu: str
    built: bool

    def environ(self) -> dict[str, str]:
        """A whole process environment with the environment and this CANN in effect."""
        stack = Environment(self.environment)
        activation = capture([self.root / "set_env.sh"], python_dir=stack.python.parent)
        return stack.environ_with(activation)


def provide(asked: Asked, listener: Listener) -> SimulatedTree:
    """Make the tree that is asked for, unless it is there; compile only what no tree before it has needed."""
    matrix = load()
    require_known("torch", asked.torch, query.torch_versions(matrix))
    devices = simulated_devices(asked.devices, asked.memory)
    place = None if asked.to is None else resolved(asked.to)
    if place is not None:
        require_place_for_tree(place)
    stack = find_stack(matrix, env=asked.env, torch=asked.torch)
    wanted = choose(matrix, devices, cann=asked.cann, chip=asked.chip, release=stack.release)
    with explained():
        root, built = _tree(wanted, stack, place, matrix, listener)
    return SimulatedTree(
        root=root,
        cann=wanted.cann,
        soc=wanted.soc.soc,
        devices=devices.count,
        memory=devices.memory,
        driver=wanted.driver,
        environment=stack.environment.path,
        torch=stack.torch.version,
        torch_npu=stack.torch_npu,
        built=built,
    )


def _tree(
    wanted: SimulatedCann, stack: Stack, place: Path | None, matrix: Matrix, listener: Listener
) -> tuple[Path, bool]:
    with_cxx = _compiler(matrix)
    libraries = libraries_for(stack.torch, with_cxx)
    build = not libraries.there
    if build:
        with step(listener, "simulated CANN", f"compiled for torch {stack.torch.version}"):
            built_libraries(stack.torch, with_cxx, listener)
    if place is None:
        return cached_tree(wanted, libraries, with_cxx, listener), build
    return put_tree(wanted, libraries, place, with_cxx, listener), build


def _compiler(matrix: Matrix) -> Path:
    """The C++ compiler; the whole machine is looked at only to say which package would bring one."""
    found = compiler(LocalMachine())
    return found.path if found is not None else require_compiler(gather(matrix))
