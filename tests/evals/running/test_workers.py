"""Several workers at once, by rule E8: what is cut off leaves nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from toolbelt.evals.running.workers import run_workers


async def work(log: list[str], name: str, fails: bool = False) -> None:
    try:
        await asyncio.sleep(0 if fails else 60)
        raise ValueError(name)
    finally:
        await asyncio.sleep(0)
        log.append(name)


def test_E8_workers_run_at_once_until_all_have_ended() -> None:
    log: list[str] = []

    async def meet(barrier: asyncio.Barrier) -> None:
        await barrier.wait()
        log.append("met")

    async def run() -> None:
        barrier = asyncio.Barrier(3)
        await asyncio.wait_for(run_workers(meet(barrier) for _ in range(3)), 10)

    asyncio.run(run())
    assert log == ["met"] * 3


def test_E8_the_failure_of_one_is_heard_once_the_others_have_ended() -> None:
    log: list[str] = []
    workers: list[Coroutine[Any, Any, None]] = [work(log, "b"), work(log, "a", fails=True), work(log, "c")]
    with pytest.raises(ValueError, match="a"):
        asyncio.run(run_workers(workers))
    assert sorted(log) == ["a", "b", "c"]


def test_E8_a_cancellation_ends_them_all() -> None:
    log: list[str] = []

    async def run() -> None:
        task = asyncio.create_task(run_workers([work(log, "a"), work(log, "b")]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(log) == ["a", "b"], "before the cancellation is heard"

    asyncio.run(run())
