"""Messages of pydantic-ai, as `ModelMessagesTypeAdapter` and `result.all_messages_json()` write them (1.x and 2.x)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.imports.messages import Message, openai_call
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange
from toolbelt.evals.cases.imports.traces.conversations import (
    as_text,
    find_conversations,
    holds_conversation,
    part_text,
)


def recognises(data: Any) -> bool:
    """Whether a value has messages of pydantic-ai."""
    return holds_conversation(data, _is_message)


def read(values: Sequence[Any]) -> Iterator[LoggedExchange]:
    """Each list of messages."""
    for conversation in find_conversations(values, _is_message):
        yield LoggedExchange([each for message in conversation for each in _messages(message)], None, None)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("kind") in ("request", "response") and "parts" in value


def _messages(message: Mapping[str, Any]) -> Iterator[Message]:
    parts = [part for part in message["parts"] if isinstance(part, Mapping)]
    if message["kind"] == "response":
        texts = [part["content"] for part in parts if part.get("part_kind") == "text"]
        answer: Message = {"role": "assistant", "content": "\n".join(texts) or None}
        if calls := [part for part in parts if part.get("part_kind") == "tool-call"]:
            answer["tool_calls"] = [
                openai_call(part["tool_call_id"], part["tool_name"], part["args"]) for part in calls
            ]
        yield answer
        return
    for part in parts:
        match part.get("part_kind"):
            case "system-prompt":
                yield {"role": "system", "content": part["content"]}
            case "user-prompt":
                yield {"role": "user", "content": part_text(part["content"])}
            case "tool-return":
                failed = {"is_error": True} if part.get("outcome") in ("failed", "retried") else {}
                yield _answer(part) | failed | ({"refused": True} if part.get("outcome") == "denied" else {})
            case "retry-prompt" if part.get("tool_name"):
                yield _answer(part) | {"is_error": True}


def _answer(part: Mapping[str, Any]) -> Message:
    return {"role": "tool", "tool_call_id": part["tool_call_id"], "content": as_text(part["content"])}
