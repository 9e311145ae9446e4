"""Calls under way: whatever a tool does costs its own call (rules R3, R7)."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import logging
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.runtime.samples import execute, execute_on_loop, tool_of, well
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.guards import ask_person
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult

EXECUTION_FAILED = FailureCode.EXECUTION_FAILED

pytestmark = pytest.mark.usefixtures("no_complaints")


say = functools.partial(print)  # what tools do that were written for a terminal


class _OwnError(BaseException):
    pass


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no word from me")


def _endless() -> int:
    return _endless() + 1


def _raise(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def _as_async(function: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def async_function() -> Any:
        await asyncio.sleep(0)
        return function()

    return async_function


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(_raise(ValueError("no such file")), "ValueError: no such file", id="an-exception"),
        pytest.param(_raise(KeyError()), "KeyError", id="an-exception-without-words"),
        pytest.param(_raise(SystemExit(3)), "SystemExit: 3", id="sys-exit"),
        pytest.param(_raise(GeneratorExit()), "GeneratorExit", id="generator-exit"),
        pytest.param(_raise(asyncio.CancelledError()), "CancelledError", id="cancelled-by-itself"),
        pytest.param(_raise(TimeoutError("of its own")), "TimeoutError: of its own", id="a-time-out-of-its-own"),
        pytest.param(_raise(_OwnError("mine")), "_OwnError: mine", id="a-base-exception-of-its-own"),
        pytest.param(_raise(_MuteError()), "_MuteError", id="an-exception-that-cannot-be-written"),
        pytest.param(_raise(MemoryError()), "MemoryError", id="no-memory"),
        pytest.param(_endless, "RecursionError", id="endless-recursion"),
        pytest.param(object, "object", id="returns-what-is-no-json"),
        pytest.param(lambda: (each for each in (1, 2)), "generator", id="returns-a-generator"),
    ],
)
def test_R7_a_tool_that_fails_costs_its_own_call(function: Callable[[], Any], said: str, is_async: bool) -> None:
    bad = tool_of("bad", _as_async(function) if is_async else function)
    first, failed, last = execute(ToolRegistry([tool_of("well", well), bad]), "well", "bad", "well")
    assert (first.value, last.value) == ("well", "well")
    assert failed.code is EXECUTION_FAILED
    assert (failed.error or "").startswith("Tool bad failed: ")
    assert said in (failed.error or "")


def test_R7_keyboard_interrupt_in_a_thread_is_the_tool_s_doing() -> None:
    (result,) = execute(ToolRegistry([tool_of("bad", _raise(KeyboardInterrupt()))]), "bad")
    assert (result.code, result.error) == (EXECUTION_FAILED, "Tool bad failed: KeyboardInterrupt")


def test_R7_keyboard_interrupt_on_the_loop_is_the_user_s() -> None:
    registry = ToolRegistry([tool_of("bad", _as_async(_raise(KeyboardInterrupt()))), tool_of("well", well)])
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(execute_on_loop(registry, "bad", "well"))


def test_R7_the_traceback_is_logged_for_whoever_looks_for_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="toolbelt.runtime"):
        execute(ToolRegistry([tool_of("bad", _raise(ValueError("here")))]), "bad")
    (record,) = (record for record in caplog.records if record.name.startswith("toolbelt"))
    assert record.exc_info
    assert isinstance(record.exc_info[1], ValueError)


# Sync and async


class _CallableObject:
    async def __call__(self) -> str:
        return threading.current_thread().name


class _Methods:
    def sync(self) -> str:
        return threading.current_thread().name

    async def on_loop(self) -> str:
        return threading.current_thread().name


async def _here(prefix: str = "") -> str:
    return threading.current_thread().name


def _gives_coroutine() -> Awaitable[str]:
    return _here()


@pytest.mark.parametrize(
    ("function", "is_on_loop"),
    [
        pytest.param(_here, True, id="async-function"),
        pytest.param(_Methods().on_loop, True, id="async-method"),
        pytest.param(functools.partial(_here, "x"), True, id="partial-of-an-async-function"),
        pytest.param(_CallableObject(), True, id="object-with-async-call"),
        pytest.param(_gives_coroutine, True, id="sync-function-that-gives-a-coroutine"),
        pytest.param(lambda: _here("x"), True, id="lambda-around-an-async-function"),
        pytest.param(_Methods().sync, False, id="sync-method"),
        pytest.param(lambda: threading.current_thread().name, False, id="lambda"),
    ],
)
def test_R3_async_runs_on_the_loop_and_sync_in_a_thread(function: Callable[..., Any], is_on_loop: bool) -> None:
    (result,) = execute(ToolRegistry([tool_of("where", function)]), "where")
    assert result.ok
    assert (result.value == threading.current_thread().name) is is_on_loop


def test_R3_fifty_tools_that_block_run_at_once() -> None:
    barrier = threading.Barrier(50, timeout=20)

    def meet() -> str:
        barrier.wait()
        return "met"

    results = execute(ToolRegistry([meet]), *["meet"] * 50)
    assert [each.value for each in results] == ["met"] * 50


def test_R3_a_tool_that_blocks_does_not_stop_the_others() -> None:
    released = threading.Event()

    def block() -> str:
        return "freed" if released.wait(20) else "still blocked"

    async def free() -> str:
        await asyncio.sleep(0.01)
        released.set()
        return "free"

    results = execute(ToolRegistry([block, free]), *["block"] * 20, "free")
    assert [each.value for each in results] == ["freed"] * 20 + ["free"]


@pytest.mark.parametrize("kind", ["sync", "async", "awaited"])
def test_R3_context_variables_of_the_caller_reach_the_tool_and_stay_inside(kind: str) -> None:
    variable = contextvars.ContextVar("variable", default="unset")

    def sync() -> str:
        seen = variable.get()
        variable.set("changed")
        return seen

    async def on_loop() -> str:
        return sync()

    def sync_that_gives_a_coroutine() -> Awaitable[str]:
        return on_loop()

    function = {"sync": sync, "async": on_loop, "awaited": sync_that_gives_a_coroutine}[kind]

    async def main() -> tuple[list[str], str]:
        variable.set("of the caller")
        results = await execute_on_loop(ToolRegistry([tool_of("look", function)]), "look", "look")
        return [each.value for each in results], variable.get()

    assert asyncio.run(main()) == (["of the caller"] * 2, "of the caller")


def test_R3_a_tool_may_run_a_batch_itself() -> None:
    registry = ToolRegistry([well])

    async def inner() -> str:
        say("of the outer")
        return ",".join(each.value for each in await execute_on_loop(registry, "well", "well"))

    def inner_sync() -> str:
        return ",".join(each.value for each in asyncio.run(execute_on_loop(registry, "well")))

    registry.register_all([inner, inner_sync])
    results = execute(registry, "inner", "inner_sync")
    assert [each.value for each in results] == ["well,well", "well"]
    assert results[0].printed == "of the outer\n"


def test_R3_what_a_call_holds_is_freed_when_its_batch_ends() -> None:
    class Client:
        """Stands for what a context may hold: connections, large texts."""

        async def confirm(self, question: str) -> bool:
            return bool(question)

    async def waits() -> str:
        await asyncio.sleep(0)
        return "done"

    async def main() -> weakref.ref[Client]:
        client = Client()
        results = await ToolRegistry([waits]).execute_parallel(
            [ToolCall("1", "waits"), ToolCall("2", "waits")], ToolContext(confirm=client.confirm)
        )
        assert [each.result.value for each in results] == ["done", "done"]
        return weakref.ref(client)

    gc.collect()
    gc.disable()  # what is in a reference cycle would stay until the next collection
    try:
        assert asyncio.run(main())() is None
    finally:
        gc.enable()


# What is printed


def test_R7_what_is_printed_stays_with_its_call(capsys: pytest.CaptureFixture[str]) -> None:
    async def speak() -> str:
        say("async", end="")
        await asyncio.sleep(0.01)
        say(" goes on", end="")
        return "a"

    def speak_sync() -> str:
        sys.stdout.write("sync")
        return "b"

    async def main() -> list[ToolResult]:
        batch = asyncio.create_task(execute_on_loop(ToolRegistry([speak, speak_sync]), "speak", "speak_sync"))
        await asyncio.sleep(0.005)
        say("the agent itself")
        return await batch

    one, two = asyncio.run(main())
    assert (one.value, one.printed) == ("a", "async goes on")
    assert (two.value, two.printed) == ("b", "sync")
    assert capsys.readouterr().out == "the agent itself\n"


def test_R7_what_is_printed_while_a_coroutine_is_made_and_while_it_runs_is_one_text() -> None:
    async def later() -> None:
        for _ in range(50):
            say("b", end="")
            await asyncio.sleep(0)

    def first() -> Awaitable[None]:
        say("a", end="")
        return later()

    results = execute(ToolRegistry([first]), *["first"] * 10)
    assert [each.printed for each in results] == ["a" + "b" * 50] * 10


def test_R7_what_is_printed_is_the_value_where_nothing_is_returned() -> None:
    def speak() -> None:
        say("hello")

    async def speak_and_fail() -> None:
        say("so far")
        raise ValueError("no further")

    spoken, failed = execute(ToolRegistry([speak, speak_and_fail]), "speak", "speak_and_fail")
    assert (spoken.value, spoken.printed, spoken.structured) == ("[printed]\nhello\n", "hello\n", None)
    assert (failed.code, failed.printed) == (EXECUTION_FAILED, "so far\n")


def test_K7_a_person_is_asked_where_the_agent_prints_also_from_inside_a_tool(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def confirm(question: str) -> bool:
        say(question)
        return True

    ctx = ToolContext(confirm=confirm)
    inner = ToolRegistry([tool_of("well", well, guard=lambda args, ctx: ask_person("Sure?"))])

    async def subagent() -> str:
        say("within")
        return (await execute_on_loop(inner, "well", ctx=ctx))[0].value

    (result,) = execute(ToolRegistry([subagent]), "subagent")
    assert (result.value, result.printed) == ("well", "within\n")
    assert capsys.readouterr().out == "Sure?\n"


def test_R7_what_was_printed_before_the_time_was_up_is_kept() -> None:
    async def speak() -> None:
        say("so far")
        await asyncio.sleep(60)

    (result,) = execute(ToolRegistry([tool_of("speak", speak, timeout_seconds=0.05)]), "speak")
    assert (result.code, result.printed) == (FailureCode.TIMEOUT, "so far\n")


# Values


def test_R3_half_characters_are_made_fit_to_be_sent() -> None:
    def half(ctx: ToolContext) -> str:
        say("\udc80")
        return "a\ud83d\ude00b\udc80"

    def fail() -> None:
        raise ValueError("\ud800")

    whole, failed = execute(ToolRegistry([half, fail]), "half", "fail")
    assert (whole.value, whole.printed) == ("a😀b\ufffd", "\ufffd\n")
    assert failed.error == "Tool fail failed: ValueError: \ufffd"


class _Endless(str):
    """A text that says of itself what is not so."""

    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("no end")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_R7_a_text_with_ideas_of_its_own_is_a_text(is_async: bool) -> None:
    def odd() -> ToolResult:
        return ToolResult(True, _Endless("x" * 20))

    tool = tool_of("odd", _as_async(odd) if is_async else odd)
    (result,) = execute(ToolRegistry([tool]), "odd", ctx=ToolContext(result_budget_chars=10))
    assert result.value == "x" * 10 + "\n[truncated — 20 chars total]"


def test_R7_a_huge_result_is_cut() -> None:
    (result,) = execute(ToolRegistry([tool_of("huge", lambda: "x" * 50_000_000)]), "huge")
    assert result.value == "x" * 80_000 + "\n[truncated — 50000000 chars total]"
