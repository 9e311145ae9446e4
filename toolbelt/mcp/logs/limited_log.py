"""A log with input from anyone: a limited number of lines in a period, the others counted."""

from __future__ import annotations

import time
from collections.abc import Callable


class LimitedLog:
    """Passes on the first lines of a period.

    Args:
        write: Receives lines.
        lines: So many are passed on in a period.
        seconds: A period.
    """

    def __init__(self, write: Callable[[str], None], lines: int = 100, seconds: float = 10.0) -> None:
        self._write = write
        self._most = lines
        self._seconds = seconds
        self._period = time.monotonic()
        self._lines = 0

    def add(self, line: str) -> None:
        """Log a line, or count it."""
        now = time.monotonic()
        if now - self._period >= self._seconds:
            if self._lines > self._most:
                self._write(f"… and {self._lines - self._most:,} lines more")
            self._period, self._lines = now, 0
        self._lines += 1
        if self._lines <= self._most:
            self._write(line)
