"""What the baseline reads out of a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.conversation import Message

LONGEST_READ = 6_000
"""Characters of one message that are read: the first two thirds of them from its start, the rest from its end."""


@dataclass(frozen=True, slots=True)
class History:
    """A conversation, as far as it matters.

    Attributes:
        query: What the user said last.
        before: What the user said before that; empty if nothing.
        calls: Name and arguments of each call made since, in order.
        answers: What those calls were answered with, in the same order; empty for one without.
    """

    query: str = ""
    before: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    answers: tuple[str, ...] = ()


def read_history(messages: Sequence[Message]) -> History:
    """Read a conversation in OpenAI's form; what is in no such form is passed over."""
    said: list[str] = []
    calls: list[tuple[str, Mapping[str, Any]]] = []
    answers: dict[int, str] = {}
    open_ids: dict[Any, int] = {}
    for message in messages:
        role = message.get("role")
        if role == "user":
            said.append(message_text(message))
            calls, answers, open_ids = [], {}, {}
        elif role == "assistant":
            for call_id, name, arguments in _calls(message):
                open_ids[call_id] = len(calls)
                calls.append((name, arguments))
        elif role == "tool" and (number := open_ids.get(message.get("tool_call_id"))) is not None:
            answers[number] = message_text(message)
    return History(
        query=_bounded(said[-1]) if said else "",
        before=_bounded(said[-2]) if len(said) > 1 else "",
        calls=tuple(calls),
        answers=tuple(answers.get(number, "") for number in range(len(calls))),
    )


def message_text(message: Message) -> str:
    """The text of a message; of one in parts, its texts, without images and the like."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _bounded(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and (text[0], text[-1]) in _WRAPPINGS and text[0] not in text[1:-1]:
        text = text[1:-1]  # data sets often quote the whole message
    if len(text) > LONGEST_READ:
        head = LONGEST_READ * 2 // 3
        text = f"{text[:head]}\n{text[head - LONGEST_READ :]}"
    # Half a surrogate pair may come in with a message, and must not go out in an argument.
    return text if text.isascii() else text.encode(errors="replace").decode()


_WRAPPINGS = (('"', '"'), ("“", "”"), ("'", "'"))


def _calls(message: Message) -> list[tuple[Any, str, Mapping[str, Any]]]:
    made = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            made.append((call.get("id"), str(function.get("name")), _object(function.get("arguments"))))
    return made


def _object(text: object) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
