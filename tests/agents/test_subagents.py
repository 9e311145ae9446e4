from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.samples import (
    CAPABILITIES,
    LOADOUT_NAMES,
    answer,
    ask,
    loadout_registries,
    names,
    registries,
    registry,
    wanted,
)
from toolbelt import Plugin, ToolLoadout, ToolLoadoutRegistry
from toolbelt.agents import AgentSession, SubagentRunner, SubagentType
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.runtime.registry import ToolRegistry

MAPPING = [
    pytest.param("explore", "research", ["file", "search", "Git", "memory"], id="explore"),
    pytest.param("task", "minimal", ["file", "search", "shell"], id="task"),
    pytest.param("plan", "developer", ["file", "search", "Git", "memory"], id="plan"),
    pytest.param("review", "developer", ["file", "search", "Git"], id="review"),
    pytest.param("general", "full", ["file", "search", "Git", "memory", "web", "shell"], id="general"),
]
AVAILABLE = ["file", "docker", "search", "Git", "memory", "file", "web", "shell", "think"]


@pytest.mark.parametrize(("kind", "loadout", "fixed"), MAPPING)
def test_L13_each_type_has_its_loadout_and_its_fixed_set(kind: str, loadout: str, fixed: list[str]) -> None:
    without = SubagentRunner(AgentSession())
    loadouts = ToolLoadoutRegistry()
    with_loadouts = SubagentRunner(AgentSession(), loadouts)
    for named in (kind, kind.upper(), SubagentType(kind)):
        assert without.get_loadout_name(named) == with_loadouts.get_loadout_name(named) == loadout
        assert list(without.resolve_plugins(named, AVAILABLE)) == fixed
        assert list(without.resolve_plugins(named, [Plugin(name) for name in dict.fromkeys(AVAILABLE)])) == fixed
        resolved = with_loadouts.resolve_plugins(named, AVAILABLE)
        assert resolved == loadouts.resolve_active_plugins(loadout, AVAILABLE)


def test_L13_there_are_five_types() -> None:
    assert [kind.value for kind in SubagentType] == ["explore", "task", "plan", "review", "general"]


@pytest.mark.parametrize("name", ["explroe", "", "explore2", None, 3])
def test_L13_an_unknown_type_is_refused_with_the_nearest(name: Any) -> None:
    runner = SubagentRunner(AgentSession(registry()))

    async def loop(session: AgentSession, task: str) -> str:
        raise AssertionError("it must not come to this")

    for look_up in (runner.get_loadout_name, runner.open, lambda kind: runner.resolve_plugins(kind, AVAILABLE)):
        with pytest.raises(NotFoundError, match="No subagent type named") as refused:
            look_up(name)
        assert refused.value.known == ("explore", "task", "plan", "review", "general")
    with pytest.raises(NotFoundError):
        asyncio.run(runner.run(name, "look around", loop))
    with pytest.raises(NotFoundError, match=r"Did you mean 'explore'\?"):
        runner.open("explroe")


def test_L13_a_child_has_the_tools_of_its_loadout_and_may_discover_by_it() -> None:
    child = SubagentRunner(AgentSession(registry()), ToolLoadoutRegistry()).open("explore")
    assert child.active_loadout_name == "research"
    assert names(child.tools) == ["read_file", "write_file", "think", "grep", "fetch", "remember", "run"]
    assert answer(child, "activate_tool", plugin="git")["tools"] == ["git_status", "git_push"]


def test_L13_without_loadouts_a_child_has_the_fixed_set_and_nothing_to_discover() -> None:
    # Also where the session has loadouts of its own: the runner's are what counts.
    session = AgentSession(registry(), ToolLoadoutRegistry())
    child = SubagentRunner(session).open(SubagentType.EXPLORE)
    assert child.active_loadout_name is None
    assert names(child.tools) == ["read_file", "write_file", "git_status", "git_push", "grep", "remember"]
    assert answer(child, "discover_tools")["plugins"] == []
    assert names(child.scope("full")) == ["read_file", "write_file", "git_status", "git_push", "grep", "remember"]


def test_L13_a_users_own_loadout_of_that_name_is_used() -> None:
    mine = ToolLoadout("Research", default_plugins=frozenset({"web"}))
    runner = SubagentRunner(AgentSession(registry()), ToolLoadoutRegistry([mine]))
    assert names(runner.open("explore").tools) == ["fetch"]
    assert runner.resolve_plugins("explore", AVAILABLE) == ("web",)


def test_L13_a_child_never_has_more_than_is_in_force_in_its_parent() -> None:
    parent = AgentSession(registry())
    parent.scope("minimal")
    runner = SubagentRunner(parent, ToolLoadoutRegistry())
    child = runner.open("general")
    assert names(child.tools) == ["read_file", "write_file", "think", "run"]
    assert [one.name for one in child.registry.get_all()] == ["read_file", "write_file", "think", "run"]
    assert answer(child, "activate_tool", plugin="docker")["status"] == "not_discoverable"
    assert names(child.scope(None)) == ["read_file", "write_file", "think", "run"]
    # What the parent activates is there for children opened from then on.
    assert answer(parent, "activate_tool", plugin="git")["status"] == "activated"
    assert names(child.tools) == ["read_file", "write_file", "think", "run"]
    assert names(runner.open("review").tools) == ["read_file", "write_file", "think", "run", "git_status", "git_push"]


def test_L13_what_a_child_does_does_not_reach_its_parent_nor_its_siblings() -> None:
    parent = AgentSession(registry(), session_id="s1")
    before = (parent.tools.to_definitions(), parent.registry.to_definitions(), parent.active_loadout_name)
    runner = SubagentRunner(parent, ToolLoadoutRegistry())
    child, sibling = runner.open("task"), runner.open("task")
    assert answer(child, "activate_tool", plugin="docker")["status"] == "activated"
    child.registry.unregister("run")
    child.active_loadout_name = "full"
    assert "docker_ps" in names(child.tools)
    assert "docker_ps" not in names(sibling.tools)
    assert "run" in names(sibling.tools)
    assert (parent.tools.to_definitions(), parent.registry.to_definitions(), parent.active_loadout_name) == before


def test_L13_a_child_has_an_id_of_its_own_that_says_whose_child_it_is() -> None:
    parent = AgentSession(session_id="s1")
    runner = SubagentRunner(parent)
    one, other = runner.open("plan"), runner.open("plan")
    assert one.session_id is not None
    assert one.session_id.startswith("s1/plan-")
    assert len({parent.session_id, one.session_id, other.session_id}) == 3
    assert one.agent == "plan"
    given = SubagentRunner(AgentSession(), new_id=iter(("1", "2")).__next__)
    assert [given.open("task").session_id, given.open("task").session_id] == ["task-1", "task-2"]


def test_L13_run_gives_the_loop_a_session_and_the_task_and_gives_back_what_it_gives() -> None:
    parent = AgentSession(registry(), session_id="s1")
    runner = SubagentRunner(parent, ToolLoadoutRegistry())

    async def loop(session: AgentSession, task: str) -> tuple[str, list[str]]:
        results = await session.execute_parallel([{"id": "1", "name": "grep", "args": {}}])
        return task, [made.result.value for made in results]

    async def both() -> list[tuple[str, list[str]]]:
        return list(await asyncio.gather(runner.run("explore", "here", loop), runner.run("review", "there", loop)))

    assert asyncio.run(both()) == [("here", ["grep"]), ("there", ["grep"])]


def test_L13_what_the_loop_raises_goes_through() -> None:
    async def loop(session: AgentSession, task: str) -> None:
        raise RuntimeError(f"could not {task}")

    with pytest.raises(RuntimeError, match="could not look"):
        asyncio.run(SubagentRunner(AgentSession()).run("task", "look", loop))


@pytest.mark.parametrize("loop", [None, "loop", lambda session, task: "done"], ids=["none", "text", "not-async"])
def test_L13_a_loop_that_is_no_coroutine_function_is_refused(loop: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="must be a coroutine function"):
        asyncio.run(SubagentRunner(AgentSession()).run("task", "look", loop))


def test_L13_a_runner_is_of_a_session() -> None:
    with pytest.raises(InvalidDefinitionError, match="must be a Session"):
        SubagentRunner(ToolRegistry())  # type: ignore[arg-type]


SHADOWED = ("minimal", "developer", "research", "full")


@settings(max_examples=60, deadline=None)
@given(
    registries(),
    loadout_registries,
    st.booleans(),
    st.one_of(st.none(), st.sampled_from(LOADOUT_NAMES)),
    st.lists(st.tuples(st.sampled_from(SubagentType), wanted), min_size=1, max_size=3),
)
def test_L13_down_any_line_of_subagents_tools_only_become_fewer(
    whole: ToolRegistry,
    loadouts: ToolLoadoutRegistry,
    by_loadout: bool,
    first: str | None,
    line: list[tuple[SubagentType, list[str]]],
) -> None:
    for name, of in zip(SHADOWED, LOADOUT_NAMES, strict=True):
        loadouts.register(ToolLoadout(name, of if name != of else None, discoverable_patterns=("*",)))
    session = AgentSession(whole, loadouts)
    session.scope(first if first is None or loadouts.get_loadout(first) else None)
    for kind, activated in line:
        child = SubagentRunner(session, loadouts if by_loadout else None).open(kind)
        parents = {one.name for one in session.tools.get_all()}
        for name in activated:
            ask(child, ("activate_tool", {"plugin": name}))
        assert {one.name for one in child.tools.get_all()} <= parents
        assert {one.name for one in child.scope(None).get_all()} <= parents
        child.scope(child.active_loadout_name)
        assert {one.name for one in session.tools.get_all()} == parents
        assert parents.issuperset(CAPABILITIES)
        session = child
