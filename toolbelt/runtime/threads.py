"""Threads for what may block: as many as are needed, kept a while, and none that keeps the interpreter from exiting."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

from toolbelt.runtime.rendering import dispose

IDLE_SECONDS = 10.0
"""How long a thread waits for more work before it ends."""


class Threads:
    """Runs each job in a thread of its own; an idle one is used again.

    There is no limit to their number: one that blocks for ever must not stop what comes after it, which is what the
    default executor of asyncio does once a handful of its threads hang. They are daemons.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, without the threads there are."""
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0
        """Threads that wait, less the jobs that are on their way to them."""

    def start(self, job: Callable[[], None]) -> None:
        """Run a job, which must not raise.

        Raises:
            RuntimeError: the system gives no more threads.
        """
        with self._lock:
            is_waited_for = self._idle > 0
            if is_waited_for:
                self._idle -= 1
        if is_waited_for:
            self._jobs.put(job)
        else:
            threading.Thread(target=self._work, args=(job,), name="toolbelt-tool", daemon=True).start()

    def _work(self, job: Callable[[], None] | None) -> None:
        while True:
            if job is not None:
                job()
                job = None  # not kept alive while waiting
                with self._lock:
                    self._idle += 1
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                # A job was promised to this thread in the meantime: it is in the queue, or about to be.


THREADS = Threads()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.forget)  # a forked process has none of them


class Outcome:
    """What a function in a thread came to: what it returned, or what it raised."""

    __slots__ = ("error", "returned")

    def __init__(self, returned: Any = None, error: BaseException | None = None) -> None:
        self.returned = returned
        self.error = error


def run_in_thread(function: Callable[..., Any], *args: Any) -> asyncio.Future[Outcome]:
    """Run a function in a thread, with the context variables of the caller.

    Returns:
        A future that never fails; cancelled, it leaves the thread to itself.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()
    context = copy_context()

    def job() -> None:
        try:
            outcome = Outcome(context.run(function, *args))
        except BaseException as error:  # noqa: BLE001  whatever it is, SystemExit too, it ends the job, not the thread
            outcome = Outcome(error=error)
        if not tell(loop, _settle, future, outcome):
            dispose(outcome.returned)

    try:
        THREADS.start(job)
    except RuntimeError as error:
        future.set_result(Outcome(error=error))
    return future


def tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *args: Any) -> bool:
    """Call back on the loop, from a thread; `False` if the loop is closed by now."""
    try:
        loop.call_soon_threadsafe(callback, *args)
    except RuntimeError:
        return False
    return True


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if future.done():
        dispose(outcome.returned)
    else:
        future.set_result(outcome)
