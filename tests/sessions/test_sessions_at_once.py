"""Others who change a session at the same moment, and stores that do not work (rule D5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sessions.samples import APART, STORES, Broken, Sessions, sessions_over
from toolbelt.errors import StorageError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.store import MemorySessionStore, SessionStore, StoredState


class Meddling(MemorySessionStore):
    """A store in which somebody else is quicker, as often as told."""

    def __init__(self, meddle: Callable[[SessionStore], None], times: int) -> None:
        super().__init__()
        self.meddle, self.times = meddle, times

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        if self.times:
            self.times -= 1
            times, self.times = self.times, 0
            self.meddle(self)
            self.times = times
        return super().write(agent, session_id, loaded, revision)


def test_D5_two_that_load_different_toolkits_both_succeed() -> None:
    store = Meddling(lambda others: assert_status(sessions_over(others).load("assistant", "s", "podman"), "loaded"), 1)
    assert_status(sessions_over(store, kits=APART).load("assistant", "s", "devops"), "loaded")
    assert sessions_over(store, kits=APART).begin_turn("assistant", "s").loaded == ("devops", "research", "podman")


def test_D5_of_two_that_collide_one_is_told_of_the_other() -> None:
    store = Meddling(lambda others: assert_status(sessions_over(others).load("assistant", "s", "podman"), "loaded"), 1)
    answer = sessions_over(store).load("assistant", "s", "devops")
    assert (answer["status"], answer["conflicts_with"]) == ("conflict", "podman")
    assert sessions_over(store).begin_turn("assistant", "s").loaded == ("research", "podman")


def test_D5_a_reset_meanwhile_is_not_undone() -> None:
    store = Meddling(lambda others: assert_true(others.reset("assistant", "s")), 0)
    sessions = sessions_over(store, kits=APART)
    sessions.load("assistant", "s", "podman")
    store.times = 1
    assert_status(sessions.load("assistant", "s", "devops"), "loaded")
    assert sessions.begin_turn("assistant", "s").loaded == ("devops", "research")


def test_one_whom_others_always_forestall_gives_up_and_says_so() -> None:
    def meddle(others: SessionStore) -> None:
        kept = others.read("assistant", "s")
        others.write("assistant", "s", ("research",), None if kept is None else kept.revision)

    with pytest.raises(StorageError, match="try again"):
        sessions_over(Meddling(meddle, 10_000)).load("assistant", "s", "devops")


def assert_status(answer: dict[str, Any], status: str) -> None:
    assert answer["status"] == status


def assert_true(value: bool) -> None:
    assert value


class Counting(MemorySessionStore):
    """A store that says what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def read(self, agent: str, session_id: str) -> StoredState | None:
        self.asked.append("read")
        return super().read(agent, session_id)

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        self.asked.append("write")
        return super().write(agent, session_id, loaded, revision)


def test_D4_a_turn_reads_once_and_only_the_first_of_a_session_writes() -> None:
    store = Counting()
    sessions = sessions_over(store)
    sessions.begin_turn("assistant", "s")
    assert store.asked == ["read", "write"]
    sessions.begin_turn("assistant", "s")
    sessions.show("assistant", "s")
    sessions.load("assistant", "s", "research")
    assert store.asked[2:] == ["read"] * 3


def test_D5_a_session_that_begins_with_nothing_keeps_nothing() -> None:
    store = Counting()
    sessions = sessions_over(store)
    assert sessions.begin_turn("helper", "s").loaded == ()
    assert store.asked == ["read"]
    newly = sessions_over(store, AgentSpec("helper", (), ("devops",), ("devops",)))
    assert newly.begin_turn("helper", "s").loaded == ("devops",)


# A store that does not work


def test_a_turn_goes_on_where_its_beginning_cannot_be_kept() -> None:
    turn = sessions_over(Broken(readable=True)).begin_turn("assistant", "s")
    assert turn.loaded == ("research",)
    assert turn.warnings == ("The state of this session could not be stored. The disk is full.",)


def test_what_cannot_be_read_is_not_taken_for_nothing() -> None:
    with pytest.raises(StorageError, match="locked"):
        sessions_over(Broken(readable=False)).begin_turn("assistant", "s")


# Laws

STEPS = st.tuples(
    st.sampled_from(["load", "unload", "turn", "reset"]),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["devops", "research", "podman", "nothing"]),
)


@pytest.mark.parametrize("kind", STORES)
@settings(max_examples=8, deadline=None)
@given(steps=st.lists(STEPS, max_size=12))
def test_D3_D5_any_sequence_over_two_sessions_is_what_sets_would_be(kind: str, steps: list[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as folder:
        sessions = sessions_over(STORES[kind](Path(folder)))
        model = {"one": {"research"}, "two": {"research"}}
        for step, session, toolkit in steps:
            loaded = model[session]
            rival = {"devops": "podman", "podman": "devops"}.get(toolkit)
            if step == "load":
                status = sessions.load("assistant", session, toolkit)["status"]
                if toolkit == "nothing":
                    assert status == "unknown"
                elif toolkit in loaded:
                    assert status == "already_loaded"
                elif rival in loaded:
                    assert status == "conflict"
                else:
                    assert status == "loaded"
                    loaded.add(toolkit)
            elif step == "unload":
                status = sessions.unload("assistant", session, toolkit)["status"]
                if status == "unloaded":
                    loaded.remove(toolkit)
                else:
                    expected = {"nothing": "unknown", "research": "sticky"}.get(toolkit, "not_loaded")
                    assert (status, toolkit in loaded - {"research"}) == (expected, False)
            elif step == "reset":
                sessions.reset("assistant", session)
                model[session] = {"research"}
            else:
                assert set(sessions.begin_turn("assistant", session).loaded) == loaded
        for session, loaded in model.items():
            assert set(sessions.begin_turn("assistant", session).loaded) == loaded


ACTIONS = st.tuples(st.booleans(), st.sampled_from(["devops", "research", "podman"]))


@settings(deadline=None)
@given(st.lists(st.tuples(ACTIONS, ACTIONS), max_size=8))
def test_D5_whoever_comes_between_reading_and_writing_is_as_if_it_had_come_before(
    pairs: list[tuple[tuple[bool, str], tuple[bool, str]]],
) -> None:
    def act(sessions: Sessions, action: tuple[bool, str]) -> dict[str, Any]:
        is_load, toolkit = action
        return (sessions.load if is_load else sessions.unload)("assistant", "s", toolkit)

    between: list[tuple[bool, str]] = []
    came: list[bool] = []

    def meddle(others: SessionStore) -> None:
        came.append(True)
        act(sessions_over(others), between[-1])

    store = Meddling(meddle, 0)
    sessions, one_by_one = sessions_over(store), sessions_over(MemorySessionStore())
    for mine, theirs in pairs:
        between.append(theirs)
        came.clear()
        store.times = 1
        answer = act(sessions, mine)
        store.times = 0
        if came:
            act(one_by_one, theirs)
        assert answer == act(one_by_one, mine)
        assert sessions.show("assistant", "s").loaded == one_by_one.show("assistant", "s").loaded
