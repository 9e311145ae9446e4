"""How fast a model is asked (rule X2)."""

from __future__ import annotations

import asyncio
import time

import pytest

from toolbelt.evals.running.pace import Pace


async def _fill(pace: Pace, count: int) -> list[int]:
    return [await pace.enter() for _ in range(count)]


def test_X2_a_limit_halves_what_is_under_way_and_once_for_all_that_were() -> None:
    async def go() -> None:
        pace = Pace(most=32)
        cuts = await _fill(pace, 32)
        for cut in cuts:
            pace.leave()
            pace.slow_down(cut)
        assert (pace.allowed, pace.is_slowed) == (16, True)
        again = await pace.enter()
        pace.leave()
        pace.slow_down(again)
        assert pace.allowed < 16

    asyncio.run(go())


def test_X2_it_grows_by_one_a_round_and_never_above_what_was_asked_for() -> None:
    async def go() -> None:
        pace = Pace(most=8)
        cuts = await _fill(pace, 8)
        pace.leave()
        pace.slow_down(cuts[0])
        assert pace.allowed == 4
        for _ in range(5):
            pace.speed_up()
        assert pace.allowed == 5
        for _ in range(1000):
            pace.speed_up()
        assert (pace.allowed, pace.is_slowed) == (8, False)

    asyncio.run(go())


def test_X2_one_request_at_a_time_is_the_least() -> None:
    async def go() -> None:
        pace = Pace(most=2)
        for _ in range(9):
            cut = await pace.enter()
            pace.leave()
            pace.slow_down(cut)
        assert pace.allowed == 1

    asyncio.run(go())


def test_X2_who_has_to_wait_is_let_in_when_one_leaves_and_one_who_gives_up_takes_no_turn() -> None:
    async def go() -> None:
        pace = Pace(most=1)
        await pace.enter()
        gives_up, waits = (asyncio.create_task(pace.enter()) for _ in range(2))
        await asyncio.sleep(0)
        pace.leave()
        gives_up.cancel()  # its turn has come in this very step
        await asyncio.wait_for(waits, 5)
        with pytest.raises(asyncio.CancelledError):
            await gives_up

    asyncio.run(go())


def test_X2_nothing_is_sent_in_a_pause_and_it_is_reported_once() -> None:
    async def go() -> list[float]:
        paused: list[float] = []
        pace = Pace(most=4, on_pause=lambda pace: paused.append(pace.pause_seconds(time.monotonic())))
        pace.close_for(0.1)
        pace.close_for(0.05)  # shorter than what is left
        began = time.monotonic()
        await asyncio.gather(pace.enter(), pace.enter())
        assert time.monotonic() - began >= 0.09
        return paused

    [seconds] = asyncio.run(go())
    assert seconds == pytest.approx(0.1, abs=0.02)
