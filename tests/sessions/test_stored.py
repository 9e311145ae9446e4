"""The toolkits of an agent from turn to turn, over every store (rules D2 to D7, K8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sessions.samples import ASSISTANT, KITS, RESEARCH, Begun, Sessions, sessions_over
from tests.wording import mentions
from toolbelt.errors import InvalidDefinitionError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.store import DropKind, SessionStore
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.switching import SwitchedOff
from toolbelt.toolkits.toolkit import Toolkit


@pytest.mark.parametrize("session_id", [None, "", " \n"])
def test_D2_without_a_session_there_are_no_meta_tools_and_nothing_is_kept(
    sessions: Sessions, session_id: str | None
) -> None:
    assert sessions.of("assistant", session_id).session_id is None
    assert sessions.begin_turn("assistant", session_id) == Begun(("research",), ())
    assert sessions.load("assistant", session_id, "devops")["status"] == "error"
    assert sessions.load("assistant", session_id, "nothing")["status"] == "unknown"
    assert sessions.unload("assistant", session_id, "research")["status"] == "sticky"
    assert sessions.reset("assistant", session_id) is False
    assert sessions.show("assistant", session_id).stored is None
    assert sessions.store.sessions() == []


def test_D2_without_allowed_toolkits_there_are_no_meta_tools_and_nothing_is_kept(sessions: Sessions) -> None:
    assert sessions.begin_turn("plain", "s") == Begun((), ())
    assert sessions.store.sessions() == []


def test_D4_a_change_is_for_the_next_turn(sessions: Sessions) -> None:
    assert sessions.begin_turn("assistant", "s").loaded == ("research",)
    assert sessions.load("assistant", "s", "devops")["status"] == "loaded"
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


def test_D5_D7_agents_of_a_session_and_sessions_of_an_agent_share_nothing(sessions: Sessions) -> None:
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
    sessions = sessions_over(store, now, kits=kits)
    kept, view = store.read("assistant", "s"), sessions.show("assistant", "s")
    assert "devops" in {drop.toolkit for drop in view.dropped}
    assert store.read("assistant", "s") == kept, "looking changes nothing"
    turn = sessions.begin_turn("assistant", "s")
    assert turn.loaded == view.loaded == loaded
    assert mentions(turn.warnings[0], named)
    assert sessions.begin_turn("assistant", "s") == Begun(loaded, ()), "it is warned of once"
    state = store.read("assistant", "s")
    assert state is not None
    assert state.loaded == loaded


def test_D5_a_revoked_toolkit_does_not_come_back_by_itself(store: SessionStore) -> None:
    before = sessions_over(store)
    before.load("assistant", "s", "devops")
    revoked = sessions_over(store, replace(ASSISTANT, allowed_toolkits=("research", "podman")))
    revoked.show("assistant", "s")
    assert before.show("assistant", "s").loaded == ("devops", "research"), "no turn has begun"
    revoked.begin_turn("assistant", "s")
    assert before.begin_turn("assistant", "s").loaded == ("research",)
    assert before.load("assistant", "s", "devops")["status"] == "loaded"


def test_D5_a_change_forgets_what_is_revoked_as_well(store: SessionStore) -> None:
    sessions = sessions_over(store)
    store.write("assistant", "s", ("gone", "devops", "research", "podman"), None)
    assert sessions.load("assistant", "s", "devops")["status"] == "already_loaded"
    assert sessions.unload("assistant", "s", "devops")["status"] == "unloaded"
    state = store.read("assistant", "s")
    assert state is not None
    assert state.loaded == ("research",)


def test_K8_what_is_switched_off_meanwhile_is_dropped_and_cannot_be_loaded(store: SessionStore) -> None:
    sessions_over(store).load("assistant", "s", "devops")
    off = SwitchedOff(frozenset({"devops"}), frozenset({"docker", "github"}))
    stored = StoredToolkits(DynamicToolkits(ASSISTANT, KITS, off=off), store, "s")
    assert [(drop.toolkit, drop.kind) for drop in stored.show().dropped] == [("devops", DropKind.SWITCHED_OFF)]
    assert stored.begin_turn()[0].loaded == ("research",)
    assert stored.load("devops")["status"] == "not_allowed"
    assert [row["name"] for row in stored.toolkits.list_toolkits(())["toolkits"]] == ["research", "podman"]
    assert sessions_over(store).begin_turn("assistant", "s").loaded == ("research",)


@pytest.mark.parametrize("method", ["load", "unload"])
@pytest.mark.parametrize("toolkit", [None, 3, ["ops"]], ids=repr)
def test_a_toolkit_that_is_no_text_is_refused_in_a_sentence(sessions: Sessions, method: str, toolkit: object) -> None:
    with pytest.raises(InvalidDefinitionError, match="key of a toolkit must be text"):
        getattr(sessions, method)("assistant", "s", toolkit)


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


# Looking and mending by hand


def test_showing_says_what_is_kept_and_what_comes_of_it(sessions: Sessions) -> None:
    assert sessions.show("assistant", "s").stored is None
    assert sessions.store.sessions() == []
    sessions.load("assistant", "s", "podman")
    view = sessions.show("assistant", "s")
    assert (view.stored, view.loaded, view.dropped) == (("research", "podman"), ("research", "podman"), ())


def test_a_reset_lets_the_session_start_anew(sessions: Sessions) -> None:
    sessions.load("assistant", "s", "devops")
    sessions.load("helper", "s", "devops")
    assert sessions.reset("assistant", "s") is True
    assert sessions.reset("assistant", "s") is False
    assert sessions.begin_turn("assistant", "s").loaded == ("research",)
    assert sessions.begin_turn("helper", "s").loaded == ("devops",)


def test_an_id_that_is_no_text_is_refused(sessions: Sessions) -> None:
    with pytest.raises(InvalidDefinitionError, match="must be text, not 7"):
        sessions.of("assistant", 7)  # type: ignore[arg-type]
