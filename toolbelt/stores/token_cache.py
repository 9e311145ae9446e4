"""Token counts by content, kept on disk: a text counted once is never counted again.

It is only a cache: if it cannot be read or written, counting goes on without it. Counts are found by a hash of
tokenizer and text, so a changed description is simply another entry.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbelt.catalog.tokens import TokenCounter

try:
    from _blake2 import blake2b  # CPython's own: hashlib loads OpenSSL, which takes 2 ms of each start
except ImportError:
    from hashlib import blake2b

FILE_NAME = "tokens.sqlite3"
_CHUNK = 500  # SQLite's older limit on variables is 999
_BATCH = 50
"""Texts counted between two writes: what an interruption loses at most."""
_DAMAGED = ("file is not a database", "malformed")


@dataclass(frozen=True, eq=False, repr=False)
class CachedTokenCounter:
    """Counts through a cache.

    Attributes:
        counter: Counts what is not in the cache.
        folder: Where the cache is; made if need be.
        progress: Called with the number of texts whose count is known so far, for whoever waits.
    """

    counter: TokenCounter
    folder: Path
    progress: Callable[[int], None] | None = None

    @property
    def name(self) -> str:
        """The tokenizer's name."""
        return self.counter.name

    @property
    def exact(self) -> bool:
        """Whether the tokenizer is a real one."""
        return self.counter.exact

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; each batch is kept as soon as it is counted."""
        keys = [self._key(text) for text in texts]
        with _opened(self.folder / FILE_NAME) as connection:
            known = _read(connection, keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            for batch in _batches(list(missing)):
                counts = self.counter.count([missing[key] for key in batch])
                counted = dict(zip(batch, counts, strict=True))
                _write(connection, counted)
                known.update(counted)
                if self.progress is not None:
                    self.progress(len(known))
        return [known[key] for key in keys]

    def find(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text, in order, if all of them were counted before; the tokenizer is not loaded."""
        keys = [self._key(text) for text in texts]
        with _opened(self.folder / FILE_NAME) as connection:
            known = _read(connection, keys)
        return [known[key] for key in keys] if known.keys() >= {*keys} else None

    def _key(self, text: str) -> bytes:
        return hash_text(f"{self.counter.name}\0{text}")


def hash_text(text: str) -> bytes:
    """The key of a text in a cache: 16 bytes of BLAKE2b."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _batches(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    connection = _connect(path)
    try:
        yield connection
    finally:
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


@contextlib.contextmanager
def _forgiving(connection: sqlite3.Connection) -> Iterator[None]:
    """A cache that fails costs time and nothing else; one that is damaged is thrown away, to be made anew."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if any(sign in str(error) for sign in _DAMAGED):
            rows = connection.execute("PRAGMA database_list").fetchall()
            with contextlib.suppress(OSError):
                Path(rows[0][2]).unlink()


def _connect(path: Path, *, retry: bool = True) -> sqlite3.Connection | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=2, isolation_level=None)
    except (OSError, sqlite3.Error):
        return None
    try:
        connection.execute("PRAGMA synchronous=OFF")  # losing the cache with the power loses nothing
        connection.execute(
            "CREATE TABLE IF NOT EXISTS counts (key BLOB PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID"
        )
    except sqlite3.DatabaseError as error:
        connection.close()
        if retry and any(sign in str(error) for sign in _DAMAGED):
            with contextlib.suppress(OSError):
                path.unlink()
            return _connect(path, retry=False)
        return None
    return connection


def _read(connection: sqlite3.Connection | None, keys: Sequence[bytes]) -> dict[bytes, int]:
    known: dict[bytes, int] = {}
    if connection is None:
        return known
    with _forgiving(connection):
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            known.update(connection.execute(f"SELECT key, tokens FROM counts WHERE key IN ({marks})", chunk))  # noqa: S608
    return {key: tokens for key, tokens in known.items() if type(tokens) is int and tokens >= 0}


def _write(connection: sqlite3.Connection | None, counted: dict[bytes, int]) -> None:
    if connection is None:
        return
    with _forgiving(connection):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?)", counted.items())
        connection.execute("COMMIT")
