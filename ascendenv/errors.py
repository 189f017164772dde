"""One class per failure, each with its exit code and a hint that says what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    PROBLEM_FOUND = 1
    USAGE = 2
    NO_COMBINATION = 3
    INSTALL_FAILED = 4
    INTEGRITY = 5
    NETWORK = 6
    INTERNAL = 7
    INTERRUPTED = 130


class AscendenvError(Exception):
    """A failure that is explained to the user in one paragraph, without a traceback.

    ``hint`` is the next thing to do: a command or a sentence. ``code`` is a stable name for programs.
    """

    exit_code: ExitCode = ExitCode.INTERNAL
    code: str = "internal"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AscendenvError):
    """The request itself is wrong: an unknown version, chip, Python, option value or path."""

    exit_code = ExitCode.USAGE
    code = "usage"


class NoCombinationError(AscendenvError):
    """What is asked for exists, but not together."""

    exit_code = ExitCode.NO_COMBINATION
    code = "no-combination"


class MatrixError(AscendenvError):
    """The matrix holds rows that do not fit its schema. ``mistakes`` names file, row and key of each."""

    exit_code = ExitCode.INTERNAL
    code = "matrix"

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__("the compatibility matrix is not valid:\n" + "\n".join(f"  {m}" for m in mistakes))
        self.mistakes = tuple(mistakes)


class InstallError(AscendenvError):
    """A step of an installation failed; what was there before has been put back."""

    exit_code = ExitCode.INSTALL_FAILED
    code = "install"


class BuildToolMissingError(InstallError):
    """A compiler or another program that a build needs is not on this machine."""

    code = "build-tool-missing"


class ActivationError(InstallError):
    """A ``set_env.sh`` failed, or left the environment unusable."""

    code = "activation"


class IntegrityError(AscendenvError):
    """A file is not what its hash says."""

    exit_code = ExitCode.INTEGRITY
    code = "integrity"


class NetworkError(AscendenvError):
    """Something had to be fetched and could not be, or was needed while offline."""

    exit_code = ExitCode.NETWORK
    code = "network"


class CommandFailedError(AscendenvError):
    """A program that ascendenv ran has failed. ``tail`` holds the last lines that it printed."""

    exit_code = ExitCode.INSTALL_FAILED
    code = "command-failed"

    def __init__(
        self, command: Sequence[str], returncode: int, tail: str, *, hint: str | None = None
    ) -> None:
        reason = f"was killed by signal {-returncode}" if returncode < 0 else f"exited with {returncode}"
        super().__init__(f"`{' '.join(command)}` {reason}\n{tail}".rstrip(), hint=hint)
        self.command = tuple(command)
        self.returncode = returncode
        self.tail = tail
