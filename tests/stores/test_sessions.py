"""The file of sessions: durable, shared by processes, and never thrown away (rule D5)."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.wording import naming
from toolbelt.errors import StorageError
from toolbelt.sessions.inspection import stored_sessions_data
from toolbelt.stores.sessions import SqliteSessionStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


@pytest.fixture
def store(path: Path) -> SqliteSessionStore:
    made = SqliteSessionStore(path, timeout_seconds=0.1)
    assert made.write("a", "s", ["devops"], None)
    return made


def _refused(store: SqliteSessionStore, *words: str, also: tuple[str, ...] = ()) -> None:
    """Every operation is refused, and says what is wrong and what to do."""
    operations: dict[str, Callable[[], object]] = {
        "read": lambda: store.read("a", "s"),
        "write": lambda: store.write("a", "s", ["x"], 1),
        "reset": lambda: store.reset("a", "s"),
        "sessions": store.sessions,
        "states": store.states,
    }
    for name in also or operations:
        with pytest.raises(StorageError) as caught:
            operations[name]()
        assert [word for word in (str(store.path), *words) if word not in str(caught.value)] == []


def test_D5_another_opening_of_the_file_has_it(store: SqliteSessionStore, path: Path) -> None:
    kept = SqliteSessionStore(str(path)).read("a", "s")
    assert kept == store.read("a", "s")
    assert kept is not None
    assert kept.loaded == ("devops",)


def test_looking_makes_no_file(path: Path) -> None:
    store = SqliteSessionStore(path)
    assert (store.read("a", "s"), store.sessions(), store.states(), store.reset("a", "s")) == (None, [], [], False)
    assert not path.parent.exists()


def test_an_empty_file_is_nothing_yet(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    store = SqliteSessionStore(path)
    assert (store.read("a", "s"), store.sessions(), store.states(), store.reset("a", "s")) == (None, [], [], False)
    assert store.write("a", "s", ["x"], None)
    assert store.sessions() == [("a", "s")]


def test_the_working_directory_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteSessionStore("sessions.db")
    assert store.write("a", "s", ["x"], None)
    monkeypatch.chdir("/")
    assert store.sessions() == [("a", "s")]


@pytest.mark.parametrize("name", ["what?mode=ro#.db", "100%20.db", "a b é.db", ":memory:"])
def test_a_path_is_a_path_whatever_it_looks_like(tmp_path: Path, name: str) -> None:
    store = SqliteSessionStore(tmp_path / name)
    assert store.write("a", "s", ["x"], None)
    assert store.sessions() == [("a", "s")]
    assert (tmp_path / name).is_file()


def test_readers_are_not_kept_waiting_by_a_writer(store: SqliteSessionStore, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.execute("BEGIN IMMEDIATE")
        assert store.sessions() == [("a", "s")]
        _refused(store, "another process keeps it locked", also=("write", "reset"))
        other.execute("ROLLBACK")
    kept = store.read("a", "s")
    assert kept is not None
    assert store.write("a", "s", ["x"], kept.revision)


def test_what_keeps_the_whole_file_locked_is_told(store: SqliteSessionStore, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        _refused(store, "locked", "try again")
    assert store.sessions() == [("a", "s")]


# Files that are something else


def test_a_folder_is_refused(tmp_path: Path) -> None:
    _refused(SqliteSessionStore(tmp_path), "make sure that it is a file")


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _refused(SqliteSessionStore(tmp_path / "file" / "sessions.db"), "name another file")


def test_a_path_that_can_be_none_is_refused() -> None:
    with pytest.raises(StorageError, match="null byte"):
        SqliteSessionStore("a\0b").read("a", "s")


def _spoil_wholly(path: Path) -> None:
    path.write_bytes(b"agents:\n  assistant:\n" * 400)


def _spoil_inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    path.write_bytes(content)


@pytest.mark.parametrize("spoil", [_spoil_wholly, _spoil_inside])
def test_a_damaged_file_is_refused_and_left_as_it_is(
    store: SqliteSessionStore, path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(path)
    before = path.read_bytes()
    _refused(store, "move it away", "-wal", "left as it is")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        pytest.param("PRAGMA user_version = 2", ("version 2", "name another file"), id="another-version"),
        pytest.param("PRAGMA application_id = 7", ("no file of sessions",), id="another-application"),
    ],
)
def test_what_others_wrote_is_refused_and_left_as_it_is(
    store: SqliteSessionStore, path: Path, statement: str, words: tuple[str, ...]
) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute(statement)
        other.commit()
    before = path.read_bytes()
    _refused(store, *words)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE runs (run TEXT)")
    _refused(SqliteSessionStore(path), "no file of sessions")


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", "null"])
def test_a_state_mended_wrongly_by_hand_costs_its_own_session_alone(
    store: SqliteSessionStore, path: Path, text: str
) -> None:
    assert store.write("a", "sound", ["x"], None)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE states SET loaded = ? WHERE session = 's'", (text,))
        other.commit()
    with pytest.raises(StorageError, match=naming("agent 'a'", "session 's'", "reset")):
        store.read("a", "s")
    assert store.read("a", "sound") is not None
    damaged, sound = store.states()
    assert (damaged.session_id, damaged.state, sound.problem) == ("s", None, None)
    assert "not a list of toolkits" in (damaged.problem or "")
    assert sound.state == store.read("a", "sound")
    assert store.reset("a", "s")
    assert store.read("a", "s") is None


def test_a_file_that_is_removed_is_begun_anew_and_no_revision_of_before_holds(
    store: SqliteSessionStore, path: Path
) -> None:
    kept = store.read("a", "s")
    assert kept is not None
    path.unlink()
    assert store.read("a", "s") is None
    assert store.write("a", "s", ["x"], kept.revision) is False
    assert store.write("a", "s", ["x"], None)
    again = store.read("a", "s")
    assert again is not None
    assert again.revision != kept.revision


def test_what_is_kept_can_be_read_by_a_person(store: SqliteSessionStore, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        ((agent, session, loaded),) = other.execute("SELECT agent, session, loaded FROM states").fetchall()
    assert (agent, session, json.loads(loaded)) == ("a", "s", ["devops"])


def test_looking_at_all_sessions_is_one_reading_however_many_there_are(
    store: SqliteSessionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        rows = (("a", f"session {number}", '["x"]') for number in range(500))
        other.executemany("INSERT INTO states (agent, session, loaded) VALUES (?, ?, ?)", rows)
        other.commit()
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def counted(*arguments: Any, **more: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **more))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counted)
    assert len(stored_sessions_data(store, {"a": None}, "a")) == 501
    assert len(opened) == 1
