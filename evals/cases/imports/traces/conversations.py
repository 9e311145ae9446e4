"""What the readers of recorded conversations share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import Message, check_messages
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange

_DEPTH = 3
"""Objects at most around a list of messages: a state, its values, a result."""
OTHER_SHAPE = "A record of this file has another shape than its format"
Attempt = LoggedExchange | UnmappedError | BrokenError
"""An exchange, or why none can be made."""
IsMessage = Callable[[Any], bool]


def find_conversations(values: Sequence[Any], is_message: IsMessage) -> Iterator[list[Any]]:
    """Each list of messages: the values of a file themselves, a value of it, or a field of one."""
    if values and all(map(is_message, values)):
        yield list(values)
        return
    for value in values:
        yield from _within(value, is_message, _DEPTH)


def holds_conversation(value: Any, is_message: IsMessage) -> bool:
    """Whether a value of a file is a message, or has a list of messages."""
    return is_message(value) or next(_within(value, is_message, _DEPTH), None) is not None


def _within(value: Any, is_message: IsMessage, depth: int) -> Iterator[list[Any]]:
    if isinstance(value, list) and value and all(map(is_message, value)):
        yield value
    elif isinstance(value, Mapping) and depth:
        for item in value.values():
            yield from _within(item, is_message, depth - 1)


def part_text(parts: Any) -> str:
    """The text of a content: a text, or a list of texts and of parts with a `text`, or a `content` that is one."""
    if isinstance(parts, str):
        return parts
    texts = []
    for part in parts if isinstance(parts, list) else ():
        found = part if isinstance(part, str) else None
        if isinstance(part, Mapping) and part.get("type", "text") in ("text", "input_text", "output_text"):
            found = part.get("text", part.get("content"))
        if isinstance(found, str):
            texts.append(found)
    return "\n".join(texts)


def as_text(value: Any) -> str:
    """A result of a tool as text; JSON for what is no text."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def attempt(make: Callable[[], LoggedExchange]) -> Attempt:
    """An exchange, or why there is none: its response is an error or cut off, or its shape is another."""
    try:
        return make()
    except (UnmappedError, BrokenError) as reason:
        return reason
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        # Formats of others, which change: what a reader relies on is missing or of another kind.
        return BrokenError("wrong-type", f"{OTHER_SHAPE} ({type(error).__name__}: {error}).")


def joined(found: Iterable[Attempt]) -> tuple[list[LoggedExchange], list[UnmappedError | BrokenError]]:
    """Conversations, without those that a later one continues, as a request repeats what was said before it.

    Returns:
        The conversations, and why others are none.
    """
    whole: list[LoggedExchange] = []
    left_out: list[UnmappedError | BrokenError] = []
    for each in found:
        one = attempt(partial(_whole, each)) if isinstance(each, LoggedExchange) else each
        if not isinstance(one, LoggedExchange):
            left_out.append(one)
        elif one.messages:
            whole.append(one)
    kept: list[LoggedExchange] = []
    prefixes: set[int] = set()
    for exchange in reversed(whole):
        key, keys = 0, set()
        for message in exchange.messages:
            if message["role"] not in ("system", "developer"):
                key = hash((key, _key(message)))
                keys.add(key)
        if key not in prefixes:
            kept.append(exchange)
        prefixes |= keys
    return kept[::-1], left_out


def _whole(exchange: LoggedExchange) -> LoggedExchange:
    messages = [*exchange.messages, *(exchange.answer or ())]
    checked = list(_answered(check_messages(messages))) if messages else []
    return replace(exchange, messages=checked, answer=None, is_trace=True)


def _answered(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with each answer right after its call: an empty one where none was recorded and more was said.

    Answers to calls that nobody made, as after a summary, are left out.
    """
    answers: dict[str, list[Message]] = {}
    for message in messages:
        if message["role"] == "tool":
            answers.setdefault(str(message.get("tool_call_id")), []).append(message)
    last = max((index for index, message in enumerate(messages) if message["role"] != "tool"), default=0)
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            continue
        yield message
        for call in message.get("tool_calls") or ():
            if waiting := answers.get(str(call["id"])):
                yield waiting.pop(0)
            elif index < last:
                yield {"role": "tool", "tool_call_id": call["id"], "content": ""}


def _key(message: Message) -> tuple[str, ...]:
    functions = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    calls = [part for each in functions for part in (str(each.get("name")), _canonical(each.get("arguments")))]
    return (message["role"], content_text(message.get("content")).strip(), *calls)


def _canonical(arguments: Any) -> str:
    try:
        return json.dumps(json.loads(arguments) if isinstance(arguments, str) else arguments, sort_keys=True)
    except ValueError:
        return str(arguments)
