"""The command line. Each command asks a room for data and hands it to a renderer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascendenv import interrupts
from ascendenv.cli_matrix import matrix_app
from ascendenv.finish import finish, guarded, print_and_exit
from ascendenv.options import (
    AllowDeclared,
    AllowReported,
    Arch,
    Cann,
    Chip,
    Command,
    Devices,
    Driver,
    Env,
    Format,
    Glibc,
    Memory,
    Mirror,
    Offline,
    OutputFormat,
    OutputPlanFormat,
    PlanFormat,
    PlannedPython,
    Python,
    Quiet,
    Shell,
    SimulatedChip,
    SimulatedVersion,
    Torch,
    TorchEnvironment,
    TorchNpu,
    TorchOfEnvironment,
    Verbose,
    With,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ascendenv.result import Result

app = typer.Typer(
    name="ascendenv",
    help="Set up, explain and prove the software stack that PyTorch needs on Huawei Ascend NPUs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: the decorated one takes three times as long to start
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(matrix_app, name="matrix")
guard_app = typer.Typer(
    help="Keeps later pip and uv installations from taking an environment's stack apart.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(guard_app, name="guard")
simulate_app = typer.Typer(
    help="A simulated CANN on its own: programs for NPUs run without any.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(simulate_app, name="simulate")


def _version(value: bool) -> None:  # typer calls it so
    if value:
        from ascendenv import __version__

        typer.echo(f"ascendenv {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def install(
    cann: Cann = None,
    torch: Torch = None,
    torch_npu: TorchNpu = None,
    packages: With = None,
    python: Python = None,
    chip: Chip = None,
    arch: Arch = None,
    driver: Driver = None,
    mirror: Mirror = None,
    env: Env = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Use a simulated CANN: needs neither NPU nor CANN.")
    ] = False,
    devices: Devices = None,
    memory: Memory = None,
    verify: Annotated[bool, typer.Option(help="Run the quick verification at the end.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and do nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    allow_declared: AllowDeclared = False,
    allow_reported: AllowReported = False,
    offline: Offline = False,
    output: OutputFormat = Format.TEXT,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Set up an environment with torch and torch_npu on this machine's CANN, and prove that it works."""
    from ascendenv.errors import UsageError
    from ascendenv.planning import Wanted
    from ascendenv.render.install import run_install
    from ascendenv.simulate.choose import simulated_devices

    wanted = Wanted(
        cann,
        torch,
        torch_npu,
        arch,
        python,
        chip,
        allow_declared,
        offline,
        allow_reported=allow_reported,
        packages=tuple(packages or ()),
        driver=driver,
        mirror=mirror,
    )

    def answer() -> Result[BaseModel]:
        if not simulate and (devices, memory) != (None, None):
            raise UsageError(
                "--devices and --memory say what to simulate", hint="add --simulate, or leave them out"
            )
        return run_install(
            wanted,
            env=env,
            simulate=simulated_devices(devices, memory) if simulate else None,
            verify=verify,
            dry_run=dry_run,
            ask=not yes,
            quiet=quiet,
            verbose=verbose,
        )

    finish("install", output, answer)


@app.command()
def resolve(
    cann: Cann = None,
    torch: Torch = None,
    torch_npu: TorchNpu = None,
    packages: With = None,
    arch: Arch = None,
    python: PlannedPython = None,
    chip: Chip = None,
    glibc: Glibc = None,
    driver: Driver = None,
    mirror: Mirror = None,
    allow_declared: AllowDeclared = False,
    allow_reported: AllowReported = False,
    offline: Offline = False,
    output: OutputPlanFormat = PlanFormat.TEXT,
) -> None:
    """Plan for this machine or any other; nothing is done."""
    from ascendenv.commands import plan
    from ascendenv.errors import ExitCode
    from ascendenv.planning import Wanted
    from ascendenv.render import formats
    from ascendenv.resolve.model import Conflict, Plan
    from ascendenv.result import Result

    wanted = Wanted(
        cann,
        torch,
        torch_npu,
        arch,
        python,
        chip,
        allow_declared,
        offline,
        allow_reported=allow_reported,
        packages=tuple(packages or ()),
        glibc=glibc,
        driver=driver,
        mirror=mirror,
    )

    def answer() -> Result[BaseModel]:
        found = plan(wanted)
        code = ExitCode.NO_COMBINATION if isinstance(found, Conflict) else ExitCode.OK
        return Result("ascendenv/resolve/1", found, code)

    def work() -> None:
        result = answer()
        if output.value in formats.FILES and isinstance(result.payload, Plan):
            sys.stdout.write(formats.FILES[output.value](result.payload))
        else:
            print_and_exit(result, as_messages)

    as_messages = Format.JSON if output is PlanFormat.JSON else Format.TEXT
    guarded("resolve", as_messages, work)


@app.command()
def doctor(output: OutputFormat = Format.TEXT) -> None:
    """Describe this machine and say what is missing or wrong."""
    from ascendenv.commands import examine
    from ascendenv.result import Result

    def answer() -> Result[BaseModel]:
        diagnosis = examine()
        return Result("ascendenv/doctor/1", diagnosis, diagnosis.exit_code)

    finish("doctor", output, answer)


@app.command()
def verify(
    env: Env = None,
    suite: Annotated[str, typer.Option("--suite", help="Which checks to run.")] = "quick",
    devices: Annotated[
        str | None, typer.Option("--devices", help="NPUs to use, such as 0,1.", show_default="all")
    ] = None,
    select: Annotated[
        str | None, typer.Option("-k", help="Only checks that match.", show_default=False)
    ] = None,
    offline: Offline = False,
    output: OutputFormat = Format.TEXT,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Prove, layer by layer, that an environment works."""
    from ascendenv.render.install import run_verify

    finish(
        "verify",
        output,
        lambda: run_verify(
            env, suite=suite, devices=devices, select=select, offline=offline, quiet=quiet, verbose=verbose
        ),
    )


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Command,
    env: Env = None,
) -> None:
    """Run a command with the environment and its CANN in effect."""
    from ascendenv.install.environment import choose

    guarded("run", Format.TEXT, lambda: _become(command, choose(env).environ()))


@app.command(name="env")
def show_env(
    env: Env = None,
    shell: Annotated[Shell, typer.Option("--shell", help="Print for which shell.")] = Shell.BASH,
) -> None:
    """Print what takes the environment into effect: eval "$(ascendenv env)"."""
    from ascendenv.install.environment import choose
    from ascendenv.render.exports import exports

    guarded("env", Format.TEXT, lambda: sys.stdout.write(exports(choose(env), str(shell.value))))


@guard_app.command(name="status")
def guard_status(env: Env = None, output: OutputFormat = Format.TEXT) -> None:
    """Say whether the guard is in effect, and what was installed against it."""
    _guard("status", env, output)


@guard_app.command(name="on")
def guard_on(env: Env = None, output: OutputFormat = Format.TEXT) -> None:
    """Take the guard into effect."""
    _guard("on", env, output)


@guard_app.command(name="off")
def guard_off(env: Env = None, output: OutputFormat = Format.TEXT) -> None:
    """Take the guard out of effect."""
    _guard("off", env, output)


def _guard(turn: str, env: Path | None, output: Format) -> None:
    from ascendenv.commands import guard
    from ascendenv.errors import ExitCode
    from ascendenv.result import Result

    def answer() -> Result[BaseModel]:
        found = guard(env, turn)
        return Result("ascendenv/guard/1", found, ExitCode.PROBLEM_FOUND if found.broken else ExitCode.OK)

    finish("guard", output, answer)


@app.command(name="list")
def list_environments(output: OutputFormat = Format.TEXT) -> None:
    """List the environments that ascendenv has set up."""
    from ascendenv.install.environment import list_environments
    from ascendenv.result import Result

    finish("list", output, lambda: Result("ascendenv/list/1", list_environments()))


@simulate_app.command(name="build")
def simulate_build(
    cann: SimulatedVersion = None,
    chip: SimulatedChip = None,
    devices: Devices = None,
    memory: Memory = None,
    env: TorchEnvironment = None,
    torch: TorchOfEnvironment = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="Where to make it.", show_default="the cache")
    ] = None,
    output: OutputFormat = Format.TEXT,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Make a simulated CANN for an environment's torch and torch_npu, and say how to use it."""
    from ascendenv.render.simulate import run_simulate_build
    from ascendenv.simulate.provide import Asked

    asked = Asked(cann, chip, devices, memory, env, torch, to)
    finish("simulate-build", output, lambda: run_simulate_build(asked, quiet=quiet, verbose=verbose))


@simulate_app.command(name="run", context_settings={"allow_interspersed_args": False})
def simulate_run(
    command: Command,
    cann: SimulatedVersion = None,
    chip: SimulatedChip = None,
    devices: Devices = None,
    memory: Memory = None,
    env: TorchEnvironment = None,
    torch: TorchOfEnvironment = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Run a command on a simulated CANN, made now unless it is there."""
    from ascendenv.render.simulate import run_simulated
    from ascendenv.simulate.provide import Asked

    asked = Asked(cann, chip, devices, memory, env, torch)
    guarded(
        "simulate-run",
        Format.TEXT,
        lambda: run_simulated(asked, command, _become, quiet=quiet, verbose=verbose),
    )


def _become(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Become the command: what it prints, its exit code and its signals are its own."""
    from ascendenv import process
    from ascendenv.errors import UsageError

    try:
        process.replace(command, environ)
    except OSError as error:
        raise UsageError(
            f"`{command[0]}` cannot be run: {error.strerror}",
            hint="it is looked for on the environment's PATH",
        ) from None


def main() -> None:
    """Run the command line."""
    interrupts.raise_on_signals()
    try:
        try:
            app(prog_name=os.environ.get("ASCENDENV_PROGRAM", "ascendenv"))
        finally:
            sys.stdout.flush()
    except interrupts.Interrupted as interrupt:
        sys.stderr.write(f"interrupted ({interrupt})\n")
        sys.exit(interrupt.exit_code)
    except BrokenPipeError:
        # The reader has closed its end, as `| head` does: not a failure of ours. What is still buffered has
        # to go somewhere when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
