"""A file of an earlier version, made one of this."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

import pytest

from tests.evals.running.test_plan import make_plan
from tests.evals.running.test_store import request_record, trial_record
from tests.wording import mentions
from toolbelt.errors import StorageError
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.schema import ADDED, VERSION
from toolbelt.evals.running.store import RunStore

VERSION_3 = (Path(__file__).with_name("runs-version-3.sql")).read_text()
"""The tables as toolbelt wrote them before it could probe."""
PROBES = {"probes", "probe_checks", "probe_requests"}
ADDED_SINCE_3 = {"notes", *PROBES, "responses"}


def tables(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    finally:
        connection.close()


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """By table: position, name, type, whether it must be there, default and place in the primary key of each column."""
    connection = sqlite3.connect(path)
    try:
        return {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in tables(path)}
    finally:
        connection.close()


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of version 3 with a run in it."""
    path = tmp_path / "runs.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"BEGIN IMMEDIATE; {VERSION_3} PRAGMA user_version=3; COMMIT;")
    connection.execute("PRAGMA journal_mode=WAL")
    values = ("20260101-000000-aaaa", "2026", "finished", "", make_plan().to_json())
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", values)
    arms = [
        (values[0], n, arm.model, arm.toolset, "", "t", make_plan().per_arm) for n, arm in enumerate(make_plan().arms)
    ]
    connection.executemany("INSERT INTO arms VALUES (?, ?, ?, ?, ?, ?, ?)", arms)
    connection.close()
    return path


def test_the_file_of_version_3_is_one(old: Path) -> None:
    assert version(old) == 3
    assert not PROBES & set(tables(old))


def test_an_older_file_gains_tables_and_nothing_else_changes(old: Path, tmp_path: Path) -> None:
    before = tables(old)
    with RunStore(old, must_exist=True) as store:
        row = store.get("latest")
        assert (row.run, row.plan) == ("20260101-000000-aaaa", make_plan())
        asyncio.run(store.add_request(row.run, request_record()))
        asyncio.run(store.add_trial(row.run, trial_record()))
        assert ProbeStore(store).probes() == []
        ProbeStore(store).create(ProbePlan("m"))
    after = tables(old)
    assert version(old) == VERSION == 10
    assert {name for name in before if after[name] != before[name]} == {"requests", "trials"}, "which gain columns"
    assert set(after) - set(before) == ADDED_SINCE_3
    with RunStore(tmp_path / "new.db"):
        pass
    assert columns(old) == columns(tmp_path / "new.db"), "as if it had been made now"


LAST_WITHOUT = {"trials.rank": 5, "trials.same_as": 6, "trials.exchange": 8} | {
    f"{table}.reasoning_tokens": 7 for table in ("requests", "trials", "probe_checks", "probe_requests")
}
"""The last version without a column."""


@pytest.mark.parametrize("earlier", sorted(set(ADDED) - {3}))
def test_a_file_of_every_earlier_version_gains_the_columns_that_it_lacks(tmp_path: Path, earlier: int) -> None:
    path, new = tmp_path / "runs.db", tmp_path / "new.db"
    for file in (path, new):
        with RunStore(file):
            pass
    connection = sqlite3.connect(path)
    for name, last in LAST_WITHOUT.items():
        table, column = name.split(".")
        if last >= earlier:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute(f"PRAGMA user_version={earlier}")
    connection.close()
    with RunStore(path):
        pass
    assert (version(path), columns(path)) == (VERSION, columns(new))


_OPEN = """
import sys
from dataclasses import fields
from pathlib import Path
from toolbelt.evals.running.store import RunStore
sys.stdin.readline()
with RunStore(Path(sys.argv[1]), must_exist=True) as store:
    print(store.get("latest").run, *store.connection.execute("PRAGMA user_version").fetchone())
"""


def test_the_table_of_trials_is_the_record_of_a_trial(tmp_path: Path) -> None:
    with RunStore(tmp_path / "new.db"):
        pass
    names = [name for _, name, *_ in columns(tmp_path / "new.db")["trials"]]
    assert names == ["run", *(field.name for field in fields(TrialRecord))]


def test_two_processes_that_open_it_at_once_both_can(old: Path) -> None:
    command = [sys.executable, "-c", _OPEN, str(old)]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60) for process in both]
    assert said == [("20260101-000000-aaaa 10\n", "")] * 2
    assert set(tables(old)) >= PROBES


@pytest.mark.parametrize("left", [0, 2, 3], ids=["no-page", "pages-for-one-table", "pages-for-two"])
def test_E9_a_full_disk_leaves_it_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    before = tables(old)

    def connect(*args: object, **settings: object) -> sqlite3.Connection:
        connection = original(*args, **settings)  # type: ignore[call-overload]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + left}")  # what a full disk looks like to SQLite
        return connection  # type: ignore[no-any-return]

    original = sqlite3.connect
    with monkeypatch.context() as patched:
        patched.setattr("sqlite3.connect", connect)
        with pytest.raises(StorageError, match="full"):
            RunStore(old)
    assert (version(old), tables(old)) == (3, before)
    with RunStore(old):
        assert version(old) == VERSION


_READ = """
import os, sys
from dataclasses import fields
from pathlib import Path
import filelock
from toolbelt.errors import StorageError
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.running.store import RunStore
if os.getuid() == 0:
    os.setuid(65534)  # whom the modes of files stop
with RunStore(Path(sys.argv[1]), must_exist=True) as store:
    print(store.get("latest").run, ProbeStore(store).probes(), store.connection.in_transaction)
    assert store.spent("20260101-000000-aaaa") == (0, 0.0)
    try:
        ProbeStore(store).create(ProbePlan("m"))
    except StorageError as error:
        print(error)
"""


def test_an_older_file_that_is_only_to_be_read_is_read_as_it_is(old: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # as pytest's own are shut to others
        path = Path(folder) / "runs.db"
        shutil.copy(old, path)
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            done = subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, timeout=60)
        finally:
            path.parent.chmod(0o755)
        assert done.stderr == ""
        first, second = done.stdout.splitlines()
        assert first == "20260101-000000-aaaa [] False"
        assert mentions(second, str(path), "earlier version")
        assert path.read_bytes() == old.read_bytes()
