"""What calls are made with, and those that no call can be made with (rules R3, R7)."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from tests.wording import mentions
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import ALLOW, AuditRecord
from toolbelt.runtime.reducers.reducer import ReduceInfo, ReducerRegistry
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult

INPUT_INVALID, NOT_AVAILABLE = FailureCode.INPUT_INVALID, FailureCode.NOT_AVAILABLE


async def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def add(left: int, right: int = 1) -> int:
    return left + right


def execute(registry: ToolRegistry, *calls: Any, **settings: Any) -> list[ToolResult]:
    return [each.result for each in asyncio.run(registry.execute_parallel(calls, **settings))]


def call(name: str, /, **args: Any) -> ToolCall:
    return ToolCall("an id", name, args)


SCHEMA = {"type": "object", "properties": {"left": {"type": "integer"}}, "required": ["left"]}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        pytest.param("{left: 1}", "not JSON", id="no-json"),
        pytest.param("[1]", "a list", id="no-object"),
        pytest.param("null", "null", id="null"),
        pytest.param({"left": "x"}, "left", id="against-the-schema"),
        pytest.param({}, "left", id="missing"),
        pytest.param("", "left", id="empty-text-is-an-empty-object"),
        pytest.param("[" * 100_000, "deep", id="nested-without-end"),
        pytest.param('{"left": ' + "9" * 5_000 + "}", "digits", id="a-number-without-end"),
        pytest.param({"left": 10**5_000}, "digits", id="a-value-without-end"),
        pytest.param({1: 2}, "text", id="names-that-are-no-text"),
        pytest.param(b"\xff", "UTF-8", id="bytes-that-are-no-text"),
    ],
)
@pytest.mark.parametrize("parameters", [None, SCHEMA], ids=["derived", "given"])
def test_R3_bad_arguments_cost_their_own_call_and_say_what_to_write(
    args: Any, said: str, parameters: dict[str, Any] | None
) -> None:
    registry = ToolRegistry([ExecutableTool.of(add, parameters=parameters)])
    bad, good = execute(registry, ToolCall("1", "add", args), call("add", left=1))
    assert (bad.code, good.structured) == (INPUT_INVALID, 2)
    assert said in bad.text
    assert "It takes: left (required)" in bad.text


def test_R3_arguments_that_the_schema_lets_pass_but_not_the_function() -> None:
    registry = ToolRegistry([ExecutableTool.of(add, parameters={"type": "object"})])
    extra, missing, right = execute(registry, call("add", left=1, wrong=2), call("add"), call("add", left=1, right=2))
    assert (extra.code, missing.code, right.structured) == (INPUT_INVALID, INPUT_INVALID, 3)
    assert "wrong" in extra.text
    assert "left" in missing.text


def test_R3_a_type_error_of_the_tool_itself_is_its_failure() -> None:
    def fail(left: int) -> None:
        raise TypeError(f"{left} is not to my taste")

    (result,) = execute(ToolRegistry([fail]), call("fail", left=1))
    assert result.code is FailureCode.EXECUTION_FAILED
    assert mentions(result.error, "TypeError", 1)


def test_R3_a_schema_that_is_broken_holds_nothing_against_the_arguments() -> None:
    broken = {"type": "object", "properties": {"left": {"type": "no such type"}}}
    nowhere = {"type": "object", "properties": {"left": {"$ref": "https://nowhere.invalid/schema.json"}}}
    for schema in (broken, nowhere):
        (result,) = execute(ToolRegistry([ExecutableTool.of(add, parameters=schema)]), call("add", left=1))
        assert result.structured == 2


def test_R3_the_model_cannot_hand_over_a_context() -> None:
    def who(ctx: ToolContext) -> str | None:
        return ctx.agent

    for parameters in (None, {"type": "object"}):
        registry = ToolRegistry([ExecutableTool.of(who, parameters=parameters)])
        forged, own = execute(registry, call("who", ctx={"agent": "root"}), call("who"), ctx=ToolContext(agent="me"))
        assert (forged.code, own.value) == (INPUT_INVALID, "me")


@pytest.mark.parametrize("parameters", [None, {"type": "object"}], ids=["derived", "given"])
def test_R7_a_tool_that_changes_its_arguments_changes_nothing_else(parameters: dict[str, Any] | None) -> None:
    def spoil(items: list[Any], ctx: ToolContext) -> int:
        items.append("spoiled")
        return len(items)

    class Seen:
        tool_name = "spoil"

        def __init__(self) -> None:
            self.args: list[Any] = []

        def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
            self.args.append(json.dumps(info.args))
            return result

    records: list[AuditRecord] = []
    seen = Seen()
    tool = ExecutableTool.of(spoil, parameters=parameters, guard=lambda args, ctx: ALLOW)
    registry = ToolRegistry([tool], reducers=ReducerRegistry([seen]), audit=records.append)
    shared: dict[str, Any] = {"items": [1, [2]]}
    results = execute(registry, ToolCall("1", "spoil", shared), ToolCall("2", "spoil", shared))
    assert [each.structured for each in results] == [3, 3]
    assert shared == {"items": [1, [2]]}
    assert seen.args == ['{"items": [1, [2]]}'] * 2
    assert [each.arguments for each in records] == [shared, shared]


def test_R7_a_guard_cannot_change_what_the_tool_gets() -> None:
    def meddle(args: Any, ctx: ToolContext) -> Any:
        args["left"] = 100
        return ALLOW

    (result,) = execute(ToolRegistry([ExecutableTool.of(add, guard=meddle)]), call("add", left=1))
    assert result.code is NOT_AVAILABLE
    assert "TypeError" in result.text


def _leave(_: int) -> int:
    raise SystemExit(3)


def test_R3_a_validator_that_exits_costs_its_own_call() -> None:
    def count(items: Annotated[int, AfterValidator(_leave)]) -> int:
        return items

    gone, fine = execute(ToolRegistry([count, shout]), call("count", items=1), call("shout", text="a"))
    assert (gone.code, fine.value) == (INPUT_INVALID, "A")
    assert "SystemExit: 3" in gone.text


def test_R3_one_hostile_value_leaves_the_schema_in_force() -> None:
    schema = {"type": "object", "properties": {"left": {"type": "number", "multipleOf": 0.5}}}
    registry = ToolRegistry([ExecutableTool.of(add, parameters=schema)])
    execute(registry, call("add", left=10**400))
    (result,) = execute(registry, call("add", left="1"))
    assert result.code is INPUT_INVALID
