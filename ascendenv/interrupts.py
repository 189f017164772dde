"""Signals that end a program, turned into an exception so that what was begun is undone on the way out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# ctrl-C, a cancelled CI job or container, a closed terminal.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asks this program to end. Like ``KeyboardInterrupt``, it is no ``Exception``."""

    def __init__(self, number: int) -> None:
        super().__init__(f"{signal.Signals(number).name} was received")
        self.exit_code = 128 + number


def raise_on_signals() -> None:
    """Raise :class:`Interrupted` in the main thread from now on; signals that are ignored (nohup) stay so."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


@contextmanager
def held() -> Iterator[None]:
    """Let interrupts wait until the block has ended: for undoing, which a second ctrl-C must not stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    caught = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in caught:
        signal.signal(number, lambda received, _: arrived.append(received))
    try:
        yield
    finally:
        for number, handler in caught.items():
            signal.signal(number, handler)
    if arrived:
        signal.raise_signal(arrived[0])


def _raise(number: int, _: FrameType | None) -> None:
    raise Interrupted(number)
