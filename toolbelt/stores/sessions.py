"""What agents have loaded, by session, in one SQLite file that many processes use at once (rule D5).

What was written is on the disk before it is said to be: a kill and a loss of power leave it. The file is state, not a
cache: one that is damaged is never replaced. There is a connection for each operation: one that is kept would save most
of the milliseconds that a write takes, but could go stale when the file is replaced, and a forked process that inherits
it takes locks for held that it does not hold.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from toolbelt.errors import StorageError
from toolbelt.sessions.store import StoredSession, StoredState
from toolbelt.stores.files import make_folder
from toolbelt.stores.sqlite_files import describe_disk_error, transaction

DEFAULT_FILE = Path(".toolbelt") / "sessions.db"
VERSION = 1
"""Of the tables."""
_APPLICATION = 0x74625373
"""Distinguishes a file of sessions from other databases."""
_BUSY_SECONDS = 30.0
# Revisions count on from anywhere, and no number comes twice: one from before the file was removed means nothing now.
_TABLES = f"""
    CREATE TABLE states (
        revision INTEGER PRIMARY KEY AUTOINCREMENT,
        agent NOT NULL,
        session NOT NULL,
        loaded TEXT NOT NULL,
        UNIQUE (agent, session)
    );
    INSERT INTO sqlite_sequence VALUES ('states', abs(random() % 1000000000000));
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {VERSION};
"""  # noqa: S608  numbers of ours
_FIND = "SELECT revision, loaded FROM states WHERE agent = ? AND session = ?"
# What a killed process left in the two files would be written over a copy that is put in the place of this one.
_DAMAGED = (
    "move it away, together with those beside it that end in -wal and -shm, to start again or to put a copy in its "
    "place; it was left as it is"
)
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked; end that one, or try again",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked; end that one, or try again",
    sqlite3.SQLITE_READONLY: "make it and its folder writable, or name another file",
    sqlite3.SQLITE_PERM: "make it and its folder writable, or name another file",
    sqlite3.SQLITE_CANTOPEN: "make sure that it is a file which, like its folder, may be written to, or name another",
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_IOERR: "make sure that the disk is sound and has room",
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}
"""What to do, by SQLite's code."""


class SqliteSessionStore:
    """Keeps the state of sessions in a file.

    Nothing is made before something is written. It may be used by any number of threads and processes.

    Attributes:
        path: The file; made, with its folder, if need be.
        timeout_seconds: How long to wait for others that write.
    """

    def __init__(self, path: Path | str = DEFAULT_FILE, *, timeout_seconds: float = _BUSY_SECONDS) -> None:
        self.path = Path(path)
        self.timeout_seconds = timeout_seconds
        self._file = self.path.absolute()  # the working directory may change

    def read(self, agent: str, session_id: str) -> StoredState | None:
        """What is kept; `None` if nothing is.

        Raises:
            StorageError: it cannot be read.
        """
        with self._existing() as connection:
            if connection is None:
                return None
            row = connection.execute(_FIND, (_key(agent), _key(session_id))).fetchone()
        return None if row is None else StoredState(self._loaded(agent, session_id, row[1]), row[0])

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        """Replace what is kept, if it is still what the caller read; whether it was.

        Raises:
            StorageError: it cannot be written; what was kept is untouched.
        """
        keys = (_key(agent), _key(session_id))
        text = json.dumps(list(loaded))
        with self._made() as connection, transaction(connection):
            row = connection.execute(_FIND, keys).fetchone()
            if (None if row is None else row[0]) != revision:
                return False
            connection.execute("INSERT OR REPLACE INTO states (agent, session, loaded) VALUES (?, ?, ?)", (*keys, text))
        return True

    def reset(self, agent: str, session_id: str) -> bool:
        """Forget what is kept; whether there was anything.

        Raises:
            StorageError: it cannot be written.
        """
        with self._existing() as connection:
            if connection is None:
                return False
            with transaction(connection):
                keys = (_key(agent), _key(session_id))
                return connection.execute("DELETE FROM states WHERE agent = ? AND session = ?", keys).rowcount > 0

    def sessions(self, agent: str | None = None) -> list[tuple[str, str]]:
        """Agent and session of everything that is kept, in order; of one agent where it is named.

        Raises:
            StorageError: it cannot be read.
        """
        return sorted((_text(row[0]), _text(row[1])) for row in self._rows("agent, session", agent))

    def states(self, agent: str | None = None) -> list[StoredSession]:
        """Everything that is kept, as it is at one moment, in order; of one agent where it is named.

        Raises:
            StorageError: it cannot be read as a whole.
        """
        rows = self._rows("agent, session, revision, loaded", agent)
        named = sorted(((_text(row[0]), _text(row[1])), row[2], row[3]) for row in rows)
        return [self._kept(*key, revision, text) for key, revision, text in named]

    def _kept(self, agent: str, session_id: str, revision: int, text: str) -> StoredSession:
        try:
            return StoredSession(agent, session_id, StoredState(self._loaded(agent, session_id, text), revision))
        except StorageError as error:
            return StoredSession(agent, session_id, None, str(error))

    def _rows(self, columns: str, agent: str | None) -> list[tuple[Any, ...]]:
        with self._existing() as connection:
            if connection is None:
                return []
            where, keys = ("", ()) if agent is None else (" WHERE agent = ?", (_key(agent),))
            return connection.execute(f"SELECT {columns} FROM states{where}", keys).fetchall()  # noqa: S608  ours

    @contextlib.contextmanager
    def _existing(self) -> Iterator[sqlite3.Connection | None]:
        """The file as it is; `None` where there is nothing in it."""
        with self._guarded():
            if not self._is_there():
                yield None
                return
            with self._connected("rw") as connection:
                yield connection if self._has_tables(connection) else None

    @contextlib.contextmanager
    def _made(self) -> Iterator[sqlite3.Connection]:
        """The file, made where it is not there."""
        with self._guarded():
            make_folder(self._file.parent)
            with self._connected("rwc") as connection:
                if not self._has_tables(connection):
                    with transaction(connection):
                        if not self._has_tables(connection):  # another process may have made them meanwhile
                            for statement in _TABLES.split(";"):
                                connection.execute(statement)
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    # Not while others use the file, and SQLite does not wait for that: then the next one does it.
                    with contextlib.suppress(sqlite3.OperationalError):
                        connection.execute("PRAGMA journal_mode=WAL")
                yield connection

    @contextlib.contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        address = f"{self._file.as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, timeout=self.timeout_seconds, isolation_level=None, uri=True)
        with contextlib.closing(connection):
            connection.execute("PRAGMA synchronous=FULL")
            yield connection

    def _is_there(self) -> bool:
        try:
            self._file.stat()  # `exists` would take a file that may not be looked at for one that is not there
        except FileNotFoundError:
            return False
        return True

    def _has_tables(self, connection: sqlite3.Connection) -> bool:
        # In one statement, that is at one moment: another process may be making them.
        version, application, tables = connection.execute(
            "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_user_version, pragma_application_id"
        ).fetchone()
        if application == _APPLICATION and version != VERSION:
            raise StorageError(
                f"{str(self.path)!r} was written by another version of toolbelt (its tables are version {version}, "
                f"these {VERSION}): use that version, or name another file. Nothing was changed."
            )
        if application != _APPLICATION and (application or version or tables):
            raise StorageError(
                f"{str(self.path)!r} is no file of sessions: it holds something else. Name another file; nothing was "
                "changed."
            )
        return bool(tables)

    def _loaded(self, agent: str, session_id: str, text: str) -> tuple[str, ...]:
        with contextlib.suppress(ValueError, TypeError):
            stored = json.loads(text)
            if isinstance(stored, list) and all(isinstance(key, str) for key in stored):
                return tuple(stored)
        raise StorageError(
            f"What {str(self.path)!r} has of agent {agent!r} in session {session_id!r} is not a list of toolkits; "
            "reset that session to start it again."
        )

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            raise StorageError(f"The file of sessions {str(self.path)!r} cannot be used: {_words(error)}.") from None


def _words(error: Exception) -> str:
    words = describe_disk_error(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of the code says more than anybody needs
    if isinstance(error, OSError):
        advice = "name another file, or make its folder one that can be written to"
    else:
        advice = _ADVICE.get(code, "")
    return f"{words}; {advice}" if advice else words


def _key(text: str) -> str | bytes:
    """A name as SQLite keeps it: text where that is Unicode, else bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
    return text


def _text(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode(errors="surrogatepass")
