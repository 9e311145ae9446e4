"""The pipeline of `execute_parallel`: who may be called, with what, and what comes of it (rules R3, R4, R6, R7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.guards import ALLOW, ask_person, refuse
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
    done: list[int] = []

    async def main() -> list[CallResult]:
        ended = [asyncio.Event() for _ in range(3)]

        async def end(turn: int) -> int:
            if turn:
                await ended[turn - 1].wait()
            done.append(turn)
            ended[turn].set()
            return turn

        calls = [ToolCall(f"c{number}", "end", {"turn": turn}) for number, turn in enumerate((2, 0, 1))]
        return await ToolRegistry([end]).execute_parallel(calls)

    results = [(each.tool_call_id, each.name, each.result.structured) for each in asyncio.run(main())]
    assert (results, done) == ([("c0", "end", 2), ("c1", "end", 0), ("c2", "end", 1)], [0, 1, 2])


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
    assert mentions(result.error, "read_fil", "read_file", "write_file")


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
    assert mentions(result.value, "/é")
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


# K7: guards within the pipeline; test_preparation.py has the rest


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

    tool = ExecutableTool.of(add, guard=lambda args, ctx: ask_person("Really add?"))
    (alone,) = execute(ToolRegistry([tool]), call("add", left=1))
    assert alone.code is NOT_AVAILABLE
    assert "needs confirmation" in alone.text
    (asked,) = execute(ToolRegistry([tool]), call("add", left=1), ctx=ToolContext(confirm=confirm))
    assert (asked.structured, questions) == (2, ["Really add?"])
