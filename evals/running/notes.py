"""What somebody wrote about a run, or about a case of it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from toolbelt.errors import NotFoundError
from toolbelt.evals.running.stored_trials import case_ids


def read_notes(connection: sqlite3.Connection, run: str) -> dict[str, str]:
    """The notes of a run by case; that of the run itself under an empty name, and first."""
    return dict(connection.execute("SELECT case_id, text FROM notes WHERE run = ? ORDER BY case_id", (run,)))


def read_run_notes(connection: sqlite3.Connection) -> dict[str, str]:
    """The notes of runs, without those of their cases, by run."""
    return dict(connection.execute("SELECT run, text FROM notes WHERE case_id = ''"))


def write_note(connection: sqlite3.Connection, run: str, text: str, case: str = "") -> None:
    """Keep a note, in place of what there is; an empty text removes it.

    Args:
        connection: Of the store.
        run: Its id.
        text: Of the note.
        case: Its id; empty for the run itself.

    Raises:
        NotFoundError: no finished trial of the run is of that case.
    """
    if case and case not in (known := case_ids(connection, run)):
        raise NotFoundError("case", case, known, "Only cases of finished trials have notes.")
    if not text.strip():
        connection.execute("DELETE FROM notes WHERE run = ? AND case_id = ?", (run, case))
        return
    written = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", (run, case, written, text.strip()))
