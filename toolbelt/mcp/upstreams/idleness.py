"""How long a connection has not been needed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Idleness:
    """Requests of one connection, and when it may end because there are none.

    Args:
        limit_seconds: Without a request; 0 for never.
    """

    def __init__(self, limit_seconds: float) -> None:
        self._limit = limit_seconds
        self._requests = 0
        self._last = 0.0
        self._is_subscribed = False

    def begin(self) -> None:
        """The connection is new."""
        self._last, self._is_subscribed = time.monotonic(), False

    @contextlib.contextmanager
    def request(self, method: str) -> Iterator[None]:
        """A request is under way. Who has subscribed to something waits for it, however long."""
        self._requests += 1
        self._is_subscribed = self._is_subscribed or method == "resources/subscribe"
        try:
            yield
        finally:
            self._requests -= 1
            self._last = time.monotonic()

    def seconds_left(self) -> float | None:
        """Until it may end; `None` if it may not."""
        if not self._limit or self._is_subscribed:
            return None
        if self._requests:
            return self._limit
        return max(self._last + self._limit - time.monotonic(), 0)
