"""What comes of a call: reduced, then cut to its share of the budget (rules R4, R5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.reducers.reducer import ReduceInfo, ReducerRegistry
from toolbelt.runtime.reducers.shipped import default_reducers
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult


def execute(registry: ToolRegistry, *calls: Any, **settings: Any) -> list[ToolResult]:
    return [each.result for each in asyncio.run(registry.execute_parallel(calls, **settings))]


def call(name: str, /, **args: Any) -> ToolCall:
    return ToolCall("an id", name, args)


def tool_of(name: str, function: Callable[..., Any] | None = None, **settings: Any) -> ExecutableTool:
    return ExecutableTool.of(function or (lambda: f"{name} ran"), name=name, **settings)


class Shorten:
    tool_name = "long"

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        return ToolResult(True, f"{result.value[:30]} turn {info.turn_count} of {info.args['size']}")


def long(size: int) -> str:
    return "x" * size


def test_R4_n_counts_every_call_of_the_batch_also_those_that_come_to_nothing() -> None:
    results = execute(
        ToolRegistry([long]),
        call("long", size=1000),
        call("nope"),
        ToolCall("", "long", "["),
        ctx=ToolContext(result_budget_chars=100),
    )
    assert results[0].value == "x" * 33 + "\n[truncated — 1000 chars total]"
    assert results[1].text == "Unknown tool: 'nope'. Known: long."[:33] + "\n[truncated — 34 chars total]"
    assert results[2].text.endswith("chars total]")
    assert results[2].text.index("\n[truncated") == 33


def test_R4_a_tool_s_own_limit_lowers_its_share_and_never_raises_it() -> None:
    tools = [tool_of("low", long, max_result_chars=5), tool_of("high", long, max_result_chars=10**9)]
    ctx = ToolContext(result_budget_chars=40)
    low, high = execute(ToolRegistry(tools), call("low", size=100), call("high", size=100), ctx=ctx)
    assert low.value == "x" * 5 + "\n[truncated — 100 chars total]"
    assert high.value == "x" * 20 + "\n[truncated — 100 chars total]"


def test_R4_the_default_budget_is_80_000_characters_for_all_together() -> None:
    results = execute(ToolRegistry([long]), call("long", size=80_000), call("long", size=40_000))
    assert [len(each.value) - len(each.value.partition("\n")[0]) > 0 for each in results] == [True, False]


def test_R4_a_budget_of_nothing_leaves_the_mark_alone() -> None:
    ok, bad, empty = execute(
        ToolRegistry([long]),
        call("long", size=3),
        call("nope"),
        call("long", size=0),
        ctx=ToolContext(result_budget_chars=0),
    )
    assert ok.value == "\n[truncated — 3 chars total]"
    assert bad.text.startswith("\n[truncated — ")
    assert empty.value == ""


def test_R5_the_reducer_comes_before_the_cut_which_counts_what_it_left() -> None:
    registry = ToolRegistry([long], reducers=ReducerRegistry([Shorten()]))
    (result,) = execute(registry, call("long", size=500), ctx=ToolContext(turn_count=7, result_budget_chars=35))
    assert result.value == "x" * 30 + " turn\n[truncated — 44 chars total]"


def test_R5_a_reducer_is_found_by_the_exact_name_of_its_tool() -> None:
    registry = ToolRegistry([long, tool_of("Long", long)], reducers=ReducerRegistry([Shorten()]))
    reduced, other = execute(registry, call("long", size=100), call("Long", size=100))
    assert (len(reduced.value) < 100, len(other.value)) == (True, 100)


class Misbehaving:
    tool_name = "long"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ValueError("no"), id="raises"),
        pytest.param(SystemExit(1), id="exits"),
        pytest.param(None, id="returns-nothing"),
        pytest.param("short", id="returns-text"),
        pytest.param(ToolResult(True, 5), id="value-that-is-no-text"),  # type: ignore[arg-type]
        pytest.param(ToolResult.failure(FailureCode.TIMEOUT, "no"), id="makes-a-failure-of-it"),
    ],
)
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_R5_a_reducer_that_misbehaves_leaves_the_result_as_it_was(answer: Any, is_async: bool) -> None:
    async def long_async(size: int) -> str:
        return "x" * size

    tool = tool_of("long", long_async if is_async else long)
    registry = ToolRegistry([tool], reducers=ReducerRegistry([Misbehaving(answer)]))
    assert execute(registry, call("long", size=10)) == [ToolResult(True, "x" * 10)]


def test_R4_structured_and_cost_survive_reducer_and_cut() -> None:
    def costly() -> ToolResult:
        return ToolResult(True, "y" * 100, structured={"all": list(range(50))}, cost_usd=0.25)

    reducer = Misbehaving(ToolResult(True, "z" * 50))
    reducer.tool_name = "costly"
    registry = ToolRegistry([costly], reducers=ReducerRegistry([reducer]))
    (result,) = execute(registry, call("costly"), ctx=ToolContext(result_budget_chars=10))
    assert result.value == "z" * 10 + "\n[truncated — 50 chars total]"
    assert (result.structured, result.cost_usd) == ({"all": list(range(50))}, 0.25)


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize(
    ("reduced", "error"),
    [
        pytest.param(ToolResult.failure(FailureCode.TIMEOUT, "short"), "short", id="the-error-is-shorter"),
        pytest.param(
            ToolResult(True, "all is well"), "Tool fail failed: ValueError: no", id="no-success-is-made-of-it"
        ),
        pytest.param(ToolResult(False), "Tool fail failed: ValueError: no", id="an-error-that-is-no-text"),
    ],
)
def test_R5_reducers_shorten_failures(reduced: ToolResult, error: str, is_async: bool) -> None:
    def fail() -> None:
        raise ValueError("no")

    async def fail_async() -> None:
        fail()

    reducer = Misbehaving(reduced)
    reducer.tool_name = "fail"
    registry = ToolRegistry([tool_of("fail", fail_async if is_async else fail)], reducers=ReducerRegistry([reducer]))
    assert execute(registry, call("fail")) == [ToolResult.failure(FailureCode.EXECUTION_FAILED, error)]


def test_R5_what_the_runtime_itself_refuses_is_not_reduced() -> None:
    reducer = Misbehaving(ToolResult.failure(FailureCode.TIMEOUT, "short"))
    registry = ToolRegistry([long], reducers=ReducerRegistry([reducer]))
    (result,) = execute(registry, call("long", size="x"))
    assert result.code is FailureCode.INPUT_INVALID


def test_R5_of_a_failed_test_run_the_failure_stays() -> None:
    passed = "".join(f"tests/test_a.py::test_{number} PASSED [ 50%]\n" for number in range(1_800))
    output = (
        f"=== test session starts ===\n{passed}=== FAILURES ===\n___ test_b ___\nE   assert 1 == 2\n{passed}"
        "FAILED tests/test_a.py::test_b - assert 1 == 2\n=== 1 failed, 3600 passed in 0.31s ===\n"
    )

    def terminal(command: str) -> ToolResult:
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, output)

    registry = ToolRegistry([terminal], reducers=default_reducers())
    (result,) = execute(registry, call("terminal", command="pytest -v"), ctx=ToolContext(result_budget_chars=8_000))
    assert len(output) > 80_000
    assert not result.ok
    kept = [part in result.text for part in ("1 failed, 3600 passed", "E   assert 1 == 2", "PASSED")]
    assert kept == [True, True, False]


def test_R4_an_error_is_cut_to_the_same_size() -> None:
    def fail() -> None:
        raise ValueError("x" * 100)

    (result,) = execute(ToolRegistry([fail]), call("fail"), ctx=ToolContext(result_budget_chars=20))
    assert mentions(result.text, "130 chars")
