"""When a request went out and its answer came in; filled in by `toolbelt.providers.timed_http`."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar


class Timing:
    """What the wire saw of one request.

    Attributes:
        sent: When the last part of it was written, by `time.perf_counter`; `None` if nothing was.
        ended: When the last byte of the answer came in; `None` if it did not end.
        status: The HTTP status; `None` if none came.
        headers: The answer's, a mapping that ignores case; empty if none came.
    """

    __slots__ = ("ended", "headers", "sent", "status")

    def __init__(self) -> None:
        self.sent: float | None = None
        self.ended: float | None = None
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}

    @property
    def seconds(self) -> float | None:
        """How long it was under way; `None` if it was not sent over these connections, or not answered."""
        return None if self.sent is None or self.ended is None else max(self.ended - self.sent, 0.0)


current_timing: ContextVar[Timing | None] = ContextVar("current_timing", default=None)
"""The timing of the request that this task is about."""
