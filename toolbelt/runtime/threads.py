"""Daemon threads for functions that may block.

Threads are used again: a new thread for each call would cost about 50 µs, more than all the rest of a short call.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

from toolbelt.runtime.results import close_unawaited

IDLE_SECONDS = 10.0
"""Time that a thread waits for more work before it ends.

Where the time is up just as another thread takes the job, CPython's `SimpleQueue` waits on without a limit: then the
thread is used for a job more before it ends.
"""


class Threads:
    """Runs each job in a thread of its own; an idle thread is used again.

    Only the system limits the number of threads. A job that blocks for ever must not stop the jobs after it, as it
    does in the default executor of asyncio once all threads there hang. Where the system gives no more threads, a job
    waits for one that becomes idle. The threads are daemons, so none keeps the process alive.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again without any thread."""
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0
        """Waiting threads, minus the jobs that are queued for them; below 0 where jobs wait for threads."""
        self._alive = 0

    def start(self, job: Callable[[], None]) -> None:
        """Run a job, which must not raise.

        Raises:
            RuntimeError: the system gives no thread, and there is none yet.
        """
        with self._lock:
            self._idle -= 1
            has_thread = self._idle >= 0
        if not has_thread:
            self._add_thread()
        self._jobs.put(job)

    def _add_thread(self) -> None:
        with self._lock:
            self._idle += 1
            self._alive += 1
        try:
            # Without the job as an argument: the thread would keep it alive for as long as it lives itself.
            threading.Thread(target=self._work, name="toolbelt-tool", daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._alive -= 1
                if self._alive:
                    self._idle -= 1
                    return
            raise

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        self._alive -= 1
                        return
                continue  # meanwhile a job was promised to this thread: it is in the queue, or will be at once
            job()
            del job  # not kept alive while waiting
            with self._lock:
                self._idle += 1


THREADS = Threads()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.reset)  # a forked process has none of them


class FunctionOutcome:
    """What a function returned, or what it raised."""

    __slots__ = ("error", "returned")

    def __init__(self, returned: Any = None, error: BaseException | None = None) -> None:
        self.returned = returned
        self.error = error


def run_in_thread(function: Callable[..., Any], *args: Any) -> asyncio.Future[FunctionOutcome]:
    """Run a function in a thread, with the context variables of the caller.

    Returns:
        A future that never fails. If it is cancelled, the thread is left alone.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[FunctionOutcome] = loop.create_future()
    context = copy_context()

    def job() -> None:
        if future.done():  # cancelled while it waited for a thread
            return
        try:
            outcome = FunctionOutcome(context.run(function, *args))
        except BaseException as error:  # noqa: BLE001  whatever it is, SystemExit too, it ends the job, not the thread
            outcome = FunctionOutcome(error=error)
        if not call_soon(loop, _set_outcome, future, outcome):
            close_unawaited(outcome.returned)

    try:
        THREADS.start(job)
    except RuntimeError as error:
        future.set_result(FunctionOutcome(error=error))
    return future


def call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *args: Any) -> bool:
    """Call back on the loop, from a thread; `False` if the loop is closed."""
    try:
        loop.call_soon_threadsafe(callback, *args)
    except RuntimeError:
        return False
    return True


def _set_outcome(future: asyncio.Future[FunctionOutcome], outcome: FunctionOutcome) -> None:
    if future.done():
        close_unawaited(outcome.returned)
    else:
        future.set_result(outcome)
