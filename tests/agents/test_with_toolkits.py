from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.samples import (
    CAPABILITIES,
    all_names_of,
    answer,
    ask,
    discovered,
    loadout_registries,
    names,
    names_of,
    registries,
    registry,
    tool,
    wanted,
)
from toolbelt import AgentSpec, SessionStore, Toolkit, ToolkitPolicy, ToolLoadout, ToolLoadoutRegistry
from toolbelt.agents import AgentSession, SubagentRunner, SubagentType
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import AuditRecord, GuardDecision, GuardVerdict
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.session import Session

META = ("list_toolkits", "load_tools", "unload_tools")
TOOLKITS = (
    Toolkit("history", member_tools=("git",), description="Look at what has changed"),
    Toolkit("ops", member_tools=("docker", "shell"), description="Run things"),
)
LEAD = AgentSpec(name="lead", tools=("file", "search"), allowed_toolkits=("history", "ops"))
INTERN = AgentSpec(name="intern", tools=("file",))
LOADOUTS = ToolLoadoutRegistry([ToolLoadout("local", default_plugins=frozenset({"file"}))])


def open_session(
    whole: ToolRegistry,
    agent: AgentSpec = LEAD,
    session_id: str | None = "s",
    loadouts: ToolLoadoutRegistry = LOADOUTS,
    store: SessionStore | None = None,
    **settings: Any,
) -> AgentSession:
    policy = ToolkitPolicy(agent, TOOLKITS, store, session_id, team=(LEAD, INTERN))
    return AgentSession(whole, loadouts, policies=[policy], session_id=session_id, agent=agent.name, **settings)


def all_names(of: ToolRegistry) -> list[str]:
    return [made.name for made in of.get_all()]


# What belongs to the session (L14, D2)


@pytest.mark.parametrize("loadout", ["local", "minimal", "full", None])
def test_D2_L14_no_loadout_takes_the_meta_tools_away(loadout: str | None) -> None:
    session = open_session(registry())
    session.scope(loadout)
    assert all_names_of(session)[:6] == [*META, *CAPABILITIES]


def test_D2_the_meta_tools_are_of_no_plugin_that_capability_tools_speak_of() -> None:
    session = open_session(registry())
    session.scope("minimal")
    listed = answer(session, "capability_list")
    assert [tools for entry in listed["plugins"] for tools in entry["tools"] if tools in META] == []
    assert listed["discoverable"] == len(discovered(session))
    assert not {name for tools in discovered(session).values() for name in tools}.intersection(META)
    for name in META:
        assert answer(session, "activate_tool", plugin=name)["status"] == "not_discoverable"
    assert session.activated == ()
    assert not {plugin.name for plugin in session.resolution.catalog.plugins}.intersection(META)


def test_R8_a_tool_of_the_session_that_the_registry_has_keeps_its_extension_whatever_the_policies() -> None:
    whole = registry()
    whole.register(tool("budget_left", of_session=True), plugin_id="extension")
    session = open_session(whole)
    session.scope("local")
    assert all_names_of(session) == [*META, *CAPABILITIES, "budget_left", "read_file", "write_file"]
    assert session.tools.get_plugin_id("budget_left") == "extension"
    assert ask(session, ("budget_left", {})) == ["budget_left"]
    assert "budget_left" not in str(discovered(session))


@pytest.mark.parametrize("loadouts", [None, ToolLoadoutRegistry()], ids=["fixed-sets", "loadouts"])
@pytest.mark.parametrize("kind", list(SubagentType))
def test_L13_a_child_has_capability_tools_of_its_own_and_no_session_tool_of_its_parent(
    kind: SubagentType, loadouts: ToolLoadoutRegistry | None
) -> None:
    parent = open_session(registry(tool("budget_left", of_session=True)))
    child = SubagentRunner(parent, loadouts).open(kind)
    assert all_names(child.tools)[:3] == list(CAPABILITIES)
    assert child.tools.get("discover_tools") != parent.tools.get("discover_tools")
    assert not {*all_names(child.tools), *all_names(child.registry)}.intersection({*META, "budget_left"})
    for name in (*META, "budget_left"):
        assert answer(child, "activate_tool", plugin=name)["status"] == "not_discoverable"
    assert ask(child, ("load_tools", {"toolkit": "ops"})) == ["not_available"]
    parent.begin_turn()
    assert "docker_run" not in all_names_of(parent)


def test_D4_a_name_that_providers_refuse_is_shown_alike_in_every_turn() -> None:
    # It depends on the other names that the session may come to show.
    whole = registry(tool("a_b"), tool("a.b"))
    kits = [Toolkit("other", member_tools=("a_b",))]
    policy = ToolkitPolicy(AgentSpec("lead", ("a.b",), ("other",)), kits, session_id="s")
    session = Session(whole, [policy], session_id="s")
    (shown,) = [name for name in all_names_of(session) if name not in META]
    assert shown == whole.wire_names["a.b"] != "a_b"
    assert ask(session, (shown, {}), ("load_tools", {"toolkit": "other"}))[0] == "a.b"
    session.begin_turn()
    assert all_names_of(session) == [*META, shown, "a_b"]
    assert SubagentRunner(session).open("general").registry.wire_names["a.b"] == shown


def test_R8_a_session_has_what_the_registry_has() -> None:
    audited: list[AuditRecord] = []
    whole = ToolRegistry(backends={"network": "net"}, audit=audited.append, default_timeout_seconds=7.5)
    whole.register_all(registry().get_all())
    there = [True]
    whole.register(tool("grep", plugin="search", is_available=lambda: there[0]))
    session = open_session(whole)
    tools = session.tools
    assert (tools.backends, tools.audit, tools.default_timeout_seconds) == (whole.backends, whole.audit, 7.5)
    there[0] = False
    assert "grep" not in all_names_of(session)
    there[0] = True  # whether a tool is to be had is asked anew each time
    assert "grep" in all_names_of(session)
    tools.unregister("read_file")
    assert whole.get("read_file") is not None


# An agent within a turn


def test_L14_activation_is_within_the_tools_of_the_turn() -> None:
    session = open_session(registry())
    session.scope("minimal")
    assert answer(session, "load_tools", toolkit="history")["status"] == "loaded"
    session.begin_turn()
    assert names_of(session) == [*META, "read_file", "write_file"]
    assert discovered(session) == {"Git": ["git_status", "git_push"], "search": ["grep"]}
    assert answer(session, "activate_tool", plugin="docker")["status"] == "not_discoverable"
    assert answer(session, "activate_tool", plugin="git")["tools"] == ["git_status", "git_push"]
    assert names_of(session) == [*META, "read_file", "write_file", "git_status", "git_push"]
    # To load is for the next turn, and changes nothing of this one.
    assert answer(session, "load_tools", toolkit="ops")["status"] == "loaded"
    assert "docker_run" not in all_names(session.scope(None))
    session.begin_turn()
    assert "docker_run" in all_names_of(session)


def test_L14_what_was_activated_lasts_for_the_session_as_far_as_its_turns_have_it() -> None:
    session = open_session(registry())
    session.scope("minimal")
    ask(session, ("load_tools", {"toolkit": "history"}))
    seen = []
    for change in ("activate_tool", "unload_tools", "load_tools", "list_toolkits"):
        session.begin_turn()
        seen.append("git_push" in all_names_of(session))
        ask(session, (change, {"activate_tool": {"plugin": "git"}, "list_toolkits": {}}.get(change, HISTORY)))
    assert seen == [False, True, False, True]


HISTORY = {"toolkit": "history"}


def test_L13_a_child_within_a_turn_has_not_more_than_the_turn() -> None:
    child = SubagentRunner(open_session(registry(), INTERN)).open("task")  # whose set has shell and search as well
    assert names(child.tools) == ["read_file", "write_file"]
    assert ask(child, ("run", {}), ("read_file", {})) == ["not_available", "read_file"]
    assert answer(child, "activate_tool", plugin="shell")["status"] == "not_discoverable"


def test_L13_what_surrounds_a_turn_reaches_the_tools_of_children_and_of_their_children() -> None:
    seen: list[ToolContext] = []

    def deploy(context: ToolContext) -> str:
        seen.append(context)
        return str(context.overrides["deploy"]["env"])

    def guard(args: object, context: ToolContext) -> GuardDecision:
        return GuardDecision(GuardVerdict.CONFIRM, f"May {context.agent}?")

    audited: list[AuditRecord] = []
    whole = ToolRegistry([ExecutableTool.of(deploy, plugin="shell", guard=guard)], audit=audited.append)
    spec = AgentSpec(name="lead", tools=("shell",), overrides={"shell": {"env": "test"}})
    asked: list[str] = []

    def confirm(question: str) -> bool:
        asked.append(question)
        return True

    around = ToolContext(confirm=confirm, result_budget_chars=1_000, turn_count=3)
    parent = open_session(whole, spec, around=around)
    child = SubagentRunner(parent, new_id=lambda: "1").open("task")
    grandchild = SubagentRunner(child, new_id=lambda: "2").open("general")
    for session in (parent, child, grandchild):
        assert answer(session, "deploy") == "test"
    assert asked == ["May lead?", "May task?", "May general?"]
    assert [(each.session_id, each.agent, each.turn_count) for each in seen] == [
        ("s", "lead", 4),
        ("s/task-1", "task", 1),
        ("s/task-1/general-2", "general", 1),
    ]
    assert {each.result_budget_chars for each in seen} == {1_000}
    assert [(each.session_id, each.allowed) for each in audited] == [(each.session_id, True) for each in seen]


def test_R6_a_dry_run_is_one_for_children_too() -> None:
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return "done"

    whole = ToolRegistry([ExecutableTool.of(run, plugin="shell")])
    dry = SubagentRunner(AgentSession(whole, around=ToolContext(dry_run=True))).open("task")
    ask(dry, ("run", {"command": "in a dry run"}))
    ask(SubagentRunner(AgentSession(whole)).open("task"), ("run", {"command": "in earnest"}))
    assert ran == ["in earnest"]


def test_L12_a_context_is_what_is_around_with_what_is_set_for_the_batch() -> None:
    around = ToolContext(session_id="s", agent="lead", dry_run=True, overrides={"run": {"cwd": "/"}})
    session = AgentSession(around=around)
    assert (session.session_id, session.agent) == ("s", "lead")
    assert session.context() == around, "before its first turn"
    assert session.context(dry_run=False).overrides == around.overrides
    named = AgentSession(around=around, session_id="other", agent="helper")
    assert (named.context().session_id, named.context().agent, named.context().dry_run) == ("other", "helper", True)
    assert AgentSession().context() == ToolContext()


@settings(max_examples=60, deadline=None)
@given(
    registries(),
    loadout_registries,
    st.lists(st.sampled_from(["git", "a", "shell", "x1", "b", "status"]), max_size=3, unique=True),
    wanted,
    st.sampled_from(list(SubagentType)),
    st.booleans(),
    st.booleans(),
)
def test_L13_L14_nobody_within_a_turn_ever_runs_what_the_turn_does_not_show(
    whole: ToolRegistry,
    loadouts: ToolLoadoutRegistry,
    static: Sequence[str],
    asked: Sequence[str],
    kind: SubagentType,
    with_loadouts: bool,
    under_loadout: bool,
) -> None:
    everything = all_names(whole)
    spec = AgentSpec(name="lead", tools=tuple(static), allowed_toolkits=("history",))
    toolkits = ToolkitPolicy(spec, TOOLKITS, session_id="s")
    may = set(all_names_of(Session(whole, [toolkits])))
    session = AgentSession(whole, loadouts, policies=[toolkits])
    session.scope(loadouts.get_all()[-1].name if under_loadout else None)
    ask(session, *(("activate_tool", {"plugin": name}) for name in asked))
    child = SubagentRunner(session, loadouts if with_loadouts else None).open(kind)
    ask(child, *(("activate_tool", {"plugin": name}) for name in asked))
    for one in (session, child):
        answers = ask(one, *((name, {}) for name in everything))
        assert {name for name, got in zip(everything, answers, strict=True) if got == name} <= may
        assert set(names_of(one)) <= may
    assert set(names(child.tools)) <= set(names(session.tools)) - set(META)


def test_D4_a_loop_in_a_child_runs_within_the_turn() -> None:
    session = open_session(registry())

    async def loop(child: AgentSession, task: str) -> list[str | None]:
        calls = [{"id": "1", "name": "grep", "args": {}}, {"id": "2", "name": "run", "args": {}}]
        return [made.result.code for made in await child.execute_parallel(calls)]

    assert asyncio.run(SubagentRunner(session).run("task", "look", loop)) == [None, "not_available"]
