"""Calls that are cut off: by their own time limit, with their batch, or by themselves (rules R3, R7)."""

from __future__ import annotations

import asyncio
import functools
import gc
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.runtime.samples import execute, execute_on_loop, only_one_thread, tool_of, well
from tests.wording import mentions
from toolbelt.runtime import time_limits
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import ALLOW, GuardDecision
from toolbelt.runtime.reducers.reducer import ReduceInfo, ReducerRegistry
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolResult

EXECUTION_FAILED = FailureCode.EXECUTION_FAILED

pytestmark = pytest.mark.usefixtures("no_complaints")


# Time limits


HANG_SECONDS = 60.0
_FREED = threading.Event()


async def _hang() -> None:
    await asyncio.sleep(HANG_SECONDS)


def _block() -> None:
    _FREED.wait(HANG_SECONDS)


@pytest.fixture
def _blocked() -> Iterator[None]:
    """What blocks its thread does so for the length of a test."""
    _FREED.clear()
    yield
    _FREED.set()


async def _hang_without_end() -> None:
    while True:
        try:
            await asyncio.sleep(HANG_SECONDS)
        except asyncio.CancelledError:
            continue


async def _hang_on_nothing() -> None:
    await asyncio.get_running_loop().create_future()


async def _raise_late() -> None:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        raise ValueError("too late") from None


async def _exit_late() -> None:
    try:
        await asyncio.sleep(60)
    finally:
        sys.exit(3)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(_hang, id="sleeps"),
        pytest.param(_hang_on_nothing, id="waits-for-nothing"),
        pytest.param(_raise_late, id="raises-when-cancelled"),
        pytest.param(_exit_late, id="exits-when-cancelled"),
        pytest.param(_hang_without_end, id="will-not-be-cancelled"),
        pytest.param(functools.partial(asyncio.sleep, HANG_SECONDS), id="async-partial-that-sleeps"),
        pytest.param(lambda: asyncio.sleep(HANG_SECONDS), id="sync-that-gives-a-coroutine-that-sleeps"),
        pytest.param(_block, id="blocks-its-thread"),
    ],
)
@pytest.mark.usefixtures("_blocked")
def test_R7_a_tool_that_hangs_costs_its_own_call(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "GRACE_SECONDS", 0.1)
    registry = ToolRegistry([tool_of("hang", function, timeout_seconds=0.05), tool_of("well", well)])
    started = time.monotonic()
    hung, fine = execute(registry, "hang", "well")
    assert time.monotonic() - started < HANG_SECONDS / 2
    assert (hung.code, fine.value) == (FailureCode.TIMEOUT, "well")
    assert mentions(hung.error or "", "0.05")


@pytest.mark.usefixtures("_blocked")
def test_R7_a_tool_that_may_go_on_all_the_same_is_said_to() -> None:
    registry = ToolRegistry([tool_of("hang", _block, timeout_seconds=0.05)])
    (result,) = execute(registry, "hang")
    assert mentions(result.error, "may still be at work")


def test_R7_the_registry_s_time_limit_is_for_tools_that_name_none() -> None:
    async def nap() -> str:
        await asyncio.sleep(0.15)
        return "rested"

    tools = [tool_of("default", nap), tool_of("patient", nap, timeout_seconds=5)]
    default, patient = execute(ToolRegistry(tools, default_timeout_seconds=0.05), "default", "patient")
    assert (default.code, patient.value) == (FailureCode.TIMEOUT, "rested")
    (unlimited,) = execute(ToolRegistry(tools[:1], default_timeout_seconds=None), "default")
    assert unlimited.value == "rested"


def test_R7_each_call_has_its_own_time() -> None:
    async def nap() -> str:
        await asyncio.sleep(0.3)
        return "rested"

    tools = [tool_of("short", _hang, timeout_seconds=0.05), tool_of("long", nap, timeout_seconds=30)]
    results = execute(ToolRegistry(tools), "short", "long", "long", "short")
    assert [each.value or each.code for each in results] == ["timeout", "rested", "rested", "timeout"]


class _Clock(asyncio.SelectorEventLoop):
    """A loop on which time passes when it is told to."""

    passed = 0.0

    def time(self) -> float:
        return super().time() + self.passed

    async def let_pass(self, seconds: float) -> None:
        self.passed += seconds
        for _ in range(5):  # whatever is due is done
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("thought", "worked", "expected"),
    [
        pytest.param(0, 60, "worked", id="in-time"),
        pytest.param(60, 60, "worked", id="what-its-guard-takes-does-not-count"),
        pytest.param(60, 120, FailureCode.TIMEOUT, id="too-long-after-its-guard"),
    ],
)
def test_R7_the_time_of_a_call_begins_when_it_does(thought: float, worked: float, expected: str) -> None:
    clock = _Clock()

    async def think(args: Any, ctx: ToolContext) -> GuardDecision:
        await clock.let_pass(thought)
        return ALLOW

    async def work() -> str:
        await clock.let_pass(worked)
        return "worked"

    registry = ToolRegistry([ExecutableTool.of(work, timeout_seconds=100, guard=think)])
    with asyncio.Runner(loop_factory=lambda: clock) as runner:
        (result,) = runner.run(execute_on_loop(registry, "work"))
    assert (result.value or result.code) == expected


def test_R7_nothing_is_left_in_the_loop_when_a_batch_is_done() -> None:
    async def main() -> list[str]:
        registry = ToolRegistry([tool_of("well", well, timeout_seconds=600), tool_of("sync", lambda: "s")])
        await execute_on_loop(registry, "well", "sync", "well")
        loop: Any = asyncio.get_running_loop()
        return [repr(handle) for handle in loop._scheduled if not handle.cancelled()]

    assert asyncio.run(main()) == []


def test_R7_what_a_thread_returns_late_goes_nowhere() -> None:
    release = threading.Event()
    ended = threading.Event()

    def late() -> str:
        release.wait(20)
        ended.set()
        return "too late"

    async def main() -> list[ToolResult]:
        registry = ToolRegistry([tool_of("late", late, timeout_seconds=0.05)])
        results = await execute_on_loop(registry, "late")
        release.set()
        await asyncio.to_thread(ended.wait, 20)
        await asyncio.sleep(0.05)
        return results

    assert [each.code for each in asyncio.run(main())] == [FailureCode.TIMEOUT]


def test_R7_what_a_thread_returns_after_the_loop_is_closed_goes_nowhere() -> None:
    release, ended = threading.Event(), threading.Event()

    def late() -> Awaitable[None]:
        release.wait(20)
        ended.set()
        return _hang()

    (result,) = execute(ToolRegistry([tool_of("late", late, timeout_seconds=0.05)]), "late")
    release.set()
    assert ended.wait(20)
    time.sleep(0.05)
    gc.collect()  # a coroutine that nobody awaited would complain here
    assert result.code is FailureCode.TIMEOUT


def test_R7_a_tool_that_is_cut_off_may_tidy_up() -> None:
    async def main() -> bool:
        tidied = asyncio.Event()

        async def careful() -> None:
            try:
                await asyncio.sleep(HANG_SECONDS)
            finally:
                await asyncio.sleep(0.01)
                tidied.set()

        await execute_on_loop(ToolRegistry([tool_of("careful", careful, timeout_seconds=0.02)]), "careful")
        return await asyncio.wait_for(tidied.wait(), HANG_SECONDS / 2)

    assert asyncio.run(main())


# Cancelling the batch


@pytest.mark.parametrize("function", [_hang, _raise_late, _exit_late, _hang_without_end, _block])
@pytest.mark.usefixtures("_blocked")
def test_R3_being_cancelled_goes_through_and_cancels_what_runs(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("time_limits", "batch"):
        monkeypatch.setattr(f"toolbelt.runtime.{module}.GRACE_SECONDS", 0.1)
    registry = ToolRegistry([tool_of("hang", function), tool_of("well", well)])

    async def main() -> None:
        await asyncio.wait_for(execute_on_loop(registry, "hang", "well", "hang"), timeout=0.05)

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert time.monotonic() - started < HANG_SECONDS / 2


def test_R3_what_is_cancelled_has_tidied_up_when_the_cancelling_is_over() -> None:
    tidied = []

    async def main() -> list[str]:
        begun = asyncio.Barrier(3)

        async def careful() -> None:
            await begun.wait()
            try:
                await asyncio.sleep(HANG_SECONDS)
            finally:
                await asyncio.sleep(0.01)
                tidied.append("up")

        batch = asyncio.create_task(execute_on_loop(ToolRegistry([careful]), "careful", "careful"))
        await begun.wait()
        await asyncio.sleep(0)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        return list(tidied)

    assert asyncio.run(main()) == ["up", "up"]


def test_R3_what_a_thread_wants_awaited_after_the_cancelling_is_not_begun() -> None:
    release, begun = threading.Event(), []

    async def begin() -> None:
        begun.append(True)

    def late() -> Awaitable[None]:
        release.wait(10)
        return begin()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(execute_on_loop(ToolRegistry([late]), "late"), timeout=0.02)
        release.set()
        await asyncio.sleep(0.1)

    asyncio.run(main())
    assert begun == []


def test_R7_a_tool_that_cancels_its_own_task_costs_its_own_call() -> None:
    async def give_up() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    gone, fine = execute(ToolRegistry([give_up, well]), "give_up", "well")
    assert (gone.code, fine.value) == (EXECUTION_FAILED, "well")


def test_R7_a_tool_that_cancels_its_own_task_and_returns_has_returned() -> None:
    async def give_up() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "done"

    class Shout:
        tool_name = "give_up"

        def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
            return result

    reducers = ReducerRegistry()
    reducers.register(Shout())
    registry = ToolRegistry([tool_of("give_up", give_up, timeout_seconds=5)], reducers=reducers)
    (result,) = execute(registry, "give_up")
    assert (result.ok, result.value) == (True, "done")


def test_R3_a_call_whose_batch_is_over_before_a_thread_is_free_is_never_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    with only_one_thread(monkeypatch):
        (result,) = execute(ToolRegistry([tool_of("t", lambda: begun.append("t"), timeout_seconds=0.05)]), "t")
        assert result.code is FailureCode.TIMEOUT
    assert begun == []
