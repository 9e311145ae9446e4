"""What every store of sessions keeps to (rule D5)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.sessions.store import MemorySessionStore, SessionStore
from toolbelt.stores.sessions import SqliteSessionStore

STORES: dict[str, Callable[[Path], SessionStore]] = {
    "memory": lambda _: MemorySessionStore(),
    "sqlite": lambda folder: SqliteSessionStore(folder / "made" / "sessions.db"),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return STORES[request.param](tmp_path)


def _revision(store: SessionStore, agent: str = "a", session: str = "s") -> int | None:
    kept = store.read(agent, session)
    return None if kept is None else kept.revision


def test_D5_nothing_is_kept_at_first(store: SessionStore) -> None:
    assert store.read("a", "s") is None
    assert store.sessions() == []
    assert store.reset("a", "s") is False


def test_D5_what_is_written_is_read(store: SessionStore) -> None:
    assert store.write("a", "s", ["devops", "research"], None) is True
    kept = store.read("a", "s")
    assert kept is not None
    assert kept.loaded == ("devops", "research")
    assert store.write("a", "s", (), kept.revision) is True
    again = store.read("a", "s")
    assert again is not None
    assert again.loaded == ()
    assert again.revision != kept.revision


def test_D5_only_who_read_the_latest_may_write(store: SessionStore) -> None:
    assert store.write("a", "s", ["first"], None)
    first = _revision(store)
    assert store.write("a", "s", ["another"], None) is False
    assert store.write("a", "s", ["second"], first)
    assert store.write("a", "s", ["late"], first) is False
    assert store.write("a", "other", ["x"], first) is False
    kept = store.read("a", "s")
    assert kept is not None
    assert kept.loaded == ("second",)
    assert store.read("a", "other") is None


def test_D5_a_revision_never_comes_twice_not_even_after_a_reset(store: SessionStore) -> None:
    seen: list[int | None] = []
    for _ in range(3):
        for _ in range(3):
            assert store.write("a", "s", ["same"], _revision(store))
            seen.append(_revision(store))
        assert store.reset("a", "s") is True
        assert store.write("a", "s", ["stale"], seen[-1]) is False
        assert store.read("a", "s") is None
    assert len(set(seen)) == 9
    assert None not in seen


def test_D5_D7_agents_and_sessions_are_kept_apart(store: SessionStore) -> None:
    for agent, session in (("b", "1"), ("a", "2"), ("a", "1")):
        assert store.write(agent, session, [agent + session], None)
    assert store.sessions() == [("a", "1"), ("a", "2"), ("b", "1")]
    assert store.sessions("a") == [("a", "1"), ("a", "2")]
    assert (store.sessions("nobody"), store.states("nobody")) == ([], [])
    for whose in (None, "a", "b"):
        assert [(kept.agent, kept.session_id) for kept in store.states(whose)] == store.sessions(whose)
    assert all(kept.state == store.read(kept.agent, kept.session_id) for kept in store.states())
    assert store.reset("a", "1")
    assert [store.read(*key) is not None for key in (("a", "1"), ("a", "2"), ("b", "1"))] == [False, True, True]


ODD = [
    "",
    " ",
    "\0",
    "a\0b",
    "a",
    "A",
    "\ud800",
    "\udfff\ud800",
    "é",
    "e\u0301",
    "'; DROP TABLE states; --",
    "x" * 1_000_000,
]


def test_any_text_is_a_name_of_its_own(store: SessionStore) -> None:
    for number, name in enumerate(ODD):
        assert store.write(name, name[::-1], [name, str(number)], None)
    for number, name in enumerate(ODD):
        kept = store.read(name, name[::-1])
        assert kept is not None
        assert kept.loaded == (name, str(number))
    assert store.sessions() == sorted((name, name[::-1]) for name in ODD)
    assert all(store.sessions(name) == [(name, name[::-1])] for name in ODD)
    assert all(store.reset(name, name[::-1]) for name in ODD)
    assert store.sessions() == []


def test_D5_threads_lose_nothing(store: SessionStore) -> None:
    rounds, failures = 5, []

    def add(name: str) -> None:
        try:
            for number in range(rounds):
                while True:
                    kept = store.read("a", "s")
                    loaded, revision = ((), None) if kept is None else (kept.loaded, kept.revision)
                    if store.write("a", "s", [*loaded, f"{name}{number}"], revision):
                        break
        except BaseException as error:  # noqa: BLE001  a thread's error is nobody's unless it is carried out
            failures.append(error)

    threads = [threading.Thread(target=add, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    kept = store.read("a", "s")
    assert kept is not None
    assert sorted(kept.loaded) == sorted(f"{name}{number}" for name in "abcdef" for number in range(rounds))


class WritingWhenCompared(str):
    """A name that another session comes about from while it is looked for, as another thread would do it."""

    store: MemorySessionStore
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        self.store.write("other", str(len(self.store.sessions())), [], None)
        return str.__eq__(self, other)


def test_sessions_that_begin_while_they_are_listed_are_in_nobodys_way(tmp_path: Path) -> None:
    store = MemorySessionStore()
    for session in "st":
        store.write("a", session, [], None)
    name = WritingWhenCompared("a")
    name.store = store
    assert store.sessions(name) == [("a", "s"), ("a", "t")]


@dataclass(frozen=True)
class Step:
    agent: str
    session: str
    loaded: tuple[str, ...] | None
    """`None` is a reset."""
    is_stale: bool


STEPS = st.builds(
    Step,
    st.sampled_from("ab"),
    st.sampled_from("st"),
    st.none() | st.lists(st.sampled_from("xyz"), max_size=2).map(tuple),
    st.booleans(),
)


@pytest.mark.parametrize("kind", STORES)
@settings(max_examples=10, deadline=None)
@given(steps=st.lists(STEPS, max_size=12))
def test_D5_any_sequence_of_steps_leaves_what_a_dict_would(kind: str, steps: list[Step]) -> None:
    folder: AbstractContextManager[str] = TemporaryDirectory() if kind == "sqlite" else nullcontext("")
    with folder as place:
        store = STORES[kind](Path(place))
        model: dict[tuple[str, str], tuple[str, ...]] = {}
        before: dict[tuple[str, str], int | None] = {}
        for step in steps:
            key = (step.agent, step.session)
            revision = _revision(store, *key)
            if step.loaded is None:
                assert store.reset(*key) is (model.pop(key, None) is not None)
            elif step.is_stale and before.get(key, revision) != revision:
                assert store.write(*key, step.loaded, before[key]) is False
            else:
                assert store.write(*key, step.loaded, revision) is True
                model[key], before[key] = step.loaded, revision
        for key in itertools.product("ab", "st"):
            kept = store.read(*key)
            assert (None if kept is None else kept.loaded) == model.get(key)
        assert store.sessions() == sorted(model)
