"""Messages of the AI SDK (`ai` on npm, 4 to 6): model messages, as `response.messages`, and those of chats."""

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

_ROLES = ("system", "user", "assistant", "tool")


def recognises(data: Any) -> bool:
    """Whether a value has messages with parts that only the AI SDK writes."""
    return holds_conversation(data, _is_message) and any(map(_is_own, _messages_in(data)))


def read(values: Sequence[Any]) -> Iterator[LoggedExchange]:
    """Each list of messages."""
    for conversation in find_conversations(values, _is_message):
        yield LoggedExchange([each for message in conversation for each in _converted(message)], None, None)


def _messages_in(data: Any) -> list[Any]:
    return [data] if _is_message(data) else next(find_conversations([data], _is_message), [])


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") in _ROLES and ("content" in value or "parts" in value)


def _is_own(message: Mapping[str, Any]) -> bool:
    return "toolInvocations" in message or any("toolCallId" in part or _is_step(part) for part in _parts(message))


def _is_step(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "step-start"


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = message["parts"] if "parts" in message else message.get("content")
    if isinstance(found, str):
        return [{"type": "text", "text": found}]
    return [part for part in found if isinstance(part, Mapping)] if isinstance(found, list) else []


def _converted(message: Mapping[str, Any]) -> Iterator[Message]:
    """A message of a chat has all steps of an answer, with what the tools answered."""
    step: list[Mapping[str, Any]] = []
    for part in _parts(message):
        if _is_step(part):
            yield from _step(message["role"], step)
            step = []
        elif "toolInvocation" in part:
            step.append({**part["toolInvocation"], "type": "dynamic-tool"})
        else:
            step.append(part)
    step += [{**each, "type": "dynamic-tool"} for each in message.get("toolInvocations") or () if not step]
    yield from _step(message["role"], step)


def _step(role: str, parts: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    called = [part for part in parts if "toolCallId" in part and part.get("type") != "tool-result"]
    text = part_text(list(parts))
    if text or called:
        calls = [openai_call(part["toolCallId"], _name(part), part.get("input", part.get("args"))) for part in called]
        yield {"role": role, "content": text} | ({"tool_calls": calls} if calls else {})
    for part in parts:
        if "toolCallId" in part and any(key in part for key in ("output", "result", "errorText")):
            yield _answer(part)


def _name(part: Mapping[str, Any]) -> str:
    return str(part.get("toolName") or str(part["type"]).removeprefix("tool-"))


def _answer(part: Mapping[str, Any]) -> Message:
    output = part.get("output", part.get("result", part.get("errorText")))
    kind = ""
    if isinstance(output, Mapping) and output.keys() >= {"type", "value"}:
        kind, output = str(output["type"]), output["value"]
    answer: Message = {"role": "tool", "tool_call_id": part["toolCallId"], "content": as_text(output)}
    failed = part.get("state") == "output-error" or "errorText" in part or part.get("isError") or "error" in kind
    denied = part.get("state") == "output-denied" or kind == "execution-denied"
    return answer | ({"is_error": True} if failed else {}) | ({"refused": True} if denied else {})
