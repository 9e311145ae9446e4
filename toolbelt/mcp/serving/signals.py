"""Signals that end a server."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stopping_at_signals(stop: Callable[[], object]) -> Iterator[list[signal.Signals]]:
    """Call `stop` at each interrupt and each request to terminate; the signals that arrived are in the list."""
    loop = asyncio.get_running_loop()
    received: list[signal.Signals] = []

    def note(number: signal.Signals) -> None:
        received.append(number)
        stop()

    numbers = (signal.SIGINT, signal.SIGTERM) if sys.platform != "win32" else ()
    for number in numbers:
        loop.add_signal_handler(number, note, number)
    try:
        yield received
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
