"""Laws of `execute_parallel`, whatever the batch and whatever the lists (rules R2, R3, R4)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import CallResult, FailureCode, ToolCall

MARKER_CHARS = len("\n[truncated — 1000000000 chars total]")
NAMES = (
    "read",
    "write",
    "meta",
    "gone",
    "needy",
    "served",
    "mcp__git__log",
    "mcp__git__push",
    "mcp__web__get",
    "ext_a",
    "ext_b",
)
PLUGIN_IDS = {"ext_a": "alpha", "ext_b": "beta", "mcp__web__get": "beta"}


def say(size: int = 0) -> str:
    return "x" * size


async def say_async(size: int = 0) -> str:
    return "é" * size


def fail(text: str = "") -> None:
    raise ValueError(text)


TOOLS = tuple(ExecutableTool.of(each) for each in (say, say_async, fail))


def run(registry: ToolRegistry, calls: Any, **how: Any) -> list[CallResult]:
    return asyncio.run(registry.execute_parallel(calls, **how))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
sizes = st.integers(0, 300)
names = st.sampled_from(["say", "say_async", "fail", "nope", ""])
arguments = st.one_of(
    st.fixed_dictionaries({"size": sizes}),
    st.fixed_dictionaries({"text": st.text(st.characters(), max_size=300)}),
    st.text(max_size=20),
    json_values,
    st.just("{}"),
)
tool_calls = st.builds(ToolCall, st.text(max_size=5), names, arguments)
mappings = st.fixed_dictionaries({"id": json_values, "name": names | json_values, "args": arguments})
anything = st.one_of(tool_calls, tool_calls, mappings, json_values)


@given(st.lists(anything, max_size=12))
def test_R3_any_batch_gets_as_many_results_as_calls_in_order(calls: list[Any]) -> None:
    results = run(ToolRegistry(TOOLS), calls)
    assert len(results) == len(calls)
    for made, result in zip(calls, results, strict=True):
        if isinstance(made, ToolCall):
            assert (result.tool_call_id, result.name) == (made.tool_call_id, made.name)
        assert result.result.ok is (result.result.code is None)
        result.result.text.encode()  # a request can carry it


async def tell(text: str, naps: int) -> str:
    for _ in range(naps):
        await asyncio.sleep(0)
    return text


def tell_from_thread(text: str, naps: int) -> str:
    time.sleep(naps / 10_000)
    return text


told = st.tuples(st.sampled_from(["tell", "tell_from_thread"]), st.text(max_size=50), st.integers(0, 5))


@settings(max_examples=50, deadline=None)
@given(st.lists(told, max_size=12), st.integers(0, 400))
def test_R3_R4_each_gets_what_its_own_call_returned_up_to_its_share(
    wanted: list[tuple[str, str, int]], budget: int
) -> None:
    calls = [
        ToolCall(str(number), name, {"text": text, "naps": naps}) for number, (name, text, naps) in enumerate(wanted)
    ]
    results = run(ToolRegistry([tell, tell_from_thread]), calls, ctx=ToolContext(result_budget_chars=budget))
    assert [each.tool_call_id for each in results] == [each.tool_call_id for each in calls]
    share = budget // max(len(calls), 1)
    for (_, text, _), each in zip(wanted, results, strict=True):
        is_whole = len(text) <= share
        assert each.result.value == (text if is_whole else f"{text[:share]}\n[truncated — {len(text)} chars total]")


@given(st.lists(anything, max_size=12), st.integers(0, 2_000), st.one_of(st.none(), st.integers(0, 200)))
def test_R4_results_exceed_the_budget_by_their_markers_at_most(calls: list[Any], budget: int, own: int | None) -> None:
    tools = [replace(each, max_result_chars=own) for each in TOOLS]
    results = run(ToolRegistry(tools), calls, ctx=ToolContext(result_budget_chars=budget))
    texts = [each.result.text for each in results]
    assert sum(map(len, texts)) <= budget + MARKER_CHARS * len(calls)
    lengths = [
        len(text.rpartition("\n[truncated — ")[0]) if text.endswith(" chars total]") else len(text) for text in texts
    ]
    assert sum(lengths) <= budget


some_names = st.frozensets(st.sampled_from(NAMES))
lists_or_none = st.none() | some_names
filters = st.builds(
    FilterOpts,
    exclude_tools=some_names,
    allowed_mcp_servers=st.none() | st.frozensets(st.sampled_from(["git", "web"])),
    allowed_mcp_tools=lists_or_none,
    allowed_plugins=st.none() | st.frozensets(st.sampled_from(["alpha", "beta"])),
)


def is_let_through(
    name: str, allowed: frozenset[str] | None, filter_opts: FilterOpts | None, always: frozenset[str]
) -> bool:
    """What the rules say of a name, in the words of the rules: `None` is unrestricted, empty is none."""
    opts = filter_opts or FilterOpts()
    if name == "needy" or name in opts.exclude_tools:
        return False
    said = []
    if not name.startswith(("mcp__", "ext_")):
        said.append(name in always or allowed is None or name in allowed)
    if name.startswith("mcp__"):
        said.append(opts.allowed_mcp_servers is None or name.split("__")[1] in opts.allowed_mcp_servers)
        said.append(opts.allowed_mcp_tools is None or name in opts.allowed_mcp_tools)
    if name in PLUGIN_IDS:
        said.append(opts.allowed_plugins is None or PLUGIN_IDS[name] in opts.allowed_plugins)
    return all(said)


@settings(max_examples=150, deadline=None)
@given(
    allowed=lists_or_none,
    filter_opts=st.none() | filters,
    always=some_names,
    away=some_names,
    called=st.lists(st.sampled_from([*NAMES, "nope"]), max_size=15),
)
def test_R2_what_runs_is_exactly_the_calls_of_what_is_shown(
    allowed: frozenset[str] | None,
    filter_opts: FilterOpts | None,
    always: frozenset[str],
    away: frozenset[str],
    called: list[str],
) -> None:
    ran: Counter[str] = Counter()
    registry = ToolRegistry(backends={"storage": "disk"})

    def make(name: str) -> ExecutableTool:
        async def function() -> None:
            ran[name] += 1

        needs = {"needy": ("network",), "served": ("storage",)}.get(name, ())
        return ExecutableTool(
            name=name,
            function=function,
            capabilities=needs,  # type: ignore[arg-type]  # made into members
            always_include=name in always,
            is_available=lambda: name not in away,
        )

    for name in NAMES:
        registry.register(make(name), plugin_id=PLUGIN_IDS.get(name))
    shown = {each["name"] for each in registry.to_definitions(allowed, filter_opts)}
    assert shown == {name for name in NAMES if name not in away and is_let_through(name, allowed, filter_opts, always)}
    calls = [ToolCall(str(number), name) for number, name in enumerate(called)]
    results = run(registry, calls, allowed_tools=allowed, filter_opts=filter_opts)
    assert ran == Counter(name for name in called if name in shown)
    for result in results:
        assert result.result.ok is (result.name in shown)
        assert result.result.ok or result.result.code is FailureCode.NOT_AVAILABLE
