"""The pipeline of `execute_parallel`: who may be called, with what, and what comes of it (rules R3, R4, R6, R7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.guards import ALLOW, AuditRecord, ask, refuse
from toolbelt.runtime.reducers.reducer import ReduceInfo, ReducerRegistry
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import CallResult, FailureCode, ToolCall, ToolResult

NOT_AVAILABLE, INPUT_INVALID = FailureCode.NOT_AVAILABLE, FailureCode.INPUT_INVALID


async def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def add(left: int, right: int = 1) -> int:
    return left + right


def execute(registry: ToolRegistry, *calls: Any, **settings: Any) -> list[ToolResult]:
    return [each.result for each in asyncio.run(registry.execute_parallel(calls, **settings))]


def call(name: str, /, **args: Any) -> ToolCall:
    return ToolCall("an id", name, args)


def tool_of(name: str, function: Callable[..., Any] | None = None, **settings: Any) -> ExecutableTool:
    return ExecutableTool.of(function or (lambda: f"{name} ran"), name=name, **settings)


def test_R3_results_come_in_the_order_of_the_calls_whoever_is_done_first() -> None:
    async def wait(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    calls = [ToolCall(f"c{number}", "wait", {"seconds": each}) for number, each in enumerate((0.06, 0.0, 0.03))]
    results = asyncio.run(ToolRegistry([wait]).execute_parallel(calls))
    assert [(each.tool_call_id, each.name, each.result.structured) for each in results] == [
        ("c0", "wait", 0.06),
        ("c1", "wait", 0.0),
        ("c2", "wait", 0.03),
    ]


def test_R3_all_calls_run_at_once() -> None:
    async def main() -> list[CallResult]:
        barrier = asyncio.Barrier(20)

        async def meet(number: int) -> int:
            await barrier.wait()
            return number

        return await ToolRegistry([meet]).execute_parallel([call("meet", number=each) for each in range(20)])

    assert [each.result.structured for each in asyncio.run(main())] == list(range(20))


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        pytest.param({"allowed_tools": []}, NOT_AVAILABLE, "not permitted", id="an-empty-allow-list-allows-none"),
        pytest.param({"allowed_tools": ["add"]}, NOT_AVAILABLE, "not permitted", id="another-is-allowed"),
        pytest.param(
            {"filter_opts": FilterOpts(exclude_tools=frozenset({"shout"}))},
            NOT_AVAILABLE,
            "excluded",
            id="excluded-beats-allowed",
        ),
        pytest.param({"allowed_tools": ["shout"]}, None, "HI", id="allowed-runs"),
        pytest.param({"allowed_tools": None}, None, "HI", id="no-list-restricts-nothing"),
    ],
)
def test_R3_the_gates_of_the_listing_hold_for_calls(
    settings: dict[str, Any], code: FailureCode | None, said: str
) -> None:
    registry = ToolRegistry([shout, add])
    (result,) = execute(registry, call("shout", text="hi"), **settings)
    assert result.code is code
    assert said in result.text
    is_shown = any(each["name"] == "shout" for each in registry.to_definitions(**settings))
    assert is_shown is result.ok


def test_R3_an_unknown_tool_is_answered_with_the_nearest_that_is_shown() -> None:
    registry = ToolRegistry([tool_of("read_file"), tool_of("read_files_secretly"), tool_of("write_file")])
    (result,) = execute(registry, call("read_fil"), allowed_tools=["read_file", "write_file"])
    assert result.code is NOT_AVAILABLE
    assert result.error == "Unknown tool: 'read_fil'. Did you mean 'read_file' or 'write_file'?"


def test_R3_names_of_hidden_tools_are_never_told() -> None:
    registry = ToolRegistry(
        [
            tool_of("hidden_by_list"),
            tool_of("hidden_by_itself", is_available=lambda: False),
            tool_of("hidden_by_need", capabilities=["network"]),
            tool_of("mcp__hidden__tool"),
            tool_of("shown"),
        ]
    )
    settings: dict[str, Any] = {"allowed_tools": ["shown"], "filter_opts": FilterOpts(allowed_mcp_servers=frozenset())}
    for name in ("hidden", "hidden_by", "mcp__hidden__too", "mcp__", "", "shwn"):
        (result,) = execute(registry, call(name), **settings)
        assert result.code is NOT_AVAILABLE
        told = (result.error or "").replace(repr(name), "")
        assert "hidden" not in told
        assert "shown" in told


def test_R3_an_endless_name_is_neither_repeated_nor_looked_for() -> None:
    (result,) = execute(ToolRegistry([shout]), call("x" * 1_000_000))
    assert result.code is NOT_AVAILABLE
    assert len(result.text) < 200


@pytest.mark.parametrize("is_known_before", [True, False], ids=["barred-before", "unknown-before"])
def test_R3_what_one_call_of_a_batch_opens_another_cannot_use(is_known_before: bool) -> None:
    opened = not is_known_before
    registry = ToolRegistry()

    async def open_it() -> str:
        nonlocal opened
        opened = True
        registry.register(tool_of("late", is_available=lambda: opened))
        return "opened"

    registry.register(open_it)
    if is_known_before:
        registry.register(tool_of("late", is_available=lambda: opened))
    assert [each.ok for each in execute(registry, call("open_it"), call("late"))] == [True, False]
    assert [each.ok for each in execute(registry, call("late"))] == [True]


def test_R3_what_one_call_takes_away_the_others_of_its_batch_still_have() -> None:
    registry = ToolRegistry([tool_of("other")])

    def take_away() -> None:
        registry.unregister("other")

    registry.register(take_away)
    assert [each.ok for each in execute(registry, call("take_away"), call("other"))] == [True, True]
    assert [each.ok for each in execute(registry, call("other"))] == [False]


def test_R3_each_tool_is_asked_once_a_batch_whether_it_is_there() -> None:
    asked = []

    def is_available() -> bool:
        asked.append(1)
        return True

    execute(ToolRegistry([tool_of("one", is_available=is_available)]), *[call("one")] * 10)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), GeneratorExit()], ids=lambda error: type(error).__name__
)
def test_R7_a_tool_that_cannot_say_whether_it_is_there_is_not(error: BaseException) -> None:
    def is_available() -> bool:
        raise error

    registry = ToolRegistry([shout, tool_of("odd", is_available=is_available)])
    odd, other = execute(registry, call("odd"), call("shout", text="a"))
    assert (odd.code, other.value) == (NOT_AVAILABLE, "A")
    assert type(error).__name__ in odd.text


class _Spiteful:
    @property
    def function(self) -> Any:
        raise RuntimeError("no attribute of mine")


class _Nameless:
    def __str__(self) -> str:
        raise RuntimeError("no text of mine")


def _failing() -> Iterator[Any]:
    yield call("shout", text="a")
    raise OSError("the calls are gone")


@pytest.mark.parametrize(
    "rubbish",
    [
        pytest.param(None, id="None"),
        pytest.param(5, id="a-number"),
        pytest.param("shout", id="text"),
        pytest.param({}, id="an-empty-mapping"),
        pytest.param({"name": None, "args": None}, id="no-name"),
        pytest.param({"name": ["shout"], "args": {}}, id="a-list-for-a-name"),
        pytest.param({"name": {"a": 1}, "id": object()}, id="unhashable-name"),
        pytest.param({"name": _Nameless()}, id="a-name-without-text"),
        pytest.param(ToolCall(None, None, {}), id="a-call-of-nothing"),  # type: ignore[arg-type]
        pytest.param(_Spiteful(), id="raises-when-looked-at"),
        pytest.param({"function": 5}, id="a-function-that-is-none"),
        pytest.param([], id="a-list"),
    ],
)
def test_R3_rubbish_among_the_calls_gets_a_result_in_its_place(rubbish: Any) -> None:
    results = execute(ToolRegistry([shout]), call("shout", text="a"), rubbish, call("shout", text="b"))
    assert [each.ok for each in results] == [True, False, True]
    assert results[1].code is NOT_AVAILABLE


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        pytest.param(None, 0, id="None-is-no-call"),
        pytest.param([], 0, id="an-empty-batch"),
        pytest.param(5, 1, id="a-number-is-one-call-of-no-tool"),
        pytest.param("text", 1, id="text-is-one-call-of-no-tool"),
        pytest.param(call("shout", text="a"), 1, id="a-call-alone-is-one"),
        pytest.param({"name": "shout", "args": {"text": "a"}}, 1, id="a-mapping-alone-is-one"),
        pytest.param(_failing(), 1, id="an-iterator-that-raises"),
    ],
)
def test_R3_whatever_is_handed_over_as_calls_nothing_is_raised(calls: Any, count: int) -> None:
    assert len(asyncio.run(ToolRegistry([shout]).execute_parallel(calls))) == count


def test_R3_calls_of_providers_are_read_as_they_come() -> None:
    function = {"name": "add", "arguments": '{"left": 2, "right": 3}'}
    of_litellm = SimpleNamespace(id="b", function=SimpleNamespace(**function))
    results = asyncio.run(ToolRegistry([add]).execute_parallel([{"id": "a", "function": function}, of_litellm]))
    assert [(each.tool_call_id, each.result.structured) for each in results] == [("a", 5), ("b", 5)]


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
    assert result.error == "Tool fail failed: TypeError: 1 is not to my taste"


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


# R6: dry runs and capabilities


def test_R6_a_dry_run_says_what_would_be_called_and_does_nothing() -> None:
    done = []

    def guard(args: Any, ctx: ToolContext) -> Any:
        done.append("guard")
        return ALLOW

    def backend(tool: Any, ctx: ToolContext) -> str:
        done.append("backend")
        return "net"

    def write(path: str) -> None:
        done.append("tool")

    tool = ExecutableTool.of(write, guard=guard, capabilities=["network"])
    registry = ToolRegistry([tool], backends={"network": backend}, audit=lambda record: done.append("audit"))
    (result,) = execute(registry, call("write", path="/é"), ctx=ToolContext(dry_run=True))
    assert result.ok
    assert result.value == 'Dry run: write would be called with {"path": "/é"}'
    assert result.structured == {"tool": "write", "args": {"path": "/é"}}
    assert done == []


def test_R6_a_dry_run_can_say_any_arguments() -> None:
    class Unspeakable:
        def __repr__(self) -> str:
            raise RuntimeError("no word")

    tool = ExecutableTool.of(add, parameters={"type": "object"})
    (result,) = execute(ToolRegistry([tool]), call("add", left=Unspeakable()), ctx=ToolContext(dry_run=True))
    assert result.value == 'Dry run: add would be called with {"left": "<Unspeakable>"}'


@pytest.mark.parametrize(
    ("made", "settings", "code"),
    [
        pytest.param(call("add"), {}, INPUT_INVALID, id="arguments-are-checked"),
        pytest.param(call("nope"), {}, NOT_AVAILABLE, id="unknown-tools-are-unknown"),
        pytest.param(call("add", left=1), {"allowed_tools": []}, NOT_AVAILABLE, id="the-allow-list-holds"),
        pytest.param(call("reach"), {}, NOT_AVAILABLE, id="capabilities-need-a-backend"),
        pytest.param(call("away"), {}, NOT_AVAILABLE, id="availability-is-asked"),
    ],
)
def test_R6_gates_hold_in_a_dry_run(made: ToolCall, settings: dict[str, Any], code: FailureCode) -> None:
    tools = [
        tool_of("add", add),
        tool_of("reach", capabilities=["network"]),
        tool_of("away", is_available=lambda: False),
    ]
    (result,) = execute(ToolRegistry(tools), made, ctx=ToolContext(dry_run=True), **settings)
    assert result.code is code


def test_R6_a_tool_gets_the_backends_that_it_declares_and_no_others() -> None:
    def look(ctx: ToolContext) -> dict[str, Any]:
        return {"backends": dict(ctx.backends), "attachments": list(ctx.attachments)}

    async def network(tool: ExecutableTool, ctx: ToolContext) -> str:
        return f"net of {tool.name} for {ctx.agent}"

    registry = ToolRegistry(
        [
            tool_of("both", look, capabilities=["network", "attachments"]),
            tool_of("store", look, capabilities=["storage"]),
            tool_of("none", look),
        ],
        backends={"network": network, "storage": "disk", "attachments": True, "secrets": "password"},
    )
    calls = [call("both"), call("store"), call("none")]
    both, store, none = execute(registry, *calls, ctx=ToolContext(agent="a"), attachments=("picture",))
    assert both.structured == {
        "backends": {"attachments": True, "network": "net of both for a"},
        "attachments": ["picture"],
    }
    assert store.structured == {"backends": {"storage": "disk"}, "attachments": []}
    assert none.structured == {"backends": {}, "attachments": []}


@pytest.mark.parametrize("capability", list(Capability))
def test_R6_a_capability_without_a_backend_makes_the_call_unavailable(capability: Capability) -> None:
    (result,) = execute(ToolRegistry([tool_of("needy", capabilities=[capability])]), call("needy"))
    assert result.code is NOT_AVAILABLE
    assert capability.value in result.text


def test_R6_attachments_and_backends_of_the_context_reach_nobody_who_does_not_declare_them() -> None:
    def look(ctx: ToolContext) -> list[Any]:
        return [*ctx.attachments, *ctx.backends]

    ctx = ToolContext(attachments=("a",), backends={"secrets": "s"})
    registry = ToolRegistry(
        [tool_of("bare", look), tool_of("declared", look, capabilities=["attachments"])],
        backends={"attachments": "any"},
    )
    bare, declared = execute(registry, call("bare"), call("declared"), ctx=ctx)
    assert (bare.structured, declared.structured) == ([], ["a", "attachments"])


# K7: guards within the pipeline; test_guarding.py has the rest


def test_K7_the_guard_is_asked_after_the_arguments_are_checked_and_before_the_tool_runs() -> None:
    order: list[str] = []

    def guard(args: Any, ctx: ToolContext) -> Any:
        order.append(f"guard {args['left']}")
        return refuse("not that one") if args["left"] > 5 else ALLOW

    def touch(left: int) -> str:
        order.append(f"tool {left}")
        return "done"

    registry = ToolRegistry(
        [ExecutableTool.of(touch, guard=guard)], audit=lambda record: order.append(f"audit {record.allowed}")
    )
    invalid = execute(registry, call("touch", left="x"))
    assert (invalid[0].code, order) == (INPUT_INVALID, [])
    assert execute(registry, call("touch", left=1))[0].ok
    assert order == ["guard 1", "audit True", "tool 1"]
    (refused,) = execute(registry, call("touch", left=6))
    assert refused.code is NOT_AVAILABLE
    assert "not that one" in refused.text
    assert order[3:] == ["guard 6", "audit False"]


def test_K7_a_person_is_asked_with_the_context_s_confirm() -> None:
    questions = []

    async def confirm(question: str) -> bool:
        questions.append(question)
        return True

    tool = ExecutableTool.of(add, guard=lambda args, ctx: ask("Really add?"))
    (alone,) = execute(ToolRegistry([tool]), call("add", left=1))
    assert alone.code is NOT_AVAILABLE
    assert "needs confirmation" in alone.text
    (asked,) = execute(ToolRegistry([tool]), call("add", left=1), ctx=ToolContext(confirm=confirm))
    assert (asked.structured, questions) == (2, ["Really add?"])


# R4 and R5: reduced, then cut


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


@pytest.mark.parametrize("budget", [0, -5, float("-1e9")])
def test_R4_a_budget_of_nothing_leaves_the_mark_alone(budget: Any) -> None:
    ok, bad, empty = execute(
        ToolRegistry([long]),
        call("long", size=3),
        call("nope"),
        call("long", size=0),
        ctx=ToolContext(result_budget_chars=budget),
    )
    assert ok.value == "\n[truncated — 3 chars total]"
    assert bad.text.startswith("\n[truncated — ")
    assert empty.value == ""


@pytest.mark.parametrize("budget", [float("nan"), float("inf"), None, "many"])
def test_R4_a_budget_that_is_no_number_is_the_default(budget: Any) -> None:
    (result,) = execute(ToolRegistry([long]), call("long", size=90_000), ctx=ToolContext(result_budget_chars=budget))
    assert len(result.value.partition("\n")[0]) == 80_000


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


def test_R5_reducers_see_no_failures() -> None:
    seen = []

    class Watch:
        tool_name = "fail"

        def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
            seen.append(result)
            return ToolResult(True, "all is well")

    def fail() -> None:
        raise ValueError("x" * 100)

    registry = ToolRegistry([fail], reducers=ReducerRegistry([Watch()]))
    (result,) = execute(registry, call("fail"), ctx=ToolContext(result_budget_chars=20))
    assert (result.ok, seen) == (False, [])
    assert result.text == "Tool fail failed: Va\n[truncated — 130 chars total]"


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
