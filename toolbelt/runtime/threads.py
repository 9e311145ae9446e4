"""Threads for what may block: as many as are needed, kept a while, and none that keeps the interpreter from exiting."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

from toolbelt.runtime.results import dispose

IDLE_SECONDS = 10.0
"""How long a thread waits for more work before it ends."""


class Threads:
    """Runs each job in a thread of its own; an idle one is used again.

    There is no limit to their number but the system's: one that blocks for ever must not stop what comes after it,
    which is what the default executor of asyncio does once a handful of its threads hang. Where the system gives no
    more, a job waits for one that is done with its own. They are daemons.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, without the threads there are."""
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0
        """Threads that wait, less the jobs that are on their way to them; below 0 where jobs wait for threads."""
        self._alive = 0

    def start(self, job: Callable[[], None]) -> None:
        """Run a job, which must not raise.

        Raises:
            RuntimeError: the system gives no thread, and there is none yet.
        """
        with self._lock:
            self._idle -= 1
            is_waited_for = self._idle >= 0
        if not is_waited_for:
            self._add()
        self._jobs.put(job)

    def _add(self) -> None:
        """One more thread, as good as waiting before it has begun."""
        with self._lock:
            self._idle += 1
            self._alive += 1
        try:
            # Not with the job as an argument, which it would keep alive for as long as it lives itself.
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
                continue  # a job was promised to this thread in the meantime: it is in the queue, or about to be
            job()
            del job  # not kept alive while waiting
            with self._lock:
                self._idle += 1


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
        if future.done():  # cancelled while it waited for a thread: nobody is to be asked any more
            return
        try:
            outcome = Outcome(context.run(function, *args))
        except BaseException as error:  # noqa: BLE001  whatever it is, SystemExit too, it ends the job, not the thread
            outcome = Outcome(error=error)
        if not call_soon(loop, _settle, future, outcome):
            dispose(outcome.returned)

    try:
        THREADS.start(job)
    except RuntimeError as error:
        future.set_result(Outcome(error=error))
    return future


def call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *args: Any) -> bool:
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
