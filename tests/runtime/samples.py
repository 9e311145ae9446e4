"""What tests of calls under way begin with."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from toolbelt.runtime import batch, threads
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolCall, ToolResult
from toolbelt.runtime.threads import Threads


def tool_of(name: str, function: Callable[..., Any], **settings: Any) -> ExecutableTool:
    return ExecutableTool.of(function, name=name, **settings)


async def execute_on_loop(registry: ToolRegistry, *names: str, **settings: Any) -> list[ToolResult]:
    calls = [ToolCall(str(number), name) for number, name in enumerate(names)]
    return [each.result for each in await registry.execute_parallel(calls, **settings)]


def execute(registry: ToolRegistry, *names: str, **settings: Any) -> list[ToolResult]:
    return asyncio.run(execute_on_loop(registry, *names, **settings))


async def well() -> str:
    await asyncio.sleep(0.01)
    return "well"


def no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system refuses, as it does a process that has too many."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def own_threads(monkeypatch: pytest.MonkeyPatch) -> Threads:
    """Threads for this test alone, none so far."""
    made = Threads()
    for module in (threads, batch):
        monkeypatch.setattr(module, "THREADS", made)
    return made


@contextmanager
def only_one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system gives one thread, which is busy until the end; all that waited for it is through by then."""
    release, through = threading.Event(), threading.Event()
    pool = own_threads(monkeypatch)

    def busy() -> None:
        release.wait(60)

    pool.start(busy)
    no_more_threads(monkeypatch)
    try:
        yield
    finally:
        pool.start(through.set)  # behind whatever waits
        release.set()
        assert through.wait(60)
