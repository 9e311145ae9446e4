"""What the files of SQLite have in common: transactions, identity, errors."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from toolbelt.errors import StorageError, ToolbeltError

READ_ONLY = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
"""SQLite's errors for a file that it can at most read."""
_DAMAGED = ("not a database", "malformed", "decode to UTF-8", "no such table")
"""Parts of SQLite's messages; their codes are those of other errors, too."""
_LEAST_PAGE = 512
"""Bytes of the smallest page that such a file can have."""


def is_sqlite_file(path: Path) -> bool:
    """Whether a file is one of SQLite; an empty one is not yet.

    Never by opening it oneself: closing such a file drops every lock that this process holds on it (as POSIX has it),
    after which another process takes the log for abandoned and deletes it, with all that is written to it from then on
    (https://www.sqlite.org/howtocorrupt.html, section 2.2). SQLite knows its own connections and closes none too early.

    Args:
        path: Of a regular file, which need not be there.
    """
    if not path.exists() or path.stat().st_size < _LEAST_PAGE:  # which SQLite would take for a new one
        return False
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            connection.execute("SELECT 1 FROM sqlite_master")
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        return getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_NOTADB  # another error is for its reader
    return True


def create_private(path: Path) -> None:
    """Make a file that nobody else may read, for SQLite to fill; its log gets the same mode.

    One that is there stays as it is. Why it cannot be made, SQLite says when it opens it.
    """
    with contextlib.suppress(OSError, ValueError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is written inside is stored at the end, or nothing of it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def find_identity(path: Path | str) -> tuple[int, int] | None:
    """What identifies a file, so that another file under its name is noticed; `None` if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  pathlib's takes thrice as long, and this is asked at every request
    except OSError:
        return None
    return status.st_dev, status.st_ino


def describe_disk_error(error: Exception) -> str:
    """What the disk or SQLite says, without the path."""
    return str(getattr(error, "strerror", None) or error)


def raise_file_error(error: sqlite3.Error, path: Path, kind: str, safe: str) -> NoReturn:
    """Raise an error of a file of ours for one of SQLite.

    Args:
        error: SQLite's.
        path: Of the file.
        kind: What the file is, such as `file of runs`.
        safe: What was stored before and is not lost.

    Raises:
        ToolbeltError: it is no such file, or is damaged.
        StorageError: anything else.
    """
    words = describe_disk_error(error)
    if any(part in words for part in _DAMAGED):
        raise ToolbeltError(f"{str(path)!r} is no {kind}, or is damaged: {words}.") from None
    raise StorageError(f"The {kind} {str(path)!r} cannot be used: {words}. {safe}") from None
