"""Runs an eval where an event loop is running already, such as in a notebook."""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from toolbelt.evals.running.runner import Runner

_T = TypeVar("_T")


def run_outside_loop(execute: Callable[[Callable[[Runner], None]], _T]) -> _T:
    """What `execute` returns; where an event loop is running in this thread, it has a thread of its own.

    Args:
        execute: Gets a function to call with each runner that it starts.

    Raises:
        KeyboardInterrupt: by the user; the runners were interrupted.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return execute(lambda _: None)
    runners: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    with ThreadPoolExecutor(1, "toolbelt-eval") as thread:
        run = thread.submit(execute, runners.put)
        try:
            return run.result()
        except KeyboardInterrupt:  # which this thread alone gets
            while not run.done():
                with contextlib.suppress(queue.Empty):
                    runners.get(timeout=0.1).interrupt()
            raise
