"""Measures for how long an event loop was blocked, and by which call (rule R7).

An async function that blocks (`time.sleep`, a long computation) stops every other call of its loop. Nothing in the same
process can end it, but its time must not count for the others. So a thread looks at each loop that runs tools, every
`POLL_SECONDS`: where the loop is in the same callback as before, it was blocked meanwhile, by the call in whose context
the callback runs. Tasks that a tool starts have its context, too.

Loops that are not written in Python (uvloop) cannot be looked into; there, everything is charged to every call.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextvars import ContextVar
from types import FrameType
from typing import Protocol
from weakref import ref

POLL_SECONDS = 0.02
IDLE_SECONDS = 10.0
"""Time without any call after which the thread ends."""
_HELD_SECONDS = 5 * POLL_SECONDS
"""If the thread could not run for so long, a callback blocked all threads."""


class BlockingCall(Protocol):
    """A call that may block its loop."""

    blocked_seconds: float
    """Time for which the call blocked the loop."""


CURRENT_CALL: ContextVar[BlockingCall | None] = ContextVar("toolbelt_call", default=None)
"""The call that runs in a context."""


class LoopClock:
    """The blocked time of the event loop in one thread.

    Attributes:
        blocked_seconds: In all, so far.
        freed_at: When the loop was last seen blocked, in `time.monotonic()`.
        users: Batches that run on the loop.
    """

    __slots__ = ("_callback", "blocked_seconds", "freed_at", "users")

    def __init__(self) -> None:
        self.blocked_seconds = 0.0
        self.freed_at = 0.0
        self.users = 0
        self._callback: ref[asyncio.Handle] | None = None

    def look(self, frame: FrameType | None, seconds: float) -> None:
        """Take note of what the loop does now.

        Args:
            frame: Of the loop's thread.
            seconds: Since the last look.
        """
        callback = _find_callback(frame)
        last, self._callback = self._callback, None if callback is None else ref(callback)
        if callback is None or (seconds < _HELD_SECONDS and (last is None or last() is not callback)):
            return
        self.blocked_seconds += seconds
        self.freed_at = time.monotonic()
        context = getattr(callback, "_context", None)
        call = None if context is None else context.get(CURRENT_CALL)
        if call is not None:
            call.blocked_seconds += seconds


_RUN = asyncio.Handle._run.__code__  # noqa: SLF001  every callback of a loop is called by it


def _find_callback(frame: FrameType | None) -> asyncio.Handle | None:
    """The callback that a loop is in; `None` where it waits."""
    while frame is not None:
        if frame.f_code is _RUN:
            handle: asyncio.Handle = frame.f_locals["self"]
            return handle
        frame = frame.f_back
    return None


class Watchdog:
    """The thread that looks at the loops; it runs only while there are calls."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again without a thread."""
        self._clocks: dict[int, LoopClock] = {}
        self._lock = threading.Lock()
        self._is_running = False

    def watch(self) -> LoopClock:
        """The clock of the loop in this thread, which is watched until `LoopClock.users` is 0 again."""
        thread = threading.get_ident()
        clock = self._clocks.get(thread)
        if clock is None:
            clock = self._clocks[thread] = LoopClock()
        clock.users += 1
        if not self._is_running:
            self._start()
        return clock

    def _start(self) -> None:
        with self._lock:
            if self._is_running:
                return
            try:
                threading.Thread(target=self._work, name="toolbelt-watchdog", daemon=True).start()
            except RuntimeError:  # the system has no thread left: nothing is measured
                return
            self._is_running = True

    def _work(self) -> None:
        looked_at = used_at = time.monotonic()
        while True:
            time.sleep(POLL_SECONDS)
            now = time.monotonic()
            busy = [(thread, clock) for thread, clock in list(self._clocks.items()) if clock.users > 0]
            if busy:
                used_at = now
                frames = sys._current_frames()  # noqa: SLF001  documented, for this
                for thread, clock in busy:
                    clock.look(frames.get(thread), now - looked_at)
                del frames  # they would keep alive whatever the loops hold
            elif now - used_at > IDLE_SECONDS and self._end():
                return
            looked_at = now

    def _end(self) -> bool:
        with self._lock:
            self._is_running = any(clock.users > 0 for clock in list(self._clocks.values()))
            if not self._is_running:
                self._clocks.clear()
            return not self._is_running


WATCHDOG = Watchdog()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.reset)  # a forked process does not have the thread
