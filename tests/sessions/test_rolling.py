"""Processes with different configurations over one store, as while a new one is rolled out (rule D5)."""

from __future__ import annotations

import pytest

from tests.sessions.samples import DEVOPS, KITS, PODMAN, RESEARCH, sessions_over
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import DropKind, DroppedToolkit, SessionStore
from toolbelt.toolkits.toolkit import Toolkit

OPS = Toolkit("ops", member_tools=("kubectl",))
NEW = (AgentSpec("a", (), ("ops", "research", "devops")), (OPS, RESEARCH, DEVOPS))
OLD = {
    "unknown": (AgentSpec("a", (), ("devops", "research")), (RESEARCH, DEVOPS)),
    "not-allowed": (AgentSpec("a", (), ("devops", "research")), (OPS, RESEARCH, DEVOPS)),
}


def over(store: SessionStore, configuration: tuple[AgentSpec, tuple[Toolkit, ...]]) -> DynamicSessions:
    agent, kits = configuration
    return sessions_over(store, agent, kits=kits)


def stored(store: SessionStore) -> tuple[str, ...]:
    kept = store.read("a", "s")
    assert kept is not None
    return kept.loaded


@pytest.mark.parametrize("old", OLD)
def test_D5_a_load_outlives_changes_by_processes_that_do_not_know_it(store: SessionStore, old: str) -> None:
    new, before = over(store, NEW), over(store, OLD[old])
    assert new.load("a", "s", "ops")["status"] == "loaded"
    assert before.load("a", "s", "research")["status"] == "loaded"
    assert before.begin_turn("a", "s").loaded == ("research",), "it stays without what it does not have"
    assert "'ops'" in before.begin_turn("a", "s").warnings[0]
    assert new.begin_turn("a", "s").loaded == ("ops", "research")
    assert before.unload("a", "s", "research")["status"] == "unloaded"
    assert new.begin_turn("a", "s").loaded == ("ops",)


def test_D5_what_is_written_is_in_one_order_and_holds_nothing_twice(store: SessionStore) -> None:
    store.write("a", "s", ["gone", "ops", "lost", "gone"], None)
    before = over(store, OLD["unknown"])
    for _ in range(2):
        before.load("a", "s", "research")
        before.load("a", "s", "devops")
        assert stored(store) == ("devops", "research", "gone", "ops", "lost")
        before.unload("a", "s", "research")
        assert stored(store) == ("devops", "gone", "ops", "lost")
    over(store, NEW).load("a", "s", "research")
    assert stored(store) == ("ops", "research", "devops", "gone", "lost")


def test_D5_where_nothing_changes_nothing_is_written(store: SessionStore) -> None:
    over(store, NEW).load("a", "s", "ops")
    kept, before = store.read("a", "s"), over(store, OLD["unknown"])
    statuses = [before.load("a", "s", "ops"), before.unload("a", "s", "ops"), before.unload("a", "s", "research")]
    assert [answer["status"] for answer in statuses] == ["unknown", "unknown", "not_loaded"]
    assert store.read("a", "s") == kept


def test_D5_who_has_it_unloads_it_and_a_reset_forgets_everything(store: SessionStore) -> None:
    new, before = over(store, NEW), over(store, OLD["not-allowed"])
    new.load("a", "s", "ops")
    before.load("a", "s", "research")
    assert new.unload("a", "s", "ops")["status"] == "unloaded"
    assert stored(store) == ("research",)
    new.load("a", "s", "ops")
    assert before.reset("a", "s")
    assert new.begin_turn("a", "s").loaded == ()


def test_D5_what_is_in_conflict_goes_with_the_next_change(store: SessionStore) -> None:
    store.write("a", "s", ["podman", "ops"], None)
    sessions = sessions_over(store, AgentSpec("a", (), ("devops", "podman", "research")), kits=(*KITS, OPS))
    assert sessions.begin_turn("a", "s").loaded == ("podman",)
    store.write("a", "s", ["podman", "devops", "ops"], store.read("a", "s").revision)  # type: ignore[union-attr]
    view = sessions.show("a", "s")
    assert {one.toolkit: one.kind for one in view.dropped} == {
        "podman": DropKind.CONFLICT,
        "ops": DropKind.NOT_ALLOWED,
    }
    sessions.load("a", "s", "research")
    assert stored(store) == ("devops", "research", "ops")


def test_D5_what_is_dropped_says_why_for_programs_too() -> None:
    toolkits = DynamicToolkits(AgentSpec("a", (), ("devops", "podman")), (DEVOPS, PODMAN, RESEARCH))
    restored = toolkits.restore(["gone", "podman", "research", "devops"])
    assert [(one.toolkit, one.kind.value) for one in restored.dropped] == [
        ("gone", "unknown"),
        ("podman", "conflict"),
        ("research", "not_allowed"),
    ]
    assert all(isinstance(one, DroppedToolkit) and repr(one.toolkit) in one.reason for one in restored.dropped)
    assert (restored.loaded, restored.kept_for_others) == (("devops",), ("gone", "research"))


@pytest.mark.parametrize("method", ["load", "unload"])
@pytest.mark.parametrize("toolkit", [None, 3, ["ops"]], ids=repr)
def test_a_toolkit_that_is_no_text_is_refused_in_a_sentence(
    sessions: DynamicSessions, method: str, toolkit: object
) -> None:
    with pytest.raises(InvalidDefinitionError, match="key of a toolkit"):
        getattr(sessions, method)("assistant", "s", toolkit)


@pytest.mark.parametrize("agent", [None, 3, ["assistant"]], ids=repr)
def test_an_agent_that_is_no_text_is_none_of_these(sessions: DynamicSessions, agent: object) -> None:
    with pytest.raises(NotFoundError) as caught:
        sessions.begin_turn(agent, "s")  # type: ignore[arg-type]
    assert str(agent) in str(caught.value)
