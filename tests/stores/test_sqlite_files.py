"""A file is recognised as one of SQLite, and the connections that this process has to it keep their locks."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from toolbelt.evals.responses.recorded import is_export
from toolbelt.stores.sqlite_files import is_sqlite_file

READ = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('SELECT count(*) FROM t').fetchone()[0])"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="one-byte"),
        pytest.param(b'{"format": "toolbelt-responses"}\n' * 100, id="json-lines"),
        pytest.param(b"PAR1" + bytes(5000) + b"PAR1", id="parquet"),
        pytest.param(b"SQLite format 4\0" + bytes(4096), id="nearly"),
        pytest.param("é,ü\n".encode() * 400, id="csv"),
    ],
)
def test_other_files_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a ?#%.db").write_bytes(content)
    assert not is_sqlite_file(tmp_path / "a ?#%.db")
    assert not is_sqlite_file(tmp_path / "none.db")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_file_of_sqlite_is_one_while_it_is_written_and_after(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a ?#%.db"
    with closing(_made(path, mode)):
        assert is_sqlite_file(path)
    assert is_sqlite_file(path)


@pytest.mark.parametrize("look", [is_sqlite_file, is_export], ids=["is_sqlite_file", "is_export"])
def test_E8_to_look_at_a_file_loses_nothing_that_this_process_writes_to_it(
    tmp_path: Path, look: Callable[[Path], bool]
) -> None:
    path = tmp_path / "responses.db"
    with closing(_made(path, "wal")) as connection:
        look(path)
        assert _rows_seen_elsewhere(path) == 1, "which closes the file, and would delete a log that nobody holds"
        connection.execute("INSERT INTO t VALUES (2)")
        assert _rows_seen_elsewhere(path) == 2


def _made(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (1)")
    return connection


def _rows_seen_elsewhere(path: Path) -> int:
    return int(subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True).stdout)
