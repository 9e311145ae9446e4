"""Names of runs, and how to tell them from paths."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sqlite3
from datetime import datetime
from pathlib import Path

LATEST = "latest"
"""The name that stands for the run begun last."""
_ID = re.compile(r"[0-9]{1,8}|[0-9]{8}-[0-9]{0,6}|[0-9]{8}-[0-9]{6}-[0-9a-f]{0,4}")


def draw_id(connection: sqlite3.Connection, table: str, column: str, now: datetime) -> str:
    """An id that no row has yet: the second, and 16 random bits; raises `sqlite3.Error`."""
    while True:
        drawn = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        if not connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (drawn,)).fetchone():  # noqa: S608
            return drawn


def list_latest_runs(file: Path, beginning: str) -> list[tuple[str, str]]:
    """The ids of the 50 runs begun last, each with its dataset and status; reads no more than that, and writes nothing.

    Args:
        file: The file of runs.
        beginning: Of the ids.

    Raises:
        sqlite3.Error: there is no such file, or it is no file of runs.
    """
    query = (
        "SELECT run, json_extract(plan, '$.dataset.name') || ', ' || status FROM runs "
        "WHERE substr(run, 1, length(?1)) = ?1 ORDER BY created DESC LIMIT 50"
    )
    with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(query, (beginning,)).fetchall()


def is_run_name(name: str) -> bool:
    """Whether a name has the form of `latest`, a run's id or the beginning of one."""
    return name == LATEST or _ID.fullmatch(name) is not None


def is_file_name(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a name is of a file or folder, and not of a run.

    It is where it holds a slash or has one of the endings, which no id does; or where something of that name is there,
    but for what has the form of a run's name: a file that happens to be called `latest` hides no run; it is `./latest`.

    Args:
        name: As it was typed.
        endings: Such as `.json`.
    """
    if "/" in name or "\\" in name or name.endswith(endings):
        return True
    return not is_run_name(name) and os.path.exists(name)  # noqa: PTH110  pathlib's fails where a name is too long
