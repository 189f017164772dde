"""What every command returns; only :mod:`ascendenv.render` turns it into text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ascendenv.errors import AscendenvError, ExitCode

Payload_co = TypeVar("Payload_co", covariant=True)


@dataclass(frozen=True)
class Message:
    """One remark beside the result: ``level`` is ``error``, ``warning`` or ``note``."""

    level: str
    text: str
    code: str = ""
    hint: str | None = None

    @classmethod
    def from_error(cls, error: AscendenvError) -> Message:
        """The message that tells of a failure."""
        return cls("error", error.message, error.code, error.hint)


@dataclass(frozen=True)
class Result(Generic[Payload_co]):
    """The outcome of a command.

    ``schema`` names the JSON shape, such as ``ascendenv/doctor/1``; ``payload`` is a pydantic model, or
    ``None`` when the command failed before it had one.
    """

    schema: str
    payload: Payload_co
    exit_code: ExitCode = ExitCode.OK
    messages: tuple[Message, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether the command succeeded and found nothing wrong."""
        return self.exit_code is ExitCode.OK
