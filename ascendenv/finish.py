"""How every command ends: its result is printed, or what went wrong; the exit code says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from ascendenv.options import Format, MatrixFormat

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ascendenv.result import Result


def finish(command: str, output: Format | MatrixFormat, answer: Callable[[], Result[BaseModel]]) -> None:
    """Print what a command returns and exit with its code."""
    guarded(command, output, lambda: print_and_exit(answer(), output))


def print_and_exit(result: Result[BaseModel], output: Format | MatrixFormat) -> None:
    """The end of a command that has gone well so far."""
    if isinstance(output, MatrixFormat):
        from ascendenv.render.documents import print_document  # noqa: PLC0415  # --help is quick without it

        print_document(result, output)
    else:
        from ascendenv.render.output import print_result  # noqa: PLC0415  # likewise

        print_result(result, as_json=output is Format.JSON)
    raise typer.Exit(int(result.exit_code))


def guarded(command: str, output: Format | MatrixFormat, work: Callable[[], object]) -> None:
    """Turn failures into one paragraph and an exit code; only a bug shows where it happened."""
    from ascendenv.errors import AscendenvError, ExitCode  # noqa: PLC0415  # --help is quick without them
    from ascendenv.render.output import print_bug, print_failure  # noqa: PLC0415  # likewise

    as_json = output.value == Format.JSON.value
    try:
        work()
    except AscendenvError as error:
        print_failure(command, error, as_json=as_json)
        raise typer.Exit(int(error.exit_code)) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001  # the outermost place: anything else is a bug to be reported
        print_bug(command, error, as_json=as_json)
        raise typer.Exit(int(ExitCode.INTERNAL)) from None
