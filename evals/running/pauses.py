"""Describes what a model is waited for, and until when (rule X2)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolbelt.evals.running.pace import Pace
from toolbelt.text import visible

NOTICE_EVERY_SECONDS = 10.0
"""Time between two notices."""
PAUSE_SHOWN_SECONDS = 2.0
"""Shorter pauses pass before they are read."""


def format_end(seconds: float) -> str:
    """The time of the day in so many seconds."""
    return f"{datetime.now().astimezone() + timedelta(seconds=seconds):%H:%M:%S}"


def describe_pace(pace: Pace, now: float) -> str:
    """What a model is waited for, and until when; empty where it is asked as fast as it may be.

    Args:
        pace: Of the model.
        now: A time of `time.monotonic`.
    """
    pause = pace.pause_seconds(now)
    if pause >= PAUSE_SHOWN_SECONDS:
        return f"{visible(pace.model)}: rate limit, nothing is sent until {format_end(pause)}"
    return f"{visible(pace.model)}: rate limit, at most {pace.allowed:,} at once" if pace.is_slowed else ""


@dataclass(eq=False)
class PauseNotices:
    """Notifies of pauses where nothing else is shown meanwhile: called with a pace, as its `on_pause`.

    Attributes:
        notify: Receives the notices, one now and then.
        clock: Seconds, ever growing, as `time.monotonic` counts them.
    """

    notify: Callable[[str], object]
    clock: Callable[[], float] = time.monotonic
    _next: float = 0.0

    def __call__(self, pace: Pace) -> None:
        """A model is waited for."""
        now = self.clock()
        if pace.pause_seconds(now) >= PAUSE_SHOWN_SECONDS and now >= self._next:
            self._next = now + NOTICE_EVERY_SECONDS
            self.notify(describe_pace(pace, now))
