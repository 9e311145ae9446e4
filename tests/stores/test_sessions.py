"""The file of sessions: durable, shared by processes, and never thrown away (rule D5)."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolbelt.errors import StorageError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


@pytest.fixture
def store(path: Path) -> SqliteSessionStore:
    made = SqliteSessionStore(path, timeout_seconds=0.2)
    assert made.write("a", "s", ["devops"], None)
    return made


def _refused(store: SqliteSessionStore, *words: str, also: tuple[str, ...] = ()) -> None:
    """Every operation is refused, and says what is wrong and what to do."""
    operations: dict[str, Callable[[], object]] = {
        "read": lambda: store.read("a", "s"),
        "write": lambda: store.write("a", "s", ["x"], 1),
        "reset": lambda: store.reset("a", "s"),
        "sessions": store.sessions,
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
    assert (store.read("a", "s"), store.sessions(), store.reset("a", "s")) == (None, [], False)
    assert not path.parent.exists()


def test_an_empty_file_is_nothing_yet(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    store = SqliteSessionStore(path)
    assert (store.read("a", "s"), store.sessions(), store.reset("a", "s")) == (None, [], False)
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
    _refused(store, "move it away", "left as it is")
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
    with pytest.raises(StorageError, match="agent 'a' in session 's' is not a list of toolkits; reset"):
        store.read("a", "s")
    assert store.read("a", "sound") is not None
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


# Other processes


def _python(script: str, *arguments: object, **more: Any) -> subprocess.Popen[str]:
    """A process of its own, which imports nothing but what the script says."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **more,
    )


FULL = """
import resource, sys
from toolbelt.errors import StorageError
from toolbelt.stores.sessions import SqliteSessionStore
store = SqliteSessionStore(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
written = 0
try:
    while True:
        assert store.write("a", str(written), ["x" * 3000], None)
        written += 1
except StorageError as error:
    print(written, error)
"""


def test_a_full_disk_is_told_and_what_was_kept_is_kept(store: SqliteSessionStore, path: Path) -> None:
    with _python(FULL, path) as process:
        out, _ = process.communicate(timeout=60)
    written, _, message = out.partition(" ")
    assert "room" in message
    assert str(path) in message
    assert 0 < int(written) < 20
    assert store.sessions() == sorted([("a", "s"), *(("a", str(number)) for number in range(int(written)))])
    assert store.write("a", "more", ["x" * 100_000], None)


READ_ONLY = """
import os, sys
from toolbelt.errors import StorageError
from toolbelt.stores.sessions import SqliteSessionStore
store = SqliteSessionStore(sys.argv[1])
store.write("a", "s", ["x"], None)
kept = store.read("a", "s")
os.chmod(sys.argv[1], 0o444)
if os.getuid() == 0:
    os.setuid(65534)  # root may write to anything
print(store.read("a", "s") == kept)
try:
    store.write("a", "s", ["y"], kept.revision)
except StorageError as error:
    print(error)
"""


def test_a_file_that_is_only_to_be_read_is_read_and_says_so() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        with _python(READ_ONLY, f"{folder}/sessions.db") as process:
            read, refused = process.communicate(timeout=60)[0].splitlines()
    assert read == "True"
    assert "readonly" in refused
    assert "make it and its folder writable" in refused


FORKING = """
import os, sys
from toolbelt.stores.sessions import SqliteSessionStore
store = SqliteSessionStore(sys.argv[1])
assert store.write("parent", "s", ["before"], None)
children = []
for number in range(5):
    child = os.fork()
    if child == 0:
        assert store.write("child", str(number), ["x"], None)
        os._exit(0 if store.read("parent", "s").loaded == ("before",) else 1)
    children.append(child)
assert store.write("parent", "t", ["meanwhile"], None)
print([os.waitpid(child, 0)[1] for child in children])
"""


def test_forked_processes_use_it_like_any_other(path: Path) -> None:
    with _python(FORKING, path) as process:
        out, _ = process.communicate(timeout=60)
    assert out == "[0, 0, 0, 0, 0]\n"
    expected = [*(("child", str(number)) for number in range(5)), ("parent", "s"), ("parent", "t")]
    assert SqliteSessionStore(path).sessions() == expected


SESSIONS = """
import sys
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit
keys = [f"kit{number}" for number in range(20)]
clash = [f"clash{number}" for number in range(20)]
kits = [Toolkit(key, member_tools=(f"tool_of_{key}",)) for key in keys]
kits += [Toolkit(key, member_tools=("tool",), overrides={"tool": {"of": key}}) for key in clash]
agent = AgentSpec("a", (), (*keys, *clash))
sessions = DynamicSessions([DynamicToolkits(agent, kits)], SqliteSessionStore(sys.argv[1]))
"""
KEYS = [f"kit{number}" for number in range(20)]
CLASH = [f"clash{number}" for number in range(20)]


def _sessions(path: Path) -> DynamicSessions:
    kits = [Toolkit(key, member_tools=(f"tool_of_{key}",)) for key in KEYS]
    kits += [Toolkit(key, member_tools=("tool",), overrides={"tool": {"of": key}}) for key in CLASH]
    agent = AgentSpec("a", (), (*KEYS, *CLASH))
    return DynamicSessions([DynamicToolkits(agent, kits)], SqliteSessionStore(path))


LOADING = """
import json, os

def load_at_once(session, toolkits):
    starting, start = os.pipe()
    answers = []
    for toolkit in toolkits:
        answer, answering = os.pipe()
        if os.fork() == 0:
            try:
                os.close(start)
                os.read(starting, 1)  # until nobody can write any more: then all begin at once
                os.write(answering, sessions.load("a", session, toolkit)["status"].encode())
            finally:
                os._exit(0)
        os.close(answering)
        answers.append(answer)
    os.close(start)
    return [os.read(answer, 100).decode() for answer in answers]

rounds = {"different": keys, "colliding": clash, "same": keys[:1] * 20}
print(json.dumps([load_at_once(session, toolkits) for session, toolkits in rounds.items()]))
"""


def test_D5_twenty_processes_at_once_lose_nothing(path: Path) -> None:
    with _python(SESSIONS + LOADING, path) as process:
        different, colliding, same = json.loads(process.communicate(timeout=60)[0])
    sessions = _sessions(path)
    assert different == ["loaded"] * 20
    assert sessions.begin_turn("a", "different").loaded == tuple(KEYS)
    assert sorted(colliding) == ["conflict"] * 19 + ["loaded"]
    assert sessions.begin_turn("a", "colliding").loaded == (CLASH[colliding.index("loaded")],)
    assert sorted(same) == ["already_loaded"] * 19 + ["loaded"]
    assert sessions.begin_turn("a", "same").loaded == ("kit0",)
    assert SqliteSessionStore(path).sessions() == [("a", "colliding"), ("a", "different"), ("a", "same")]


KILLED = """
turn = sessions.begin_turn("a", "s")
print(sessions.load("a", "s", "kit3")["status"], flush=True)
sys.stdin.read()
"""


def test_D5_a_kill_between_load_and_next_turn_loses_nothing(path: Path) -> None:
    with _python(SESSIONS + KILLED, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loaded\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert _sessions(path).begin_turn("a", "s").loaded == ("kit3",)


WRITING = """
import itertools, sys
from toolbelt.stores.sessions import SqliteSessionStore
store = SqliteSessionStore(sys.argv[1])
kept = store.read("a", "s")
start = 0 if kept is None else int(kept.loaded[0])
revision = None if kept is None else kept.revision
for number in itertools.count(start + 1):
    assert store.write("a", "s", [str(number), "x" * 2000], revision)
    print(number, flush=True)
    revision = store.read("a", "s").revision
"""


def test_D5_a_kill_at_any_moment_leaves_what_was_acknowledged(path: Path) -> None:
    draw = random.Random(5)
    for _ in range(8):
        with _python(WRITING, path) as process:
            assert process.stdout is not None
            said = [process.stdout.readline()]
            time.sleep(draw.uniform(0, 0.04))
            os.kill(process.pid, signal.SIGKILL)
            said += process.stdout.readlines()
        acknowledged = int([line for line in said if line.endswith("\n")][-1])
        kept = SqliteSessionStore(path).read("a", "s")
        assert kept is not None
        assert int(kept.loaded[0]) in (acknowledged, acknowledged + 1)
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_is_kept_can_be_read_by_a_person(store: SqliteSessionStore, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        ((agent, session, loaded),) = other.execute("SELECT agent, session, loaded FROM states").fetchall()
    assert (agent, session, json.loads(loaded)) == ("a", "s", ["devops"])
