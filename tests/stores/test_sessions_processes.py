"""The file of sessions among many processes, some of which are killed (rule D5)."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


@pytest.fixture
def store(path: Path) -> SqliteSessionStore:
    made = SqliteSessionStore(path)
    assert made.write("a", "s", ["devops"], None)
    return made


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
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit
keys = [f"kit{number}" for number in range(20)]
clash = [f"clash{number}" for number in range(20)]
kits = [Toolkit(key, member_tools=(f"tool_of_{key}",)) for key in keys]
kits += [Toolkit(key, member_tools=("tool",), overrides={"tool": {"of": key}}) for key in clash]
agent = AgentSpec("a", (), (*keys, *clash))
toolkits = DynamicToolkits(agent, kits)

def of(session):
    return StoredToolkits(toolkits, SqliteSessionStore(sys.argv[1]), session)
"""
KEYS = [f"kit{number}" for number in range(20)]
CLASH = [f"clash{number}" for number in range(20)]


def _loaded(path: Path, session: str) -> tuple[str, ...]:
    """The toolkits of the next turn."""
    kits = [Toolkit(key, member_tools=(f"tool_of_{key}",)) for key in KEYS]
    kits += [Toolkit(key, member_tools=("tool",), overrides={"tool": {"of": key}}) for key in CLASH]
    agent = AgentSpec("a", (), (*KEYS, *CLASH))
    return StoredToolkits(DynamicToolkits(agent, kits), SqliteSessionStore(path), session).begin_turn()[0].loaded


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
                os.write(answering, of(session).load(toolkit)["status"].encode())
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
    assert different == ["loaded"] * 20
    assert _loaded(path, "different") == tuple(KEYS)
    assert sorted(colliding) == ["conflict"] * 19 + ["loaded"]
    assert _loaded(path, "colliding") == (CLASH[colliding.index("loaded")],)
    assert sorted(same) == ["already_loaded"] * 19 + ["loaded"]
    assert _loaded(path, "same") == ("kit0",)
    assert SqliteSessionStore(path).sessions() == [("a", "colliding"), ("a", "different"), ("a", "same")]


KILLED = """
of("s").begin_turn()
print(of("s").load("kit3")["status"], flush=True)
sys.stdin.read()
"""


def test_D5_a_kill_between_load_and_next_turn_loses_nothing(path: Path) -> None:
    with _python(SESSIONS + KILLED, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loaded\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert _loaded(path, "s") == ("kit3",)


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


KILLED_WHILE_OPEN = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("UPDATE states SET loaded = '[\\"killed\\"]'")
os.kill(os.getpid(), signal.SIGKILL)
"""


def _kill_while_open(path: Path) -> list[Path]:
    """What a killed process leaves beside the file."""
    with _python(KILLED_WHILE_OPEN, path) as process:
        assert process.wait(timeout=60) == -signal.SIGKILL
    beside = [path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")]
    assert all(left.stat().st_size for left in beside)
    return beside


def test_a_file_that_is_removed_after_a_kill_is_begun_anew(store: SqliteSessionStore, path: Path) -> None:
    _kill_while_open(path)
    path.unlink()
    assert (store.read("a", "s"), store.sessions()) == (None, [])
    assert store.write("a", "new", ["x"], None)
    assert store.sessions() == [("a", "new")]


def test_a_copy_put_in_its_place_as_advised_is_what_is_kept(store: SqliteSessionStore, path: Path) -> None:
    copy = shutil.copy(path, path.with_name("copy"))
    for left in _kill_while_open(path):
        left.unlink()
    shutil.copy(copy, path)
    kept = store.read("a", "s")
    assert kept is not None
    assert kept.loaded == ("devops",)


AMONG_KILLS = """
import os, random, signal, time
draw = random.Random(7)

def toggle(key, times):
    is_loaded = False
    for _ in range(times):
        change = of("s").unload if is_loaded else of("s").load
        status = change(key)["status"]
        is_loaded = not is_loaded
        assert status == ("loaded" if is_loaded else "unloaded"), (key, status)

def fork(key, times):
    child = os.fork()
    if child == 0:
        try:
            toggle(key, times)
            os._exit(0)
        finally:
            os._exit(1)
    return child

others = [fork(key, 9 + number) for number, key in enumerate(keys[:4])]
for key in keys[4:] * 2:
    victim = fork(key, 1_000_000)
    time.sleep(draw.uniform(0.002, 0.02))
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    of("s").unload(key)  # whatever it had come to: the next one of this key begins without it
print([os.waitpid(other, 0)[1] for other in others], of("s").begin_turn()[0].loaded)
"""


def test_D5_whoever_is_killed_takes_nothing_of_the_others_along(path: Path) -> None:
    with _python(SESSIONS + AMONG_KILLS, path) as process:
        out, _ = process.communicate(timeout=60)
    assert out == "[0, 0, 0, 0] ('kit0', 'kit2')\n"
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
