"""Asking what is around a tool: sync or async, and whatever goes wrong is an answer that did not come."""

from __future__ import annotations

import asyncio
import functools
import gc
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.runtime import time_limits
from toolbelt.runtime.time_limits import NoAnswerError, call_with_time_limit, is_async


async def _double(number: int) -> int:
    await asyncio.sleep(0)
    return number * 2


class _AsyncObject:
    async def __call__(self, number: int) -> int:
        return number * 2


class _SyncObject:
    def __call__(self, number: int) -> int:
        return number * 2


@pytest.mark.parametrize(
    ("function", "shows"),
    [
        pytest.param(_double, True, id="async"),
        pytest.param(_AsyncObject(), True, id="async-object"),
        pytest.param(functools.partial(_double), True, id="partial"),
        pytest.param(lambda number: _double(number), False, id="sync-that-gives-a-coroutine"),  # noqa: PLW0108
        pytest.param(lambda number: number * 2, False, id="sync"),
        pytest.param(_SyncObject(), False, id="sync-object"),
        pytest.param((2).__mul__, False, id="written-in-c"),
    ],
)
def test_a_function_of_any_kind_answers(function: Callable[[int], Any], shows: bool) -> None:
    assert is_async(function) is shows
    assert asyncio.run(call_with_time_limit(function, 21, seconds=5)) == 42
    assert asyncio.run(call_with_time_limit(function, 21, seconds=None)) == 42


def test_a_sync_one_blocks_its_own_thread_alone() -> None:
    released = threading.Event()

    async def main() -> bool:
        asked = asyncio.create_task(call_with_time_limit(released.wait, 10, seconds=10))
        await asyncio.sleep(0.01)
        released.set()
        return bool(await asked)

    assert asyncio.run(main())


def _raise(error: BaseException) -> Callable[[], Any]:
    def function() -> None:
        raise error

    return function


def _raise_async(error: BaseException) -> Callable[[], Awaitable[Any]]:
    async def function() -> None:
        raise error

    return function


@pytest.mark.parametrize("make", [_raise, _raise_async], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no"), "raised ValueError: no"),
        (SystemExit(2), "raised SystemExit: 2"),
        (asyncio.CancelledError(), "raised CancelledError"),
        (TimeoutError(), "raised TimeoutError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_is_raised_is_no_answer(
    make: Callable[[BaseException], Callable[[], Any]], error: BaseException, said: str
) -> None:
    with pytest.raises(NoAnswerError) as caught:
        asyncio.run(call_with_time_limit(make(error), seconds=5))
    assert str(caught.value) == said


async def _stubborn() -> None:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def _stubborn_to_the_last() -> None:
    for _ in range(3):
        try:
            await asyncio.sleep(0.2)
        except BaseException:  # noqa: BLE001
            continue


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda: time.sleep(60), id="blocks"),
        pytest.param(lambda: asyncio.sleep(60), id="sleeps"),
        pytest.param(_stubborn, id="will-not-be-cancelled"),
        pytest.param(_stubborn_to_the_last, id="will-not-even-be-closed"),
    ],
)
def test_what_takes_too_long_is_no_answer(function: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "GRACE_SECONDS", 0.05)
    started = time.monotonic()
    with pytest.raises(NoAnswerError) as caught:
        asyncio.run(call_with_time_limit(function, seconds=0.05))
    assert mentions(str(caught.value), "0.05")
    assert time.monotonic() - started < 30
    gc.collect()


def test_being_cancelled_goes_through() -> None:
    ended = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main() -> None:
        await asyncio.wait_for(call_with_time_limit(wait, seconds=None), 0.02)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert ended == [True]
