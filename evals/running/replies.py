"""Replies as they are kept, so that a trial can be taken up in the middle."""

from __future__ import annotations

import json
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse, Usage


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
