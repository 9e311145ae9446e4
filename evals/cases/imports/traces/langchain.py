"""Messages of LangChain and LangGraph: `messages_to_dict`, and `dumps` of `langchain_core.load`."""

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

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def recognises(data: Any) -> bool:
    """Whether a value has messages of LangChain."""
    return holds_conversation(data, is_message)


def read(values: Sequence[Any]) -> Iterator[LoggedExchange]:
    """Each list of messages."""
    for conversation in find_conversations(values, is_message):
        yield LoggedExchange(read_messages(conversation), None, None)


def is_message(value: Any) -> bool:
    """Whether it is a message in one of the two forms."""
    return bool(_fields(value))


def read_messages(values: Sequence[Any]) -> list[Message]:
    """Messages in OpenAI's form."""
    return [_message(fields) for value in values if (fields := _fields(value))]


def _fields(value: Any) -> Mapping[str, Any]:
    """The fields of a message with its `type`; empty where it is none."""
    if not isinstance(value, Mapping):
        return {}
    name = value["id"][-1] if value.get("lc") and isinstance(value.get("id"), list) and value["id"] else ""
    fields = value.get("kwargs") if name else value.get("data")
    if not isinstance(fields, Mapping) or "content" not in fields:
        return {}
    kind = str(name).removesuffix("Chunk").removesuffix("Message").lower() if name else value.get("type")
    return {**fields, "type": kind} if kind in _ROLES else {}


def _message(fields: Mapping[str, Any]) -> Message:
    message: Message = {"role": _ROLES[fields["type"]], "content": part_text(fields["content"])}
    if fields["type"] == "tool":
        content = message["content"] or as_text(fields.get("artifact"))
        message |= {"content": content, "tool_call_id": fields.get("tool_call_id"), "status": fields.get("status")}
    if calls := fields.get("tool_calls"):
        message |= {"tool_calls": [openai_call(call.get("id"), call.get("name"), call.get("args")) for call in calls]}
    return message
