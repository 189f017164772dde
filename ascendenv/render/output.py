"""Prints results, failures and bugs, as text or as JSON."""

from __future__ import annotations

import datetime
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from ascendenv import __version__, paths
from ascendenv.errors import AscendenvError
from ascendenv.install.files import write_atomically
from ascendenv.render.console import data, remarks, show
from ascendenv.render.envelope import to_json
from ascendenv.render.text import print_message, render
from ascendenv.resolve.model import Conflict
from ascendenv.result import Message, Result


def print_result(result: Result[BaseModel], *, as_json: bool) -> None:
    """The result to standard output; a refusal in text is a message, so it goes to standard error."""
    if as_json:
        sys.stdout.write(to_json(result) + "\n")
    else:
        show(remarks() if isinstance(result.payload, Conflict) else data(), render(result.payload))
        for message in result.messages:
            print_message(remarks(), message)
    sys.stdout.flush()


def print_failure(command: str, error: AscendenvError, *, as_json: bool) -> None:
    """What happened and what to do next; in JSON the same inside the envelope."""
    message = Message.from_error(error)
    if as_json:
        failed: Result[None] = Result(f"ascendenv/{command}/1", None, error.exit_code, (message,))
        sys.stdout.write(to_json(failed) + "\n")
        sys.stdout.flush()
    else:
        print_message(remarks(), message)


def print_bug(command: str, error: Exception, *, as_json: bool) -> None:
    """A bug of ours: the traceback goes to a file, and the user is asked to report it."""
    trace = "".join(traceback.format_exception(error))
    report = _bug_report(command, f"ascendenv {__version__}, Python {sys.version}\n{trace}")
    bug = AscendenvError(
        f"this is a bug in ascendenv: {type(error).__name__}: {error}",
        hint=f"please report it with the file {report}",
    )
    print_failure(command, bug, as_json=as_json)


def _bug_report(command: str, text: str) -> Path:
    stamp = datetime.datetime.now().astimezone().strftime("%Y%m%dT%H%M%S")
    for folder in (paths.data_dir() / "bugs", Path(tempfile.gettempdir())):
        report = folder / f"ascendenv-{command}-{stamp}.txt"
        with suppress(OSError):  # this must be told even when the user's own directory cannot be written to
            write_atomically(report, text)
            return report
    return Path("<no place to write it to>")
