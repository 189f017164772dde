"""Shows an installation while it runs: one line a step, the running one with a spinner where that works."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.status import Status
from rich.text import Text
from typing_extensions import Self

from ascendenv.render.text import check_lines
from ascendenv.verify.model import Check
from ascendenv.vocabulary import Outcome

# What stands before the text of the running step: the spinner and a blank; and one column is left free.
_SPINNER_COLUMNS = 3


class ProgressLines:
    """Listens to the steps of an installation. With ``verbose``, shows what the programs print as well."""

    def __init__(self, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._verbose = verbose
        self._status: Status | None = None
        self._name = ""
        self._title = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if kind is not None and self._name and not self._quiet:
            self._console.print(self._line("✗ ", "red", self._name, self._title))

    def step_started(self, name: str, title: str) -> None:
        """Show that a step runs."""
        self._name, self._title = name, title
        if self._quiet:
            return
        if self._console.is_terminal:
            # A new one each time: one that is used again takes the height that it had for what it may erase.
            self._status = Status(self._fitting(f"{name}: {title}"), console=self._console)
            self._status.start()
        else:
            self._console.print(Text(f"  {name}: {title} ..."))

    def line(self, text: str) -> None:
        """Show what a step's program says, shortly and only where it can be overwritten, or all of it."""
        if self._verbose:
            self._console.print(Text(f"    {text}"), soft_wrap=True)
        elif self._status is not None:
            self._status.update(self._fitting(f"{self._title}  {text.strip()}"))

    def step_finished(self, name: str, title: str, seconds: float) -> None:
        """Show that a step is done and how long it took."""
        self._stop()
        self._name = ""
        if not self._quiet:
            done = self._line("✓ ", "green", name, title)
            self._console.print(done + Text(f"  {seconds:.1f} s", style="dim"))

    def _stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _fitting(self, text: str) -> Text:
        line = Text(text.replace("\n", " "))
        line.truncate(max(1, self._console.width - _SPINNER_COLUMNS), overflow="ellipsis")
        return line

    @staticmethod
    def _line(mark: str, colour: str, name: str, title: str) -> Text:
        return Text.assemble((mark, colour), f"{name:<15} {title}")

    def passing(self, check: Check) -> None:
        """Show a verification check as it passes by; a report will tell of it."""
        self.line(f"{check.id} {check.outcome}")

    def check(self, check: Check) -> None:
        """Show a verification check that no report will tell of: a failed one at length."""
        if check.outcome is Outcome.FAILED or self._verbose:
            for line in check_lines(check):
                self._console.print(line)
        else:
            self.passing(check)
