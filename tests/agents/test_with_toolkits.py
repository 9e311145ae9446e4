from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.samples import (
    CAPABILITIES,
    answer,
    ask,
    discovered,
    loadout_registries,
    names,
    registries,
    registry,
    tool,
    wanted,
)
from toolbelt import (
    AgentSpec,
    DynamicSessions,
    DynamicToolkits,
    MemorySessionStore,
    Toolkit,
    ToolLoadout,
    ToolLoadoutRegistry,
    Turn,
    expand_over,
)
from toolbelt.agents import AgentSession, SubagentRunner, SubagentType, scoped_registry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.guards import AuditRecord, GuardDecision, GuardVerdict
from toolbelt.runtime.registry import ToolRegistry

META = ("list_toolkits", "load_tools", "unload_tools")
TOOLKITS = (
    Toolkit("history", member_tools=("git",), description="Look at what has changed"),
    Toolkit("ops", member_tools=("docker", "shell"), description="Run things"),
)
LEAD = AgentSpec(name="lead", tools=("file", "search"), allowed_toolkits=("history", "ops"))
INTERN = AgentSpec(name="intern", tools=("file",))
LOADOUTS = ToolLoadoutRegistry([ToolLoadout("local", default_plugins=frozenset({"file"}))])


def sessions_over(whole: ToolRegistry, *agents: AgentSpec) -> DynamicSessions:
    """The sessions of the agents, whose meta-tools the registry then has."""
    expand = expand_over(whole)
    made = DynamicSessions(
        [DynamicToolkits(agent, TOOLKITS, expand) for agent in agents or (LEAD, INTERN)], MemorySessionStore()
    )
    whole.register_all(made.meta_tools())
    return made


def all_names(of: ToolRegistry) -> list[str]:
    return [made.name for made in of.get_all()]


def shown(turn: Turn, whole: ToolRegistry) -> list[str]:
    return [definition["name"] for definition in turn.to_definitions(whole)]


# What belongs to the session (L14, D2)


@pytest.mark.parametrize("loadout", ["local", "minimal", "full", None])
def test_D2_no_loadout_takes_the_meta_tools_away(loadout: str | None) -> None:
    whole = registry()
    sessions_over(whole)
    session = AgentSession(whole, LOADOUTS)
    assert all_names(session.scope(loadout))[:6] == [*CAPABILITIES, *META]
    assert set(META) <= set(all_names(scoped_registry(whole, loadout, LOADOUTS)))


def test_D2_the_meta_tools_are_of_no_plugin_that_capability_tools_speak_of() -> None:
    whole = registry()
    sessions_over(whole)
    session = AgentSession(whole, LOADOUTS)
    session.scope("minimal")
    listed = answer(session, "capability_list")
    assert [tools for entry in listed["plugins"] for tools in entry["tools"] if tools in META] == []
    assert listed["discoverable"] == len(discovered(session))
    assert not {name for tools in discovered(session).values() for name in tools}.intersection(META)
    for name in META:
        assert answer(session, "activate_tool", plugin=name)["status"] == "not_discoverable"
    assert session.activated == ()
    assert not {plugin.name for plugin in session.agent_tools.resolution.catalog.plugins}.intersection(META)


def test_D2_a_meta_tool_keeps_the_extension_that_brought_it() -> None:
    whole = registry()
    made = DynamicSessions([DynamicToolkits(LEAD, TOOLKITS, expand_over(whole))], MemorySessionStore())
    whole.register_all(made.meta_tools(), plugin_id="extension")
    assert AgentSession(whole).tools.get_plugin_id("load_tools") == "extension"


def test_D2_the_meta_tools_work_under_a_loadout_and_serve_agent_and_session_of_the_context() -> None:
    whole = registry()
    dynamic = sessions_over(whole)
    session = AgentSession(whole, LOADOUTS, session_id="s", agent="lead")
    session.scope("local")
    assert answer(session, "load_tools", toolkit="history")["status"] == "loaded"
    assert dynamic.begin_turn("lead", "s").loaded == ("history",)


@pytest.mark.parametrize("loadouts", [None, ToolLoadoutRegistry()], ids=["fixed-sets", "loadouts"])
@pytest.mark.parametrize("kind", list(SubagentType))
def test_L13_a_child_has_capability_tools_of_its_own_and_no_session_tool_of_its_parent(
    kind: SubagentType, loadouts: ToolLoadoutRegistry | None
) -> None:
    whole = registry(tool("budget_left", of_session=True))
    dynamic = sessions_over(whole)
    parent = AgentSession(whole, session_id="s", agent="lead")
    child = SubagentRunner(parent, loadouts).open(kind)
    assert all_names(child.tools)[:3] == list(CAPABILITIES)
    assert child.tools.get("discover_tools") != parent.tools.get("discover_tools")
    assert not {*all_names(child.tools), *all_names(child.registry)}.intersection({*META, "budget_left"})
    for name in (*META, "budget_left"):
        assert answer(child, "activate_tool", plugin=name)["status"] == "not_discoverable"
    assert ask(child, ("load_tools", {"toolkit": "ops"})) == ["not_available"]
    assert dynamic.begin_turn("lead", "s").loaded == ()


def test_L14_capability_tools_in_a_registry_are_of_another_session_and_left_out() -> None:
    whole = registry()
    whole.register_all(AgentSession(registry()).tools.get_for_toolset("capabilities"))
    session = AgentSession(whole)
    assert all_names(session.tools).count("capability_list") == 1
    assert len(answer(session, "capability_list")["plugins"]) == len(
        answer(AgentSession(registry()), "capability_list")["plugins"]
    )


# A turn as a registry


@pytest.mark.parametrize("session_id", ["s", None], ids=["in-a-session", "outside-any"])
@pytest.mark.parametrize("agent", ["lead", "intern"])
def test_D4_a_turn_as_a_registry_shows_what_the_turn_shows(agent: str, session_id: str | None) -> None:
    whole = registry(tool("a.b"), tool("a b"), tool("always", always_include=True))
    whole.register(tool("mcp__gh__wipe", plugin="gh"))
    whole.register(tool("extra"), plugin_id="extension")
    dynamic = sessions_over(whole)
    dynamic.load("lead", "s", "history")
    turn = dynamic.begin_turn(agent, session_id)
    scoped = turn.scope(whole)
    for form in ("lite", "openai", "anthropic"):
        assert scoped.to_definitions(form=form) == turn.to_definitions(whole, form=form)
    assert ("load_tools" in all_names(scoped)) is (agent == "lead" and session_id == "s")
    assert scoped.get_plugin_id("extra") == "extension"
    assert {"always", "extra", "mcp__gh__wipe"} <= set(all_names(scoped))


def test_D4_a_name_that_providers_refuse_is_shown_in_a_scoped_turn_as_in_the_turn() -> None:
    # It depends on the other names of the registry, also of those that the turn does not show.
    whole = registry(tool("a_b"), tool("a.b"))
    spec = AgentSpec(name="lead", tools=("a.b",))
    turn = sessions_over(whole, spec).begin_turn("lead", "s")
    assert all_names(turn.scope(whole)) == ["a.b"]
    assert turn.scope(whole).wire_names["a.b"] == whole.wire_names["a.b"] != "a_b"
    assert turn.scope(whole).to_definitions() == turn.to_definitions(whole)
    within = AgentSession(turn.scope(whole), around=turn.context()).tools
    assert within.wire_names["a.b"] == whole.wire_names["a.b"]


def test_D4_a_turn_as_a_registry_keeps_what_the_registry_has_and_follows_it_no_further() -> None:
    audited: list[AuditRecord] = []
    whole = ToolRegistry(backends={"network": "net"}, audit=audited.append, default_timeout_seconds=7.5)
    for made in registry().get_all():
        whole.register(made)
    there = [True]
    whole.register(tool("grep", plugin="search", is_available=lambda: there[0]))
    turn = sessions_over(whole).begin_turn("lead", "s")
    there[0] = False
    scoped = turn.scope(whole)
    assert (scoped.backends, scoped.audit, scoped.default_timeout_seconds) == (whole.backends, whole.audit, 7.5)
    assert "grep" not in names(scoped)
    there[0] = True  # whether a tool is to be had is asked anew each time, as in the turn
    assert "grep" in names(scoped)
    before = all_names(scoped)
    whole.register(tool("late", plugin="file"))
    scoped.unregister("read_file")
    assert all_names(scoped) == [name for name in before if name != "read_file"]
    assert whole.get("read_file") is not None


def test_D4_a_turn_that_is_narrowed_further_gives_no_more() -> None:
    whole = registry(tool("mcp__gh__wipe", plugin="gh"))
    turn = sessions_over(whole).begin_turn("lead", "s")
    assert "mcp__gh__wipe" in all_names(turn.scope(whole))
    no_servers = FilterOpts(turn.filter_opts.exclude_tools, allowed_mcp_servers=())
    narrower = Turn("lead", "s", turn.loaded, turn.tools, turn.allowed_tools, no_servers)
    assert "mcp__gh__wipe" not in all_names(narrower.scope(whole))


# An agent within a turn


def test_L14_activation_within_a_turn_is_within_its_tools() -> None:
    whole = registry()
    dynamic = sessions_over(whole)
    dynamic.load("lead", "s", "history")
    turn = dynamic.begin_turn("lead", "s")
    session = AgentSession(turn.scope(whole), LOADOUTS, around=turn.context())
    session.scope("minimal")
    assert names(session.tools) == [*META, "read_file", "write_file"]
    assert discovered(session) == {"Git": ["git_status", "git_push"], "search": ["grep"]}
    assert answer(session, "activate_tool", plugin="docker")["status"] == "not_discoverable"
    assert answer(session, "activate_tool", plugin="git")["tools"] == ["git_status", "git_push"]
    assert set(names(session.tools)) < set(shown(turn, whole))
    # To load is for the next turn, and changes nothing of this one.
    assert answer(session, "load_tools", toolkit="ops")["status"] == "loaded"
    assert "docker_run" not in all_names(session.scope(None))
    later = dynamic.begin_turn("lead", "s")
    assert "docker_run" in all_names(AgentSession(later.scope(whole), around=later.context()).tools)


def test_L13_a_child_within_a_turn_has_not_more_than_the_turn() -> None:
    whole = registry()
    turn = sessions_over(whole).begin_turn("intern", "s")
    session = AgentSession(turn.scope(whole), around=turn.context())
    child = SubagentRunner(session).open("task")  # whose set has shell and search as well
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
    turn = sessions_over(whole, spec).begin_turn("lead", "s")
    asked: list[str] = []

    def confirm(question: str) -> bool:
        asked.append(question)
        return True

    around = turn.context(ToolContext(confirm=confirm, result_budget_chars=1_000, turn_count=4))
    parent = AgentSession(turn.scope(whole), around=around)
    child = SubagentRunner(parent, new_id=lambda: "1").open("task")
    grandchild = SubagentRunner(child, new_id=lambda: "2").open("general")
    for session in (parent, child, grandchild):
        assert answer(session, "deploy") == "test"
    assert asked == ["May lead?", "May task?", "May general?"]
    assert [(each.session_id, each.agent, each.turn_count) for each in seen] == [
        ("s", "lead", 4),
        ("s/task-1", "task", 0),
        ("s/task-1/general-2", "general", 0),
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
    assert (session.session_id, session.agent, session.context()) == ("s", "lead", around)
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
    turn = sessions_over(whole, spec).begin_turn("lead", "s")
    may = set(shown(turn, whole))
    session = AgentSession(turn.scope(whole), loadouts, around=turn.context())
    session.scope(loadouts.get_all()[-1].name if under_loadout else None)
    ask(session, *(("activate_tool", {"plugin": name}) for name in asked))
    child = SubagentRunner(session, loadouts if with_loadouts else None).open(kind)
    ask(child, *(("activate_tool", {"plugin": name}) for name in asked))
    for one in (session, child):
        answers = ask(one, *((name, {}) for name in everything))
        assert {name for name, got in zip(everything, answers, strict=True) if got == name} <= may
        assert set(names(one.tools)) <= may
    assert set(names(child.tools)) <= set(names(session.tools)) - set(META)


def test_D4_a_loop_in_a_child_runs_within_the_turn() -> None:
    whole = registry()
    turn = sessions_over(whole).begin_turn("lead", "s")
    session = AgentSession(turn.scope(whole), around=turn.context())

    async def loop(child: AgentSession, task: str) -> list[str | None]:
        calls = [{"id": "1", "name": "grep", "args": {}}, {"id": "2", "name": "run", "args": {}}]
        return [made.result.code for made in await child.tools.execute_parallel(calls, child.context())]

    assert asyncio.run(SubagentRunner(session).run("task", "look", loop)) == [None, "not_available"]
