"""Running calls: what gates, arguments, budgets, time limits and kept output add to a bare `asyncio.gather`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.benchmarks.comparison import fastest_in_turn
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolCall

COUNT = 100
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def shout(text: str) -> str:
    return text.upper()


def shout_in_thread(text: str) -> str:
    return text.upper()


async def bare(arguments: list[dict[str, Any]]) -> None:
    await asyncio.gather(*[shout(**each) for each in arguments])


async def bare_in_threads(arguments: list[dict[str, Any]]) -> None:
    await asyncio.gather(*[asyncio.to_thread(shout_in_thread, **each) for each in arguments])


@pytest.mark.parametrize(
    ("function", "rival"),
    [pytest.param(shout, bare, id="async"), pytest.param(shout_in_thread, bare_in_threads, id="sync")],
)
def test_R3_a_call_costs_at_most_five_times_what_it_costs_in_a_bare_gather(
    function: Callable[..., Any], rival: Callable[[list[dict[str, Any]]], Awaitable[None]]
) -> None:
    registry = ToolRegistry([function])
    arguments = [{"text": f"number {number}"} for number in range(COUNT)]
    calls = [ToolCall(str(number), function.__name__, each) for number, each in enumerate(arguments)]
    loop = asyncio.new_event_loop()
    try:
        results = loop.run_until_complete(registry.execute_parallel(calls))
        assert [each.result.value for each in results] == [each["text"].upper() for each in arguments]
        ours, theirs = fastest_in_turn(
            lambda: loop.run_until_complete(registry.execute_parallel(calls)),
            lambda: loop.run_until_complete(rival(arguments)),
            rounds=50,
            enough=lambda ours, theirs: ours / theirs <= 5,
        )
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    print(
        f"execute_parallel of {COUNT} {function.__name__}: {ours / COUNT * 1e6:.1f} µs a call, bare gather "
        f"{theirs / COUNT * 1e6:.1f} µs: {ours / theirs:.1f} times that"
    )
    assert ours / theirs <= 5
