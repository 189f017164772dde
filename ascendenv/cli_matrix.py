"""``ascendenv matrix``: what goes with what. Each command asks for data and hands it to a renderer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascendenv.finish import finish, guarded
from ascendenv.options import Cann, Format, MatrixFormat, MatrixOutput, Offline, Torch, TorchNpu

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ascendenv.result import Result

matrix_app = typer.Typer(
    help="What goes with what, with source and evidence.", no_args_is_help=True, rich_markup_mode=None
)
Subjects = Annotated[
    list[str],
    typer.Argument(
        help="Such as `torch_npu==2.7.1.post8`, `cann 9.1.0`, `chip 910b` or `vllm-ascend 0.23.0`."
    ),
]
Arch = Annotated[str | None, typer.Option("--arch", help="aarch64 or x86_64.", show_default=False)]
Python = Annotated[
    str | None, typer.Option("--python", help="Python version, such as 3.11.", show_default=False)
]
Chip = Annotated[
    str | None,
    typer.Option("--chip", "--soc", help="Chip family or SoC, such as 910b.", show_default=False),
]
Train = Annotated[
    str | None, typer.Option("--train", help="Release train, such as 26.1.0 or 26.1.X.", show_default=False)
]


@matrix_app.command(name="list")
def matrix_list(
    table: Annotated[
        str, typer.Argument(help="Of what: torch-npu, cann, drivers, chips, image-tags, extensions, ...")
    ] = "torch-npu",
    cann: Cann = None,
    torch: Torch = None,
    torch_npu: TorchNpu = None,
    train: Train = None,
    arch: Arch = None,
    python: Python = None,
    chip: Chip = None,
    output: MatrixOutput = MatrixFormat.TEXT,
) -> None:
    """List the rows that speak of what is given; by default torch_npu releases."""
    from ascendenv.matrix import Narrowed, rows
    from ascendenv.result import Result

    narrowed = Narrowed(cann, torch, torch_npu, train, arch, python, chip)
    finish("matrix-list", output, lambda: Result("ascendenv/matrix-list/1", rows(table, narrowed)))


@matrix_app.command(name="show")
def matrix_show(subject: Subjects, output: MatrixOutput = MatrixFormat.TEXT) -> None:
    """Show everything known of one version, chip or extension, with sources."""
    from ascendenv.compatibility.describe import show
    from ascendenv.compatibility.load import load
    from ascendenv.result import Result

    finish("matrix-show", output, lambda: Result("ascendenv/matrix-show/1", show(load(), " ".join(subject))))


@matrix_app.command(name="why")
def matrix_why(
    subject: Subjects,
    arch: Arch = None,
    python: Python = None,
    chip: Chip = None,
    output: MatrixOutput = MatrixFormat.TEXT,
) -> None:
    """Say whether versions go together, why, and what does."""
    from ascendenv.errors import ExitCode
    from ascendenv.matrix import explain
    from ascendenv.result import Result

    def answer() -> Result[BaseModel]:
        explanation = explain(" ".join(subject), arch=arch, python=python, chip=chip)
        code = ExitCode.OK if explanation.holds else ExitCode.NO_COMBINATION
        return Result("ascendenv/matrix-why/1", explanation, code)

    finish("matrix-why", output, answer)


@matrix_app.command(name="check")
def matrix_check(
    against: Annotated[
        Path | None,
        typer.Option("--against", help="A public table to compare with, in Markdown.", show_default=False),
    ] = None,
    offline: Offline = False,
    output: MatrixOutput = MatrixFormat.TEXT,
) -> None:
    """Compare the matrix with the package index as it is now; exit 1 where they differ."""
    from ascendenv.errors import ExitCode
    from ascendenv.matrix import check
    from ascendenv.result import Result

    def answer() -> Result[BaseModel]:
        drift = check(against, offline=offline)
        code = ExitCode.PROBLEM_FOUND if drift.differences else ExitCode.OK
        return Result("ascendenv/matrix-check/1", drift, code)

    finish("matrix-check", output, answer)


@matrix_app.command(name="schema")
def matrix_schema() -> None:
    """Print the JSON schema of the matrix files."""
    from ascendenv.compatibility.schema import text

    guarded("matrix-schema", Format.TEXT, lambda: sys.stdout.write(text()))
