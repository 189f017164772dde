"""What an installation tells of itself while it runs. The renderer listens; tests may, too."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Is told of each step. ``line`` passes on what a step's program prints."""

    def step_started(self, name: str, title: str) -> None: ...

    def line(self, text: str) -> None: ...

    def step_finished(self, name: str, note: str, seconds: float) -> None: ...


class Silent:
    """Listens and says nothing."""

    def step_started(self, name: str, title: str) -> None:
        """Say nothing."""

    def line(self, text: str) -> None:
        """Say nothing."""

    def step_finished(self, name: str, note: str, seconds: float) -> None:
        """Say nothing."""
