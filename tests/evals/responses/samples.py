"""Recorded responses for tests."""

from __future__ import annotations

import hashlib
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.responses.response import Payment, RecordedResponse
from toolbelt.providers.chat import Usage


def make_key(name: object) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()


def make_response(name: object = 0, **changes: Any) -> RecordedResponse:
    """A response with a call, whose key comes from a name."""
    reply = Reply(
        text=changes.pop("text", "Ünï — done"),
        calls=(ToolUse.from_text("call_1", "git_push", '{"branch": "main"}'),),
        usage=Usage(100, 5, cached_read_tokens=10),
        finish_reason="tool_calls",
        served_by=changes.pop("served_by", "gpt-4o-mini-2024-07-18"),
        fingerprint=changes.pop("fingerprint", "fp_1"),
    )
    values: dict[str, Any] = {
        "key": make_key(name),
        "model": "gpt-4o-mini",
        "origin": "openai",
        "epoch": 0,
        "query": "Push it.",
        "recorded": "2026-11-02T10:00:00Z",
        "reply": reply,
        "cost_usd": 0.001,
    }
    return RecordedResponse(**values | changes)


def make_payment(name: int, trial: int = 0, cost_usd: float = 0.001) -> Payment:
    """For the response of that name, as the request of that number."""
    return Payment("run", trial, name, make_key(name), cost_usd)
