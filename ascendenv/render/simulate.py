"""``ascendenv simulate`` at the terminal: the progress of a build, and the step into a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel
from rich.console import Group, RenderableType
from rich.text import Text

from ascendenv.render.console import remarks, show
from ascendenv.render.progress import ProgressLines
from ascendenv.render.text import SIMULATED, render
from ascendenv.render.wording import as_called, unbroken
from ascendenv.result import Result
from ascendenv.simulate.provide import Asked, SimulatedTree, provide


def run_simulate_build(asked: Asked, *, quiet: bool, verbose: bool) -> Result[BaseModel]:
    """``ascendenv simulate build``."""
    with ProgressLines(remarks(), quiet=quiet, verbose=verbose) as progress:
        return Result("ascendenv/simulate-build/1", provide(asked, progress))


def run_simulated(
    asked: Asked,
    command: Sequence[str],
    start: Callable[[Sequence[str], Mapping[str, str]], None],
    *,
    quiet: bool,
    verbose: bool,
) -> None:
    """``ascendenv simulate run``: what is simulated in one line, then ``start`` becomes the command."""
    with ProgressLines(remarks(), quiet=quiet, verbose=verbose) as progress:
        tree = provide(asked, progress)
    environ = tree.environ()
    if not quiet:
        show(remarks(), Group(Text(SIMULATED, style="bold yellow"), unbroken(_what(tree))))
    start(command, environ)


@render.register
def _(tree: SimulatedTree) -> RenderableType:
    options = f"--env {tree.environment} --cann {tree.cann} --chip {tree.soc}"
    run = f"ascendenv simulate run {options} --devices {tree.devices} --memory {tree.memory} -- pytest tests/"
    return Group(
        Text(SIMULATED, style="bold yellow"),
        unbroken(f"Made  {_what(tree)}"),
        unbroken(f"      in {tree.root}"),
        unbroken(f"Next  {as_called(run)}"),
        unbroken(f"  or  source {tree.root / 'set_env.sh'}        with {tree.environment} active"),
    )


def _what(tree: SimulatedTree) -> str:
    return (
        f"CANN {tree.cann}, {tree.devices} x {tree.soc} with {tree.memory} each, "
        f"torch {tree.torch}, torch_npu {tree.torch_npu}"
    )
