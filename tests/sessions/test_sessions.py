"""The toolkits of agents from turn to turn, over every store (rules D2 to D8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sessions.samples import ASSISTANT, HELPER, KITS, META, RESEARCH, sessions_over
from tests.wording import each_mentions, mentions, naming
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import MemorySessionStore, SessionStore
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit


def test_D2_a_turn_has_static_tools_initial_toolkits_and_meta_tools(sessions: DynamicSessions) -> None:
    turn = sessions.begin_turn("assistant", "s")
    assert (turn.agent, turn.session_id, turn.loaded, turn.warnings) == ("assistant", "s", ("research",), ())
    assert turn.allowed_tools == (*META, "file", "arxiv")
    assert [tool.toolkit for tool in turn.tools] == [None, "research"]


@pytest.mark.parametrize("session_id", [None, "", " \n"])
def test_D2_without_a_session_there_are_no_meta_tools_and_nothing_is_kept(
    sessions: DynamicSessions, session_id: str | None
) -> None:
    turn = sessions.begin_turn("assistant", session_id)
    assert (turn.session_id, turn.loaded, turn.allowed_tools) == (None, ("research",), ("file", "arxiv"))
    assert sessions.load("assistant", session_id, "devops")["status"] == "error"
    assert sessions.load("assistant", session_id, "nothing")["status"] == "unknown"
    assert sessions.unload("assistant", session_id, "research")["status"] == "sticky"
    assert sessions.reset("assistant", session_id) is False
    assert sessions.show("assistant", session_id).stored is None
    assert sessions.store.sessions() == []


def test_D2_without_allowed_toolkits_there_are_no_meta_tools_and_nothing_is_kept(sessions: DynamicSessions) -> None:
    assert sessions.begin_turn("plain", "s").allowed_tools == ("file",)
    assert sessions.store.sessions() == []


def test_D4_a_change_is_for_the_next_turn(sessions: DynamicSessions) -> None:
    turn = sessions.begin_turn("assistant", "s")
    before = replace(turn)
    assert sessions.load("assistant", "s", "devops")["status"] == "loaded"
    assert turn == before
    assert sessions.begin_turn("assistant", "s").loaded == ("devops", "research")
    assert sessions.load("assistant", "s", "devops")["status"] == "already_loaded"
    assert sessions.unload("assistant", "s", "devops")["status"] == "unloaded"
    assert sessions.begin_turn("assistant", "s").loaded == ("research",)


def test_D5_another_process_of_the_same_file_goes_on_from_there(tmp_path: Path) -> None:
    sessions_over(SqliteSessionStore(tmp_path / "s.db")).load("assistant", "s", "devops")
    assert sessions_over(SqliteSessionStore(tmp_path / "s.db")).begin_turn("assistant", "s").loaded == (
        "devops",
        "research",
    )


def test_D5_D7_agents_of_a_session_and_sessions_of_an_agent_share_nothing(sessions: DynamicSessions) -> None:
    for agent in ("assistant", "helper"):
        for session in ("one", "two"):
            sessions.begin_turn(agent, session)
    sessions.load("helper", "one", "devops")
    loaded = {
        (agent, session): sessions.begin_turn(agent, session).loaded
        for agent in ("assistant", "helper")
        for session in ("one", "two")
    }
    assert loaded == {
        ("assistant", "one"): ("research",),
        ("assistant", "two"): ("research",),
        ("helper", "one"): ("devops",),
        ("helper", "two"): (),
    }


# The configuration changes between two turns


@pytest.mark.parametrize(
    ("now", "kits", "loaded", "named"),
    [
        pytest.param(
            AgentSpec("assistant", ("file",), ("research",)),
            (RESEARCH,),
            ("research",),
            "no longer there",
            id="removed",
        ),
        pytest.param(
            AgentSpec("assistant", ("file",), ("research",)), KITS, ("research",), "no longer allowed", id="forbidden"
        ),
        pytest.param(
            AgentSpec("assistant", (), ("devops", "podman"), ("podman",)),
            KITS,
            ("podman",),
            "'docker'",
            id="in-conflict",
        ),
        pytest.param(
            AgentSpec("assistant", ("docker",), ("devops",), overrides={"docker": {"x": 1}}),
            KITS,
            (),
            ("static tools", "'docker'"),
            id="in-conflict-with-static-tools",
        ),
    ],
)
def test_D5_what_the_configuration_no_longer_has_is_dropped_with_a_warning(
    store: SessionStore, now: AgentSpec, kits: Sequence[Toolkit], loaded: tuple[str, ...], named: object
) -> None:
    sessions_over(store).load("assistant", "s", "devops")
    kept = store.read("assistant", "s")
    sessions = sessions_over(store, now, kits=kits)
    turn = sessions.begin_turn("assistant", "s")
    assert turn.loaded == loaded
    assert mentions(turn.warnings[0], named)
    assert "devops" in {drop.toolkit for drop in sessions.show("assistant", "s").dropped}
    assert store.read("assistant", "s") == kept, "reading changes nothing"
    assert sessions_over(store).begin_turn("assistant", "s").loaded == ("devops", "research"), "the edit is taken back"


def test_D5_a_newly_initial_toolkit_is_there_and_sticky_at_once(store: SessionStore) -> None:
    sessions_over(store).begin_turn("assistant", "s")
    sessions = sessions_over(store, AgentSpec("assistant", (), ("devops", "research"), ("devops", "research")))
    assert sessions.begin_turn("assistant", "s").loaded == ("devops", "research")
    assert sessions.unload("assistant", "s", "devops")["status"] == "sticky"


def test_D5_what_is_no_longer_initial_stays_loaded_and_can_be_unloaded(store: SessionStore) -> None:
    sessions_over(store).begin_turn("assistant", "s")
    sessions = sessions_over(store, AgentSpec("assistant", ("file",), ("devops", "research")))
    assert sessions.begin_turn("assistant", "s").loaded == ("research",)
    assert sessions.begin_turn("assistant", "new").loaded == ()
    assert sessions.unload("assistant", "s", "research")["status"] == "unloaded"
    assert sessions.begin_turn("assistant", "s").loaded == ()


def test_a_turn_says_which_entries_name_no_tool(store: SessionStore) -> None:
    registry = ToolRegistry([ExecutableTool("file", function=str)])
    sessions = DynamicSessions([DynamicToolkits(ASSISTANT, KITS, expand_over(registry))], store)
    turn = sessions.begin_turn("assistant", "s")
    assert each_mentions(turn.warnings, ("arxiv", "research"))
    assert turn.allowed_tools == (*META, "file")


# Looking and mending by hand


def test_showing_says_what_is_kept_and_what_comes_of_it(sessions: DynamicSessions) -> None:
    assert sessions.show("assistant", "s").stored is None
    assert sessions.store.sessions() == []
    sessions.load("assistant", "s", "podman")
    view = sessions.show("assistant", "s")
    assert (view.stored, view.loaded, view.dropped) == (("research", "podman"), ("research", "podman"), ())
    assert [(tool.key, tool.overrides) for tool in view.tools] == [
        ("file", {}),
        ("arxiv", {}),
        ("docker", {"socket": "podman"}),
    ]
    assert sessions.list_toolkits("assistant", "s")["toolkits"][2]["loaded"] is True


def test_a_reset_lets_the_session_start_anew(sessions: DynamicSessions) -> None:
    sessions.load("assistant", "s", "devops")
    sessions.load("helper", "s", "devops")
    assert sessions.reset("assistant", "s") is True
    assert sessions.reset("assistant", "s") is False
    assert sessions.begin_turn("assistant", "s").loaded == ("research",)
    assert sessions.begin_turn("helper", "s").loaded == ("devops",)


@pytest.mark.parametrize("method", ["begin_turn", "show", "reset", "list_toolkits"])
def test_an_unknown_agent_and_an_id_that_is_no_text_are_refused(sessions: DynamicSessions, method: str) -> None:
    with pytest.raises(NotFoundError, match=naming("asistant", "assistant")):
        getattr(sessions, method)("asistant", "s")
    with pytest.raises(InvalidDefinitionError, match="must be text, not 7"):
        getattr(sessions, method)("assistant", 7)


def test_an_agent_that_is_there_twice_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="twice: helper"):
        sessions_over(MemorySessionStore(), HELPER, HELPER)


# Prompt


def test_D8_the_prompt_is_of_the_turn(sessions: DynamicSessions) -> None:
    turn = sessions.begin_turn("assistant", "s")
    sessions.load("assistant", "s", "devops")
    before, after = sessions.prompt(turn), sessions.prompt(sessions.begin_turn("assistant", "s"))
    assert before.volatile == 'Loaded now: "research".'
    assert after.volatile == 'Loaded now: "devops", "research".'
    assert before.static == after.static
    assert '- "research" (always loaded): Papers' in before.static


def test_D2_D8_without_meta_tools_the_prompt_is_silent(sessions: DynamicSessions) -> None:
    for turn in (sessions.begin_turn("assistant", None), sessions.begin_turn("plain", "s")):
        assert (sessions.prompt(turn).static, sessions.prompt(turn).volatile) == ("", "")
