"""Asks tools whether they are available, within a time limit (rules R2, R7).

`is_available` is someone else's function. It runs in a thread, an async one on an event loop of its own there, so it
cannot hold up the agent, and nobody waits for one that hangs.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextvars import copy_context
from typing import Any

from toolbelt.runtime.threads import THREADS, FunctionOutcome

LISTING_SECONDS = 1.0
"""Time that a tool has to answer when definitions are listed; a tool that does not is not shown."""
QUICK_SECONDS = 0.05
"""Time that a batch waits for answers before its first tool starts; one that takes longer delays its own call alone."""


class Availability:
    """Asks one tool. A question that is not answered yet is not asked again: a function that hangs holds one thread.

    Args:
        function: The tool's `is_available`; sync or async.
    """

    def __init__(self, function: Callable[[], bool | Awaitable[bool]]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._open: Future[FunctionOutcome] | None = None
        self._asked_at = 0.0

    def ask(self) -> Future[FunctionOutcome]:
        """The answer to come, a bool or what the function raised; cancelling it does nothing."""
        with self._lock:
            if self._open is not None and not self._open.done():
                return self._open
            answer: Future[FunctionOutcome] = Future()
            answer.set_running_or_notify_cancel()
            self._open, self._asked_at = answer, time.monotonic()
        context = copy_context()
        try:
            THREADS.start(lambda: answer.set_result(context.run(self._call)))
        except RuntimeError as error:  # the system has no thread left
            answer.set_result(FunctionOutcome(error=error))
        return answer

    def wait(self, answer: Future[FunctionOutcome], seconds: float) -> FunctionOutcome | None:
        """The answer; `None` where there is none that many seconds after the question."""
        try:
            return answer.result(max(self._asked_at + seconds - time.monotonic(), 0))
        except FutureTimeoutError:
            return None

    def _call(self) -> FunctionOutcome:
        try:
            answer: Any = self._function()
            if inspect.isawaitable(answer):
                answer = asyncio.run(_await(answer))
            return FunctionOutcome(bool(answer))
        except BaseException as error:  # noqa: BLE001  someone else's function: a tool that cannot answer is not available
            return FunctionOutcome(error=error)


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
