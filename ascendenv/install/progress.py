"""What an installation tells of itself while it runs. The renderer listens; tests may, too."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Is told of each step."""

    def step_started(self, name: str, title: str) -> None:
        """A step begins."""

    def line(self, text: str) -> None:
        """The step's program has printed a line."""

    def step_finished(self, name: str, title: str, seconds: float) -> None:
        """The step is done."""


class Silent:
    """Listens and says nothing."""

    def step_started(self, name: str, title: str) -> None:
        """Say nothing."""

    def line(self, text: str) -> None:
        """Say nothing."""

    def step_finished(self, name: str, title: str, seconds: float) -> None:
        """Say nothing."""
