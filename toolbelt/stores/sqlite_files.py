"""What is a file of SQLite, without harm to the connections that this process has to it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

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
