"""Reads the user's requests and the calls from a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.conversation import Message

LONGEST_READ = 6_000
"""Characters of one message that are read: the first two thirds of them from its start, the rest from its end."""


@dataclass(frozen=True, slots=True)
class History:
    """The parts of a conversation that the baseline uses.

    Attributes:
        query: The user's last message, except a bare "Go ahead.", which repeats the request before it.
        before: The user's message before that; empty if there is none.
        calls: Name and arguments of each call since then, in order.
        answers: The results of those calls, in the same order; empty for a call without one.
        turn: How many of the calls were made before the user's very last message.
    """

    query: str = ""
    before: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    answers: tuple[str, ...] = ()
    turn: int = 0


def read_history(messages: Sequence[Message]) -> History:
    """Read a conversation in OpenAI's form; parts in other forms are ignored."""
    user_texts: list[str] = []
    calls: list[tuple[str, Mapping[str, Any]]] = []
    answers: dict[int, str] = {}
    open_ids: dict[Any, int] = {}
    turn = 0
    for message in messages:
        role = message.get("role")
        if role == "user":
            text = message_text(message)
            if user_texts and is_go_ahead(text):
                turn = len(calls)
                continue
            user_texts.append(text)
            calls, answers, open_ids, turn = [], {}, {}, 0
        elif role == "assistant":
            for call_id, name, arguments in _calls(message):
                open_ids[call_id] = len(calls)
                calls.append((name, arguments))
        elif role == "tool" and (number := open_ids.get(message.get("tool_call_id"))) is not None:
            answers[number] = message_text(message)
    return History(
        query=_bounded(user_texts[-1]) if user_texts else "",
        before=_bounded(user_texts[-2]) if len(user_texts) > 1 else "",
        calls=tuple(calls),
        answers=tuple(answers.get(number, "") for number in range(len(calls))),
        turn=turn,
    )


def is_go_ahead(text: str) -> bool:
    """Whether a message says that one should go on, and nothing else."""
    return len(text) <= _LONGEST_GO_AHEAD and _GO_AHEAD.fullmatch(text) is not None


_LONGEST_GO_AHEAD = 60
_GO_ON = r"(?:go\s+ahead|go\s+on|go\s+for\s+it|carry\s+on|continue|proceed|do\s+(?:it|that|so)|please\s+do)"
_YES = r"(?:yes|yeah|yep|ok|okay|sure|fine|alright|all\s+right|great|thanks|thank\s+you|please|now|then|and|so)"
_GO_AHEAD = re.compile(
    rf"[\s\"'“”]*(?:{_YES}\W+){{0,4}}(?:{_GO_ON}|yes|yeah|yep|ok|okay|sure)(?:\W+{_YES}){{0,3}}\W*", re.IGNORECASE
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
    parsed = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            parsed.append((call.get("id"), str(function.get("name")), _object(function.get("arguments"))))
    return parsed


def _object(text: object) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
