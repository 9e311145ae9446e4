"""Why trials of an arm were not scored."""

from __future__ import annotations

import sqlite3

from toolbelt.evals.scoring.outcome import Outcome


def find_reasons(connection: sqlite3.Connection, run: str) -> dict[tuple[int, str], str]:
    """The commonest reason by arm and outcome, of outcomes that are not scored; of equals, that of the first trial."""
    rows = connection.execute(
        "SELECT arm, outcome, reason FROM trials WHERE run = ? AND outcome IN (?, ?) "
        "GROUP BY arm, outcome, reason ORDER BY arm, outcome, count(*), min(trial) DESC",
        (run, Outcome.ERROR.value, Outcome.CONTEXT_OVERFLOW.value),
    )
    return {(arm, outcome): reason for arm, outcome, reason in rows}  # the last of each is kept
