"""What doctor answers."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ascendenv.errors import ExitCode
from ascendenv.vocabulary import Severity


class _Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Title(_Payload):
    """One line in both languages."""

    en: str
    zh: str


class Seen(_Payload):
    """One observation and the path, command or variable that it comes from."""

    what: str
    where: str


class Fix(_Payload):
    """A command that helps; ``safe`` when it changes nothing outside of ascendenv's own environments.

    ``note`` says what it is for. A fix that no single command does has an empty ``command``.
    """

    command: str = ""
    safe: bool = False
    note: str = ""


class Finding(_Payload):
    """One result of one check. ``id`` is stable: programs and suppressions go by it."""

    id: str
    severity: Severity
    title: Title
    seen: tuple[Seen, ...] = ()
    why: str = ""
    fix: tuple[Fix, ...] = ()


class Diagnosis(_Payload):
    """All findings, worst first, under the stack in one line. ``seconds`` is the time it took.

    ``simulated`` tells that the CANN in effect is a simulated one, which every report has to say first.
    """

    stack: str
    simulated: bool = False
    findings: tuple[Finding, ...]
    seconds: float = Field(ge=0)

    @property
    def exit_code(self) -> ExitCode:
        """An error makes it ``PROBLEM_FOUND``; warnings do not."""
        return ExitCode.PROBLEM_FOUND if self.count(Severity.ERROR) else ExitCode.OK

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)
