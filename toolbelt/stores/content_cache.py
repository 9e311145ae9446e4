"""Values by the hash of what they were made from, kept on disk, so that nothing is made twice.

It is only a cache: if it cannot be read or written, work goes on without it. Several processes may use it at once.
Each value has a check of key and value, so that one that was changed in the file is made again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    from _blake2 import blake2b  # CPython's own: hashlib loads OpenSSL, which takes 2 ms of each start
except ImportError:
    from hashlib import blake2b

_CHUNK = 500  # SQLite's older limit on variables is 999
_DAMAGED = ("file is not a database", "malformed")


def hash_text(text: str) -> bytes:
    """The key of a text in a cache: 16 bytes of BLAKE2b."""
    return hash_bytes(text.encode(errors="surrogatepass"), 16)


def stamp_code(*packages: str) -> list[tuple[str, int, int]]:
    """Name, size and time of each of our modules that a value follows from, as a part of its key.

    Args:
        packages: Folders below `toolbelt/`, without those in them; `""` for the modules of `toolbelt` itself.
    """
    root = Path(__file__).parents[1]
    files = [entry for package in packages for entry in os.scandir(root / package) if entry.name.endswith(".py")]
    stats = [(entry.name, entry.stat()) for entry in sorted(files, key=lambda entry: entry.path)]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def hash_bytes(content: bytes, size: int) -> bytes:
    """So many bytes of BLAKE2b."""
    return blake2b(content, digest_size=size).digest()


@dataclass(frozen=True, slots=True)
class ContentCache:
    """A table of one file of SQLite.

    Attributes:
        path: The file; made, with its folder, if need be. One that is damaged is made anew.
        table: Name of the table.
        column: Name and type of the values: `tokens INTEGER`.
    """

    path: Path
    table: str
    column: str

    @contextlib.contextmanager
    def open(self) -> Iterator[OpenCache]:
        """The cache, to be read and written within."""
        opened = OpenCache(self._connect(), self._checked_table, self.column.partition(" ")[0])
        try:
            yield opened
        finally:
            opened.close()

    @property
    def _checked_table(self) -> str:
        return f"checked_{self.table}"  # a table of an earlier release has no checks

    def _connect(self, *, retry: bool = True) -> sqlite3.Connection | None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=2, isolation_level=None)
        except (OSError, sqlite3.Error):
            return None
        try:
            connection.execute("PRAGMA synchronous=OFF")  # losing the cache with the power loses nothing
            columns = f"key BLOB PRIMARY KEY, {self.column} NOT NULL, seal BLOB NOT NULL"
            connection.execute(f"CREATE TABLE IF NOT EXISTS {self._checked_table} ({columns}) WITHOUT ROWID")
        except sqlite3.DatabaseError as error:
            connection.close()
            if retry and _is_damage(error):
                with contextlib.suppress(OSError):
                    self.path.unlink()
                return self._connect(retry=False)
            return None
        return connection


class OpenCache:
    """What `ContentCache.open` gives; without a connection it is empty and keeps nothing."""

    def __init__(self, connection: sqlite3.Connection | None, table: str, column: str) -> None:
        self._connection = connection
        self._table = table
        self._column = column

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """The values that are known, as they are written there: who reads them checks them."""
        known: dict[bytes, Any] = {}
        if self._connection is None:
            return known
        with self._forgiving(self._connection):
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, {self._column}, seal FROM {self._table} WHERE key IN ({marks})"  # noqa: S608  our names
                rows = self._connection.execute(query, chunk)
                known.update((key, value) for key, value, seal in rows if seal == _seal(key, value))
        return known

    def add(self, values: Mapping[bytes, Any]) -> None:
        """Keep values, all or none of them."""
        if self._connection is None:
            return
        with self._forgiving(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            rows = ((key, value, _seal(key, value)) for key, value in values.items())
            self._connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", rows)  # noqa: S608
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()

    @staticmethod
    @contextlib.contextmanager
    def _forgiving(connection: sqlite3.Connection) -> Iterator[None]:
        """A cache that fails costs time and nothing else; one that is damaged is thrown away, to be made anew."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                rows = connection.execute("PRAGMA database_list").fetchall()
                with contextlib.suppress(OSError):
                    Path(rows[0][2]).unlink()


def _seal(key: bytes, value: object) -> bytes:
    """The check of an entry: a value that was changed, or stands under another key, does not have it."""
    content = value if isinstance(value, bytes) else repr(value).encode(errors="surrogatepass")
    return hash_bytes(key + content, 8)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return any(sign in str(error) for sign in _DAMAGED)
