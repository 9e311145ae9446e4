"""Reads the stored trials of one case, request by request."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple

from toolbelt.evals.running.records import parse_case, parse_names, parse_reply
from toolbelt.evals.toolsets.toolset import GO_AHEAD
from toolbelt.providers.chat import Usage


def trials_of(connection: sqlite3.Connection, run: str, case: str) -> list[dict[str, Any]]:
    """Every finished trial of a case, with its requests, as plain values.

    `asked_by` is the arm that sent them, where it has the same; `None` where the trial's own arm did.
    """
    rows = connection.execute(
        "SELECT coalesce(same_as, trial), arm, epoch, outcome, reason, covered, surfaced, called, missing, surplus, "
        "(SELECT arm FROM trials AS a WHERE a.run = t.run AND a.trial = t.same_as) FROM trials AS t "
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
            "called": parse_names(called),
            "missing": parse_names(missing),
            "surplus": parse_names(surplus),
            "requests": _requests_of(connection, run, trial),
            "asked_by": asked_by,
        }
        for trial, arm, epoch, outcome, reason, covered, surfaced, called, missing, surplus, asked_by in rows
    ]


class FailedTrial(NamedTuple):
    """A finished trial whose outcome is not `correct`.

    Attributes:
        case: Its id.
        epoch: 0-based.
        arm: 0-based.
        outcome: How it ended.
        reason: Why, in words; may be empty.
    """

    case: str
    epoch: int
    arm: int
    outcome: str
    reason: str


def failed_trials(connection: sqlite3.Connection, run: str, case: str | None = None) -> list[FailedTrial]:
    """The finished trials of a run, or of one of its cases, that are not right, case by case."""
    rows = connection.execute(
        "SELECT case_id, epoch, arm, outcome, reason FROM trials WHERE run = ? AND coalesce(?, case_id) = case_id "
        "AND outcome <> 'correct' ORDER BY case_id, epoch, arm",
        (run, case),
    )
    return [FailedTrial(*row) for row in rows]


def _requests_of(connection: sqlite3.Connection, run: str, trial: int) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT request, attempt, names, definition_tokens, failure, message, reply, prompt_tokens, completion_tokens, "
        "latency_seconds, r.cost_usd, p.recorded, p.cost_usd FROM requests AS r JOIN offers AS o ON o.offer = r.offer "
        "LEFT JOIN (SELECT * FROM responses WHERE is_reused) AS p USING (run, trial, request, attempt) "
        "WHERE run = ? AND trial = ? ORDER BY request, attempt",
        (run, trial),
    )
    requests = []
    for request, attempt, names, tokens, failure, message, text, prompt, completion, latency, cost, *reused in rows:
        reply = None if text is None else parse_reply(text, Usage(), latency)
        calls = [{"name": call.name, "arguments": call.text} for call in reply.calls] if reply else []
        requests.append(
            {
                "request": request,
                "attempt": attempt,
                "offered": json.loads(names),
                "definition_tokens": tokens,
                "failure": failure,
                "message": message,
                "searches": [list(names) for names in reply.searches] if reply else [],  # of the vendor's own
                "calls": calls,
                "text": reply.text if reply else "",
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "latency_seconds": latency,
                "cost_usd": cost,
                "recorded": reused[0],  # when, if a recorded response was reused
                "original_cost_usd": reused[1],
            }
        )
    _part_turns(requests)
    return requests


def _part_turns(requests: list[dict[str, Any]]) -> None:
    """Add to each request its turn, 1-based, and the user's follow-up, if any.

    The follow-up is not stored: a trial continues after a reply without calls only if the user sent one, and the
    protocol of toolsets has only one follow-up text.
    """
    turn, last = 1, max((request["request"] for request in requests), default=0)
    for request in requests:
        ends = not request["failure"] and not request["calls"] and request["request"] < last
        request["turn"], request["follow_up"] = turn, GO_AHEAD if ends else ""
        turn += ends


def find_case(connection: sqlite3.Connection, run: str, case: str) -> dict[str, Any] | None:
    """The messages of a case and its right answers, as plain values; `None` if no trial of it is finished."""
    row = connection.execute("SELECT content FROM cases WHERE run = ? AND case_id = ?", (run, case)).fetchone()
    return None if row is None else parse_case(row[0])


def case_ids(connection: sqlite3.Connection, run: str) -> list[str]:
    """Ids of the cases with a finished trial."""
    rows = connection.execute("SELECT DISTINCT case_id FROM trials WHERE run = ?", (run,))
    return [row[0] for row in rows]
