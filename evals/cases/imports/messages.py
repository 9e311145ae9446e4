"""Messages of the chat completions API: the calls in them, and whether calls and answers belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.foreign_messages import in_openai_form
from toolbelt.evals.cases.imports.ledger import BrokenError, UnmappedError
from toolbelt.evals.cases.row import ROLES
from toolbelt.evals.cases.texts import text_of
from toolbelt.sources import parse_json

Message = dict[str, Any]
_NOT_SENT = ("weight", "refusal", "annotations", "audio", "provider_specific_fields", "reasoning_content")
"""Keys of a message that say something about it, and are no part of what a model is sent."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an agent made.

    Attributes:
        id: What its answer refers to; empty for the older `function_call`.
        name: As the agent called the tool.
        arguments: An object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]


def check_messages(value: Any, place: str = "messages") -> list[Message]:
    """`value` as a list of messages, those of other APIs put in OpenAI's form.

    Raises:
        BrokenError: it is none.
        UnmappedError: a part of one is of a kind that is not known.
    """
    if not isinstance(value, list) or not value:
        raise BrokenError("wrong-type", f"`{place}` must be a list with a message in it.")
    value = in_openai_form(value)
    for index, message in enumerate(value):
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise BrokenError("wrong-type", f"`{place}[{index}]` must be a message with a known `role`.")
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            raise BrokenError("wrong-type", f"`{place}[{index}].content` must be text or a list of parts.")
    messages: list[Message] = value
    return messages


def calls_of(message: Message, place: str) -> tuple[Call, ...]:
    """The calls that a message of an assistant makes.

    Raises:
        BrokenError: a call without a name, or whose arguments are no object in JSON.
        UnmappedError: a call of something else than a function.
    """
    made = []
    written = message.get("tool_calls") or []
    if not isinstance(written, list):
        raise BrokenError("wrong-type", f"`{place}.tool_calls` must be a list.")
    for index, call in enumerate(written):
        where = f"{place}.tool_calls[{index}]"
        if not isinstance(call, dict):
            raise BrokenError("wrong-type", f"`{where}` must be an object.")
        if call.get("type", "function") not in ("function", None):
            raise UnmappedError("calls something that is no function", str(call["type"]))
        made.append(_call(call.get("function"), call.get("id"), where))
    if message.get("function_call") is not None:
        made.append(_call(message["function_call"], "", f"{place}.function_call"))
    return tuple(made)


def _call(function: Any, call_id: Any, place: str) -> Call:
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise BrokenError("wrong-type", f"`{place}` names no function.")
    return Call(call_id if isinstance(call_id, str) else "", name, read_arguments(function.get("arguments"), place))


def read_arguments(value: Any, place: str) -> Mapping[str, Any]:
    """Arguments of a call, written as JSON in a text or as an object; none where there is nothing.

    Raises:
        BrokenError: they are neither.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        try:
            value = parse_json(value, place).data
        except InvalidFileError as error:
            message = f"The arguments of `{place}` cannot be read: {error.findings[0].message}"
            raise BrokenError("bad-arguments", message) from None
    if not isinstance(value, dict):
        raise BrokenError("bad-arguments", f"The arguments of `{place}` are no object.")
    return value


def check_answers(messages: Sequence[Message], place: str = "messages") -> int:
    """Hold the answers of tools against the calls.

    Returns:
        How many messages from the beginning stand together without a call that is never answered; a provider would
        refuse to go on after one.

    Raises:
        BrokenError: an answer to a call that nobody made.
    """
    open_calls: set[str] = set()
    opened_at = 0
    sound = len(messages)
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_calls:
                told = repr(call_id)[:60]
                raise BrokenError("unknown-call", f"`{place}[{index}]` answers the call {told}, which nobody made.")
            open_calls.discard(str(call_id))
        elif role != "function":
            if open_calls and sound == len(messages):
                sound = opened_at + 1
            open_calls = set()
            if role == "assistant":
                open_calls = {str(call.get("id")) for call in message.get("tool_calls") or [] if isinstance(call, dict)}
                opened_at = index
    return sound


def as_sent(messages: Sequence[Message]) -> list[Message]:
    """The messages as a model would be sent them: without what logs add to them."""
    return [
        {
            key: value
            for key, value in message.items()
            if key not in _NOT_SENT and (value is not None or key == "content")
        }
        for message in messages
    ]


def opening(messages: Sequence[Message]) -> dict[str, Any]:
    """What opens a case: `query`, with a `system` before it, where that says all; else `messages`."""
    sent = as_sent(messages)
    plain = all(message.keys() == {"role", "content"} and _is_text(message["content"]) for message in sent)
    match [message["role"] for message in sent] if plain else []:
        case ["user"]:
            return {"query": sent[0]["content"]}
        case ["system", "user"]:
            return {"system": sent[0]["content"], "query": sent[1]["content"]}
    return {"messages": sent}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def results_of(messages: Sequence[Message], names: Mapping[str, str]) -> dict[str, list[str]]:
    """What tools answered, in order, by the name they were called by.

    Args:
        messages: Of one turn.
        names: Of the calls, by id.
    """
    made: dict[str, list[str]] = {}
    for message in messages:
        if message["role"] == "tool":
            name = names.get(str(message.get("tool_call_id")))
        elif message["role"] == "function":
            name = message.get("name")
        else:
            continue
        if isinstance(name, str):
            made.setdefault(name, []).append(text_of(message.get("content")))
    return made
