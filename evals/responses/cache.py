"""The response cache: a SQLite file of recorded responses, which several processes may read and write at once.

A response has left the process before it is used, so a kill of the process loses none. A power loss or a crash of the
system may take the last moments with it, as with the file of runs; the file stays sound.

A kill may come when a response is in this file and not yet in the file of runs. So it is written down here, too, which
request of which run paid for it: when that run goes on, the response is one that it asked for, not one that it reused.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from pathlib import Path

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.responses.response import Payment, RecordedResponse, format_response, parse_response
from toolbelt.sources import refuse_special
from toolbelt.stores.files import make_folder
from toolbelt.stores.sqlite_files import (
    READ_ONLY,
    create_private,
    describe_disk_error,
    find_identity,
    raise_file_error,
    transaction,
)

VERSION = 1
"""Version of the table. A file of another version is refused, never changed."""
_APPLICATION = 0x746F7262
"""Distinguishes the file from other files of SQLite."""
_BUSY_SECONDS = 60
_TABLE = """
CREATE TABLE responses (
    key TEXT PRIMARY KEY,     -- SHA-256 of the request, the origin and the epoch
    model TEXT NOT NULL,      -- that was asked, as named on the command line
    origin TEXT NOT NULL,     -- provider, or scheme, host and port
    recorded TEXT NOT NULL,   -- ISO 8601, UTC
    response TEXT NOT NULL    -- a line of JSON, as in an export
) WITHOUT ROWID;
"""
_PAYMENTS = """
CREATE TABLE IF NOT EXISTS payments (
    run TEXT NOT NULL,         -- that asked
    trial INTEGER NOT NULL,    -- number of the trial in its plan
    request INTEGER NOT NULL,  -- 0-based within the trial
    key TEXT NOT NULL,         -- of the response
    cost_usd REAL,             -- what it cost
    PRIMARY KEY (run, trial, request)
) WITHOUT ROWID;
"""
_ADD_RESPONSE = "INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?)"
_ADD_PAYMENT = "INSERT OR REPLACE INTO payments VALUES (?, ?, ?, ?, ?)"


class ResponseCache:
    """A file of recorded responses.

    Args:
        path: Made, with its folder, if need be, unless it is only read.
        read_only: Whether nothing may be written; then the file must be there.

    Raises:
        StorageError: the disk would not.
        ToolbeltError: it is no response cache, or of another version.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._place = path.absolute()
        try:
            if not read_only:
                make_folder(path.parent)
            with contextlib.suppress(FileNotFoundError, ValueError):
                refuse_special(path)
            self._connection = self._connect_to_read() if read_only else self._connect_to_write()
        except (OSError, sqlite3.OperationalError) as error:
            raise StorageError(f"Cannot open the response cache {str(path)!r}: {describe_disk_error(error)}.") from None
        try:
            with self._guarded():
                self._check_tables(read_only=read_only)
        except BaseException:
            self._connection.close()
            raise
        self._file = find_identity(self._place)

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __len__(self) -> int:
        with self._guarded():
            return int(self._connection.execute("SELECT count(*) FROM responses").fetchone()[0])

    def find(self, key: str) -> RecordedResponse | None:
        """The response with that key.

        Raises:
            ToolbeltError: its row was changed by hand.
        """
        with self._guarded():
            row = self._connection.execute("SELECT response FROM responses WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._parse(key, row[0])

    def find_payments(self, run: str) -> dict[tuple[int, int], Payment]:
        """What a run has paid for, by the numbers of trial and request."""
        with self._guarded():
            if not self._has_payments():
                return {}
            rows = self._connection.execute("SELECT * FROM payments WHERE run = ?", (run,)).fetchall()
        return {(row[1], row[2]): Payment(*row) for row in rows}

    def _has_payments(self) -> bool:
        """Files of earlier versions, which are only read here, have none."""
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'payments'"
        return bool(self._connection.execute(tables).fetchone()[0])

    def add(self, responses: Iterable[RecordedResponse], payments: Iterable[Payment] = ()) -> None:
        """Store responses and who paid for them, all or none; where another process was earlier, its response stays.

        Raises:
            StorageError: the disk would not, or the file was removed or replaced, so that nothing would be stored.
        """
        if find_identity(self._place) != self._file:
            raise StorageError(
                f"The response cache {str(self.path)!r} was removed or replaced while it was written to. "
                "Start again, and keep the file in its place."
            )
        rows = [
            (response.key, response.model, response.origin, response.recorded, format_response(response))
            for response in responses
        ]
        with self._guarded(), transaction(self._connection):
            self._connection.executemany(_ADD_RESPONSE, rows)
            self._connection.executemany(_ADD_PAYMENT, map(astuple, payments))

    def read_all(self) -> Iterator[RecordedResponse]:
        """Every response, by model, origin and key."""
        with self._guarded():
            rows = self._connection.execute("SELECT key, response FROM responses ORDER BY model, origin, key")
            for key, text in rows:
                yield self._parse(key, text)

    def delete(self, keys: Iterable[str]) -> int:
        """Delete responses, all or none; returns their number."""
        with self._guarded():
            with transaction(self._connection):
                before = self._connection.total_changes
                self._connection.executemany("DELETE FROM responses WHERE key = ?", ((key,) for key in keys))
                deleted = self._connection.total_changes - before
                self._connection.execute("DELETE FROM payments WHERE key NOT IN (SELECT key FROM responses)")
            self._connection.execute("VACUUM")
        return deleted

    def _parse(self, key: str, text: str) -> RecordedResponse:
        try:
            return parse_response(text, key)
        except (TypeError, ValueError, AttributeError) as error:
            raise ToolbeltError(
                f"The response {key[:16]}… in {str(self.path)!r} cannot be used: {error}. Somebody changed the file; "
                "restore it from a copy, or begin a new one."
            ) from None

    def _connect_to_write(self) -> sqlite3.Connection:
        create_private(self._place)  # it holds prompts and answers
        return sqlite3.connect(self._place, timeout=_BUSY_SECONDS, isolation_level=None)

    def _connect_to_read(self) -> sqlite3.Connection:
        """As it is; where nothing can be written beside it, such as on a read-only disk, without SQLite's log."""
        uri = self._place.as_uri()
        connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError as error:
            if (
                error.sqlite_errorcode & 0xFF not in READ_ONLY
                or self._place.with_name(f"{self.path.name}-wal").exists()
            ):
                raise
            connection.close()
            return sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
        except sqlite3.DatabaseError:
            pass  # reported where the tables are checked
        return connection

    def _check_tables(self, *, read_only: bool) -> None:
        version, application, tables = self._connection.execute(
            "SELECT user_version, (SELECT application_id FROM pragma_application_id), "
            "(SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
        ).fetchone()
        is_new = version == 0 and application == 0 and not tables
        if not is_new and application != _APPLICATION:
            raise ToolbeltError(f"{str(self.path)!r} is no response cache: it holds tables of something else.")
        if not is_new and version != VERSION:
            raise ToolbeltError(
                f"{str(self.path)!r} was written by another version of toolbelt (its table is version {version}, this "
                f"one {VERSION}): name another file, or export it with that version."
            )
        if read_only:
            if is_new:
                raise ToolbeltError(f"{str(self.path)!r} is empty: nothing was recorded in it.")
            self._connection.execute("BEGIN")  # one state of the file, locked once and not for each response
            return
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        if is_new or not self._has_payments():
            self._make_tables()

    def _make_tables(self) -> None:
        with transaction(self._connection):
            # Another process may have made them while this one waited.
            if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._connection.execute(_TABLE)
                self._connection.execute(f"PRAGMA application_id={_APPLICATION}")
                self._connection.execute(f"PRAGMA user_version={VERSION}")
            self._connection.execute(_PAYMENTS)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise_file_error(error, self.path, "response cache", "What was recorded before is safe.")
