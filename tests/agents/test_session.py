from __future__ import annotations

from typing import Any

import pytest

from tests.agents.samples import CAPABILITIES, all_names_of, answer, ask, names, names_of, registry, tool
from tests.wording import naming
from toolbelt import ToolLoadout, ToolLoadoutRegistry, WellKnownLoadouts
from toolbelt.agents import AgentSession, scoped_registry
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.loadouts import Status
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode

EVERYTHING = names(registry())


def test_L12_a_session_needs_nothing_and_names_no_loadout() -> None:
    session = AgentSession()
    assert (session.active_loadout_name, session.session_id, session.agent) == (None, None, None)
    assert [shown["name"] for shown in session.tools.to_definitions()] == list(CAPABILITIES)
    assert answer(session, "capability_list")["plugins"] == []


def test_L12_without_a_loadout_all_plugins_are_there() -> None:
    assert names(AgentSession(registry()).tools) == EVERYTHING


def test_L12_the_active_loadout_name_is_informational() -> None:
    session = AgentSession(registry())
    session.active_loadout_name = WellKnownLoadouts.MINIMAL
    assert (session.active_loadout_name, type(session.active_loadout_name)) == ("minimal", str)
    assert names(session.tools) == EVERYTHING
    session.active_loadout_name = "there is none of that name, and nobody asks"
    session.active_loadout_name = None
    assert session.active_loadout_name is None
    assert AgentSession(registry(), active_loadout_name="minimal").active_loadout_name == "minimal"
    assert names(AgentSession(registry(), active_loadout_name="minimal").tools) == EVERYTHING


def test_L12_scope_puts_a_loadout_into_force_and_notes_it() -> None:
    session = AgentSession(registry())
    tools = session.scope("Minimal")
    assert session.tools is tools
    assert names(tools) == names_of(session) == ["read_file", "write_file", "think", "run"]
    assert (session.active_loadout_name, AgentSession().active_loadout_name) == ("minimal", None)
    assert session.resolution.why("docker").status is Status.DISCOVERABLE
    assert names(session.scope(None)) == EVERYTHING
    assert session.active_loadout_name is None
    assert names(tools) == ["read_file", "write_file", "think", "run"]  # for whoever still holds it


def test_L12_a_loadout_of_ones_own_is_scoped_like_a_built_in_one() -> None:
    loadouts = ToolLoadoutRegistry([ToolLoadout("mine", default_plugins=frozenset({"git"}))])
    assert names(AgentSession(registry(), loadouts).scope("mine")) == ["git_status", "git_push"]


def test_L12_an_unknown_loadout_is_refused_and_nothing_changes() -> None:
    session = AgentSession(registry())
    tools = session.scope("minimal")
    with pytest.raises(NotFoundError, match=naming("develper", "developer")):
        session.scope("develper")
    assert session.tools is tools
    assert session.active_loadout_name == "minimal"


@pytest.mark.parametrize("name", [5, ["a"], {"a": 1}, b"minimal", True])
def test_L12_a_name_that_is_no_text_is_refused_and_nothing_changes(name: Any) -> None:
    session = AgentSession(registry())
    tools = session.scope("minimal")
    with pytest.raises(InvalidDefinitionError, match=naming("name of a loadout", "text", "None")):
        session.scope(name)
    with pytest.raises(InvalidDefinitionError, match=naming("name of a loadout", "text")):
        scoped_registry(session.registry, name)
    assert (session.tools, session.active_loadout_name) == (tools, "minimal")


def test_L12_scoping_anew_forgets_what_was_activated() -> None:
    session = AgentSession(registry())
    session.scope("minimal")
    assert answer(session, "activate_tool", plugin="web")["status"] == "activated"
    assert "fetch" in names(session.tools)
    assert "fetch" not in names(session.scope("minimal"))


def test_L14_what_was_activated_is_named() -> None:
    session = AgentSession(registry())
    session.scope("minimal")
    for plugin in ("web", "docker", "web", "policy", "git/git_push"):
        answer(session, "activate_tool", plugin=plugin)
    assert session.activated == ("fetch", "docker_ps", "docker_run", "audit", "git_push")
    session.scope("minimal")
    assert not session.activated


def test_R2_an_allow_list_restricts_activated_tools_and_no_meta_tool() -> None:
    session = AgentSession(registry(), allowed_tools=["read_file", "fetch"])
    session.scope("minimal")
    assert all_names_of(session) == [*CAPABILITIES, "read_file"]
    assert answer(session, "activate_tool", plugin="web")["status"] == "activated"
    assert answer(session, "activate_tool", plugin="docker")["status"] == "activated"
    assert all_names_of(session) == [*CAPABILITIES, "read_file", "fetch"]
    assert ask(session, ("fetch", {}), ("docker_ps", {})) == ["fetch", FailureCode.NOT_AVAILABLE]


def test_R2_a_deny_list_may_name_a_meta_tool() -> None:
    session = AgentSession(registry(), filter_opts=FilterOpts(exclude_tools={"activate_tool", "run"}))
    session.scope("minimal")
    assert all_names_of(session) == [*CAPABILITIES[:2], "read_file", "write_file", "think"]
    assert ask(session, ("activate_tool", {"plugin": "web"}), ("run", {})) == [FailureCode.NOT_AVAILABLE] * 2


def test_R8_what_is_registered_later_is_there_with_the_next_turn() -> None:
    whole = registry()
    session = AgentSession(whole)
    session.scope(None)
    whole.register(tool("late"))
    whole.unregister("run")
    assert names_of(session) == EVERYTHING
    assert names(session.scope(None)) == EVERYTHING
    session.begin_turn()
    assert names_of(session) == [*(name for name in EVERYTHING if name != "run"), "late"]


def test_L12_a_session_that_nobody_asked_yet_has_what_is_registered_by_then() -> None:
    session = AgentSession()
    session.registry.register(tool("late"))
    assert names(session.tools) == ["late"]


def test_L14_two_sessions_over_one_registry_share_nothing() -> None:
    whole = registry()
    before = whole.to_definitions()
    one, other = AgentSession(whole), AgentSession(whole)
    one.scope("minimal")
    other.scope("minimal")
    assert answer(one, "activate_tool", plugin="docker")["status"] == "activated"
    assert names(other.tools) == ["read_file", "write_file", "think", "run"]
    assert "docker" in [entry["plugin"] for entry in answer(other, "discover_tools")["plugins"]]
    assert whole.to_definitions() == before


def test_L14_a_tool_with_the_name_of_a_capability_tool_is_refused_by_both_names() -> None:
    session = AgentSession(registry(tool("activate_tool", plugin="capabilities")))
    with pytest.raises(InvalidDefinitionError, match=naming("capabilities", "activate_tool")):
        _ = session.tools
    with pytest.raises(InvalidDefinitionError, match=naming("capability_list")):
        _ = AgentSession(registry(tool("capability_list"))).tools
    with pytest.raises(InvalidDefinitionError, match="discover_tools"):
        AgentSession(registry(tool("discover_tools"))).scope("minimal")  # where it would be discoverable
    with pytest.raises(InvalidDefinitionError, match=naming("Activate_Tool")):
        AgentSession(registry(tool("Activate_Tool", of_session=True))).begin_turn()


def test_L14_a_disabled_tool_with_the_name_of_a_capability_tool_is_in_nobodys_way() -> None:
    without = ToolLoadout("without", "full", disabled_plugins=frozenset({"capabilities"}))
    session = AgentSession(registry(tool("activate_tool", plugin="capabilities")), ToolLoadoutRegistry([without]))
    session.scope("without")
    assert answer(session, "activate_tool", plugin="capabilities")["status"] == "not_discoverable"


def test_L12_the_context_names_session_and_agent() -> None:
    session = AgentSession(session_id="s1", agent="coder")
    assert session.context() == ToolContext(session_id="s1", agent="coder")
    session.begin_turn()
    session.begin_turn()
    assert session.context(agent="other") == ToolContext(session_id="s1", agent="other", turn_count=2)
    assert session.context(turn_count=7).turn_count == 7


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"registry": [tool("x")]}, ("registry", "ToolRegistry"), id="registry"),
        pytest.param({"loadouts": "minimal"}, ("loadouts", "ToolLoadoutRegistry"), id="loadouts"),
        pytest.param({"active_loadout_name": 3}, ("active_loadout_name", "str"), id="loadout"),
        pytest.param({"session_id": 3}, ("session_id", "str"), id="session-id"),
        pytest.param({"agent": ["a"]}, ("The agent", "str"), id="agent"),
        pytest.param({"around": {"dry_run": True}}, ("around", "ToolContext"), id="around"),
    ],
)
def test_L12_what_a_session_cannot_use_is_refused(settings: dict[str, object], named: object) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(named)):
        AgentSession(**settings)  # type: ignore[arg-type]


def test_L12_an_empty_registry_given_is_the_one_used() -> None:
    empty = ToolRegistry()
    assert AgentSession(empty).registry is empty
