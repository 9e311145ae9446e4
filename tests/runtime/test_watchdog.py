"""Async tools that block the loop: it costs them, and nobody else (rule R7)."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.runtime.samples import execute, execute_on_loop, tool_of
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolResult

pytestmark = pytest.mark.usefixtures("no_complaints")

LIMIT_SECONDS = 0.5
BLOCKED_SECONDS = 1.2


async def block() -> str:
    time.sleep(BLOCKED_SECONDS)
    return "done"


async def block_later() -> str:
    await asyncio.sleep(0.01)
    return await block()


async def block_in_a_task() -> str:
    return await asyncio.create_task(block())


async def block_in_a_group() -> str:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(block())
    return task.result()


async def block_in_a_callback() -> str:
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: (time.sleep(BLOCKED_SECONDS), future.set_result(None)))  # type: ignore[func-returns-value]
    await future
    return "done"


def give_what_blocks() -> Awaitable[str]:
    return block()


async def compute() -> str:
    end = time.monotonic() + BLOCKED_SECONDS
    while time.monotonic() < end:
        pass
    return "done"


async def work() -> str:
    """Needs the loop several times, also after it was blocked."""
    for _ in range(5):
        await asyncio.sleep(0.02)
    return "worked"


def work_in_a_thread() -> str:
    time.sleep(0.1)
    return "worked"


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(block, id="at-once"),
        pytest.param(block_later, id="later"),
        pytest.param(block_in_a_task, id="in-a-task-of-its-own"),
        pytest.param(block_in_a_group, id="in-a-group"),
        pytest.param(block_in_a_callback, id="in-a-callback"),
        pytest.param(give_what_blocks, id="sync-that-gives-a-coroutine"),
        pytest.param(compute, id="by-computing"),
    ],
)
def test_R7_the_call_that_blocks_the_loop_gets_the_timeout_and_its_neighbours_do_not(
    function: Callable[..., Any],
) -> None:
    tools = [tool_of("block", function), tool_of("work", work), tool_of("thread", work_in_a_thread)]
    registry = ToolRegistry(tools, default_timeout_seconds=LIMIT_SECONDS)
    results = execute(registry, "work", "block", "work", "thread")
    assert [each.value or each.code for each in results] == ["worked", FailureCode.TIMEOUT, "worked", "worked"]
    blocked = re.search(r"It blocked the event loop for (\d+\.\d) s\.", results[1].error or "")
    # It blocks for a second; the watchdog is a thread, and sees that late where the machine is busy.
    assert blocked is not None
    assert float(blocked[1]) > LIMIT_SECONDS


def test_R7_blocking_within_the_limit_is_no_timeout() -> None:
    registry = ToolRegistry([tool_of("block", block, timeout_seconds=60), tool_of("work", work, timeout_seconds=0.5)])
    assert [each.value for each in execute(registry, "block", "work")] == ["done", "worked"]


def test_R7_whoever_else_blocks_the_loop_the_calls_are_not_charged() -> None:
    async def main() -> list[ToolResult]:
        registry = ToolRegistry([tool_of("work", work, timeout_seconds=LIMIT_SECONDS)])
        running = asyncio.create_task(execute_on_loop(registry, "work"))
        await asyncio.sleep(0.01)
        time.sleep(BLOCKED_SECONDS)
        return await running

    assert [each.value for each in asyncio.run(main())] == ["worked"]


def test_R7_a_call_that_hangs_ends_soon_after_the_loop_is_free() -> None:
    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    registry = ToolRegistry([tool_of("block", block), tool_of("hang", hang)], default_timeout_seconds=LIMIT_SECONDS)
    started = time.monotonic()
    results = execute(registry, "hang", "block")
    assert [each.code for each in results] == [FailureCode.TIMEOUT] * 2
    assert time.monotonic() - started < BLOCKED_SECONDS + 20
