"""Looking at what was kept: one case, request by request."""

from __future__ import annotations

import sqlite3
from typing import Any

from toolbelt.evals.conversation import Usage
from toolbelt.evals.running.replies import parse_reply


def trials_of(connection: sqlite3.Connection, run: str, case: str) -> list[dict[str, Any]]:
    """Every finished trial of a case, with its requests, as plain values."""
    rows = connection.execute(
        "SELECT trial, arm, epoch, outcome, reason, covered, surfaced FROM trials "
        "WHERE run = ? AND case_id = ? ORDER BY epoch, arm",
        (run, case),
    ).fetchall()
    return [
        {
            "arm": arm,
            "epoch": epoch,
            "outcome": outcome,
            "reason": reason,
            "covered": bool(covered),
            "surfaced": bool(surfaced),
            "requests": _requests_of(connection, run, trial),
        }
        for trial, arm, epoch, outcome, reason, covered, surfaced in rows
    ]


def _requests_of(connection: sqlite3.Connection, run: str, trial: int) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT request, attempt, tools, definition_tokens, failure, message, reply, latency_seconds, cost_usd "
        "FROM requests WHERE run = ? AND trial = ? ORDER BY request, attempt",
        (run, trial),
    )
    made = []
    for request, attempt, tools, tokens, failure, message, text, latency, cost in rows:
        reply = None if text is None else parse_reply(text, Usage(), latency)
        calls = [{"name": call.name, "arguments": call.text} for call in reply.calls] if reply else []
        made.append(
            {
                "request": request,
                "attempt": attempt,
                "tools": tools,
                "definition_tokens": tokens,
                "failure": failure,
                "message": message,
                "calls": calls,
                "text": reply.text if reply else "",
                "latency_seconds": latency,
                "cost_usd": cost,
            }
        )
    return made


def case_ids(connection: sqlite3.Connection, run: str) -> list[str]:
    """Ids of the cases with a finished trial."""
    rows = connection.execute("SELECT DISTINCT case_id FROM trials WHERE run = ?", (run,))
    return [row[0] for row in rows]
