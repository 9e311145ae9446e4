"""What a turn shows and runs: its own tools, with its own filters, and no others (rules R2, R3, D2, D4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.sessions.samples import META, call, shown
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import MemorySessionStore
from toolbelt.toolkits.toolkit import Toolkit

AGENTS = (AgentSpec("plain"), AgentSpec("owner", ("hub", "ext"), ("more",)), AgentSpec("loader", (), ("more",)))
KITS = (Toolkit("more", member_tools=("late", "shop")),)


def tool(name: str, plugin: str | None = None, *, always: bool = False) -> ExecutableTool:
    return ExecutableTool(name, plugin=plugin, function=lambda: "done", always_include=always)


def a_registry() -> ToolRegistry:
    registry = ToolRegistry([tool("mcp__hub__issue", "hub"), tool("mcp__else__where", "else")])
    registry.register(tool("extended", "ext"), plugin_id="ext")
    registry.register(tool("anybodys", "open"), plugin_id="open")
    return registry


def over(registry: ToolRegistry) -> DynamicSessions:
    made = [DynamicToolkits(agent, KITS, expand_over(registry)) for agent in AGENTS]
    sessions = DynamicSessions(made, MemorySessionStore())
    registry.register_all(sessions.meta_tools())
    return sessions


def runs(registry: ToolRegistry, turn: Any) -> list[str]:
    """Names of everything registered that runs when it is called by its name."""
    names = [one.name for one in registry.get_all() if one.name not in META]
    results = call(registry, turn, *((name, {}) for name in names))
    return [name for name, made in zip(names, results, strict=True) if made.result.ok]


@pytest.mark.parametrize(
    ("agent", "own"),
    [
        pytest.param("plain", [], id="who-names-nothing-has-what-nobody-names"),
        pytest.param("owner", ["mcp__hub__issue", "extended"], id="who-names-them-has-them"),
        pytest.param("loader", [], id="the-tools-of-another-agent-are-not-ones-own"),
    ],
)
def test_R3_what_a_turn_does_not_show_it_does_not_run(agent: str, own: list[str]) -> None:
    registry = a_registry()
    turn = over(registry).begin_turn(agent, "s")
    has = {*own, "mcp__else__where", "anybodys"}
    assert {*shown(registry, turn)} - {*META} == has
    assert {*runs(registry, turn)} == has


def test_R3_a_filter_that_is_narrowed_holds_for_what_runs() -> None:
    registry = a_registry()
    turn = over(registry).begin_turn("owner", "s")
    narrower = replace(turn, filter_opts=replace(turn.filter_opts, allowed_mcp_servers=["hub"], allowed_plugins=()))
    assert runs(registry, narrower) == ["mcp__hub__issue"]


@pytest.mark.parametrize("when", ["before-the-turn", "within-the-turn"])
@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda into: into.register(tool("mcp__shop__buy", "shop")), id="of-a-server-that-is-new"),
        pytest.param(lambda into: into.register(tool("mcp__hub__wipe", "hub")), id="of-a-server-that-was-there"),
        pytest.param(lambda into: into.register(tool("x", "shop"), plugin_id="shop"), id="of-an-extension-that-is-new"),
        pytest.param(lambda into: into.register(tool("late"), plugin_id="late"), id="under-a-name-that-an-entry-has"),
        pytest.param(lambda into: into.register(tool("late")), id="built-in"),
    ],
)
@pytest.mark.parametrize("agent", [agent.name for agent in AGENTS])
def test_D4_what_is_registered_later_no_turn_has_until_all_is_made_anew(
    agent: str, register: Callable[[ToolRegistry], None], when: str
) -> None:
    registry = a_registry()
    sessions = over(registry)
    sessions.load(agent, "s", "more")
    turn = sessions.begin_turn(agent, "s")
    before = shown(registry, turn)
    register(registry)
    if when == "before-the-turn":
        turn = sessions.begin_turn(agent, "s")
    assert shown(registry, turn) == before
    assert {*runs(registry, turn)} == {*before} - {*META}


def test_D4_a_further_tool_of_an_extension_that_was_there_waits_as_well() -> None:
    registry = a_registry()
    sessions = over(registry)
    registry.register(tool("further", "open"), plugin_id="open")
    turn = sessions.begin_turn("plain", "s")
    assert {*shown(registry, turn)} == {*runs(registry, turn)} == {"mcp__else__where", "anybodys"}


def test_D1_what_is_made_anew_has_what_was_registered_meanwhile() -> None:
    registry = a_registry()
    over(registry)
    registry.register_all([tool("mcp__shop__buy", "shop"), tool("mcp__new__free", "new")])
    registry.register(tool("late"), plugin_id="late")
    places = [one.name for one in registry.get_all()]
    sessions = over(registry)
    assert [one.name for one in registry.get_all()] == places, "the meta-tools are overwritten where they stand"
    sessions.load("loader", "s", "more")
    everybodys = {"mcp__else__where", "anybodys", "mcp__new__free"}
    assert {*runs(registry, sessions.begin_turn("loader", "s"))} == {*everybodys, "mcp__shop__buy", "late"}
    assert {*runs(registry, sessions.begin_turn("plain", "s"))} == everybodys


def test_R2_what_is_always_included_may_come_later() -> None:
    registry = a_registry()
    sessions = over(registry)
    registry.register(tool("think", always=True))
    registry.register(tool("thought", always=True), plugin_id="mind")
    assert {"think", "thought"} <= {*runs(registry, sessions.begin_turn("plain", "s"))}


def test_D2_meta_tools_that_an_extension_brings_are_there_from_the_start() -> None:
    registry = a_registry()
    made = [DynamicToolkits(agent, KITS, expand_over(registry)) for agent in AGENTS]
    sessions = DynamicSessions(made, MemorySessionStore())
    registry.register_all(sessions.meta_tools(), plugin_id="toolkits")
    assert shown(registry, sessions.begin_turn("loader", "s"))[:3] == [*META]
    assert not {*shown(registry, sessions.begin_turn("plain", "s"))} & {*META}


@pytest.mark.parametrize(
    ("given", "around", "seen"),
    [
        pytest.param((), None, (), id="none"),
        pytest.param(("turn",), None, ("turn",), id="of-the-call"),
        pytest.param((), ToolContext(attachments=("context",)), ("context",), id="of-the-context"),
        pytest.param(("turn",), ToolContext(attachments=("context",)), ("turn",), id="of-the-call-before-the-context"),
    ],
)
def test_R6_attachments_reach_the_tool_that_declares_them(
    given: tuple[str, ...], around: ToolContext | None, seen: tuple[str, ...]
) -> None:
    def look(context: ToolContext) -> list[str]:
        return [str(one) for one in context.attachments]

    registry = ToolRegistry([ExecutableTool.of(look, capabilities=["attachments"])], backends={"attachments": True})
    agents = [DynamicToolkits(AgentSpec("a", ("look",)), (), expand_over(registry))]
    turn = DynamicSessions(agents, MemorySessionStore()).begin_turn("a", "s")
    (made,) = asyncio.run(turn.execute_parallel(registry, [{"name": "look"}], around, given))
    assert made.result.structured == [*seen]
