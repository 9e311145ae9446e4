"""Replies as they are kept, so that a trial can be taken up in the middle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.running.retrying import Attempts, plus_cost
from toolbelt.providers.chat import Usage


def format_reply(reply: Reply) -> str:
    """A reply as JSON; its usage and latency are kept in columns of their own."""
    data: dict[str, Any] = {"calls": [[call.id, call.name, call.text] for call in reply.calls]}
    for key in ("text", "finish_reason", "served_by"):
        if value := getattr(reply, key):
            data[key] = value
    return json.dumps(data)  # ASCII, so that half a surrogate pair, which models do write, can be kept


def parse_reply(text: str, usage: Usage, latency_seconds: float) -> Reply:
    """As `format_reply` wrote it."""
    data = json.loads(text)
    return Reply(
        text=data.get("text", ""),
        calls=tuple(ToolUse.from_text(*call) for call in data["calls"]),
        usage=usage,
        finish_reason=data.get("finish_reason", ""),
        served_by=data.get("served_by", ""),
        latency_seconds=latency_seconds,
    )


def fold_attempts(rows: Iterable[Sequence[Any]]) -> dict[int, Attempts]:
    """What is known of requests from all attempts at them, by their number.

    Args:
        rows: `request`, `reply`, the fields of `Usage`, `latency_seconds` and `cost_usd` of each attempt, those at a
            request in order; the tables of runs and of probes have the same.
    """
    found: dict[int, Attempts] = {}
    for number, text, *usage, latency, cost in rows:
        before = found.get(number, Attempts())
        reply = None if text is None else parse_reply(text, Usage(*usage), latency)
        found[number] = Attempts(before.attempts + 1, plus_cost(before.cost_usd, cost), reply)
    return found
