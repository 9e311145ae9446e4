"""Fifty calls that do what no tool should, in one batch: each costs its own result alone (rule R7)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.runtime import hostile
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import GuardDecision
from toolbelt.runtime.reducers.reducer import ReduceInfo, ReducerRegistry
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult

pytestmark = pytest.mark.usefixtures("no_complaints", "importable")

LIMIT_SECONDS = 4.0
"""Longest limit of the batch. Processes have to start within it, on a machine that is busy."""
SHORT_SECONDS = 0.5
TIMEOUT, FAILED = FailureCode.TIMEOUT, FailureCode.EXECUTION_FAILED
INVALID, ABSENT = FailureCode.INPUT_INVALID, FailureCode.NOT_AVAILABLE
OK = None


class Call(NamedTuple):
    """One call, and the code of its result."""

    function: Callable[..., Any]
    code: FailureCode | None
    args: Any = {}  # noqa: RUF012  nobody changes it
    settings: dict[str, Any] = {}  # noqa: RUF012  as above


def _guard_hangs(args: Any, ctx: Any) -> GuardDecision:
    hostile.hang()
    raise AssertionError


def _raise() -> bool:
    raise SystemExit(1)


def _hang() -> bool:
    hostile.hang()
    return True


SHORT = {"timeout_seconds": SHORT_SECONDS}
ISOLATED = {"isolated": True}
EVIL = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}}
LOOKING = {"type": "object", "properties": {"text": {"type": "string", "pattern": r"^(?=(a*)*\1$)x"}}}
CHAIN = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {"type": "integer"}}
DOUBLING = {"type": "object", "properties": {"text": {"$ref": "#/$defs/d0"}}, "$defs": CHAIN}
FETCHING = {"type": "object", "properties": {"text": {"$ref": "http://127.0.0.1:9/x.json"}}}
LONG = {"text": "a" * 40 + "!"}

CALLS = (
    Call(hostile.hang, TIMEOUT),
    Call(hostile.hang, TIMEOUT, settings=SHORT),
    Call(hostile.hang_async, TIMEOUT),
    Call(hostile.hang_async, TIMEOUT, settings=SHORT),
    Call(hostile.hang_without_end, TIMEOUT),
    Call(hostile.hang_without_end, TIMEOUT, settings=SHORT),
    Call(hostile.block_the_loop, TIMEOUT, settings={"timeout_seconds": 0.1}),
    Call(hostile.block_the_loop, TIMEOUT, settings={"timeout_seconds": 0.1}),
    Call(hostile.block_the_loop, OK),
    Call(hostile.compute_without_end, TIMEOUT, settings=ISOLATED | SHORT),
    Call(hostile.compute_without_end_async, TIMEOUT, settings=ISOLATED | SHORT),
    Call(hostile.ignore_signals, TIMEOUT, settings=ISOLATED | SHORT),
    Call(hostile.exit_at_once, FAILED, settings=ISOLATED),
    Call(hostile.crash, FAILED, settings=ISOLATED),
    Call(hostile.exit_politely, FAILED, settings=ISOLATED),
    Call(hostile.exit_politely, FAILED),
    *(Call(hostile.raise_it, FAILED, {"kind": kind}) for kind in ("value", "exit", "generator", "base")),
    *(Call(hostile.raise_it_async, FAILED, {"kind": kind}) for kind in ("value", "exit", "base", "cancelled")),
    Call(hostile.cancel_itself, FAILED),
    Call(hostile.recurse, FAILED),
    Call(hostile.give_much, OK),
    Call(hostile.give_much_that_is_deep, FAILED),
    Call(hostile.give_itself, FAILED),
    Call(hostile.give_something_else, FAILED),
    Call(hostile.give_a_generator, FAILED),
    Call(hostile.give_a_lock, FAILED),
    Call(hostile.give_what_is_torn, FAILED),
    Call(hostile.take_text, INVALID, LONG, {"parameters": EVIL}),
    Call(hostile.take_text, OK, LONG, {"parameters": LOOKING}),
    Call(hostile.take_text, OK, LONG, {"parameters": DOUBLING}),
    Call(hostile.take_text, OK, LONG, {"parameters": FETCHING}),
    Call(hostile.take_text, INVALID, {"text": 3}),
    Call(hostile.take_text, INVALID, "{" * 100_000),
    Call(hostile.take_text, INVALID, "[" * 100_000),
    Call(hostile.take_text, INVALID, {"text": "a", "more": 1}),
    Call(hostile.take_text, INVALID, object()),
    Call(hostile.take_text, ABSENT, {"text": "a"}, {"is_available": _raise}),
    Call(hostile.take_text, TIMEOUT, {"text": "a"}, {"is_available": _hang} | SHORT),
    Call(hostile.take_text, TIMEOUT, {"text": "a"}, {"is_available": hostile.hang_async} | SHORT),
    Call(hostile.take_text, ABSENT, {"text": "a"}, {"guard": _guard_hangs} | SHORT),
    Call(hostile.take_text, ABSENT, {"text": "a"}, {"guard": hostile.raise_it}),
    Call(hostile.take_text, ABSENT, {"text": "a"}, {"capabilities": ["network"]}),
    Call(hostile.add, OK, {"a": 1}),
    Call(hostile.add_later, OK, {"a": 1}),
)


class _BadReducer:
    def __init__(self, tool_name: str) -> None:
        self.tool_name = tool_name

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        raise SystemExit(1)


@pytest.fixture
def _freed() -> Iterator[None]:
    hostile.FREED.clear()
    yield
    hostile.FREED.set()


@pytest.mark.usefixtures("_freed")
def test_R7_fifty_hostile_calls_cost_their_own_results_and_the_batch_ends_in_time() -> None:
    assert len(CALLS) == 50
    tools = [ExecutableTool.of(call.function, name=f"t{number}", **call.settings) for number, call in enumerate(CALLS)]
    reducers = ReducerRegistry(_BadReducer(tool.name) for tool in tools)
    registry = ToolRegistry(tools, reducers=reducers, default_timeout_seconds=LIMIT_SECONDS)
    for tool in tools:  # what the first call of a tool costs once: its validator, its imports
        tool.validator  # noqa: B018
    calls = [ToolCall(str(number), f"t{number}", call.args) for number, call in enumerate(CALLS)]

    async def main() -> tuple[float, list[Any]]:
        started = time.monotonic()
        results = await registry.execute_parallel(calls)
        return time.monotonic() - started, results

    seconds, results = asyncio.run(main())
    codes = [each.result.code for each in results]
    wrong = [(call.function.__name__, code) for call, code in zip(CALLS, codes, strict=True) if call.code != code]
    assert wrong == []
    assert [each.tool_call_id for each in results] == [str(number) for number in range(50)]
    assert seconds < LIMIT_SECONDS + 1
    assert all(len(each.result.text) < 2_000 for each in results)
