"""What an installation tells of itself while it runs. The renderer listens; tests may, too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def step(listener: Listener, name: str, title: str) -> Iterator[None]:
    """Tell ``listener`` that the block is a step; of one that fails it hears no end."""
    start = time.monotonic()
    listener.step_started(name, title)
    yield
    listener.step_finished(name, title, time.monotonic() - start)
