"""Convert messages of logs to the form of OpenAI's chat completions, check them, and read the calls in them.

Messages of other APIs are converted, so that no call in them counts as text:

- Anthropic: the parts `tool_use` and `tool_result` of a content, pictures with a `source`;
- the Responses API: items without a role, `function_call` and `function_call_output`;
- Inspect AI: calls whose `function` is a name and whose `arguments` are an object, pictures of the type `image`;
- calls of OpenAI's custom tools, which take one text: a call with the one argument `input`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.fields import ROLES
from toolbelt.evals.cases.imports.import_report import BrokenError, ImportReport, UnmappedError
from toolbelt.sources import parse_json

_FAILED = re.compile(
    r"<(tool_use_)?error>|error:|error (executing|calling|invoking)\b|mcp error\b"
    r"|traceback \(most recent call last\)|[a-z]\w*(error|exception): |\d+ validation errors? for\b",
    re.IGNORECASE,
)
"""How the text of an answer begins that says that a call failed."""
CUSTOM_ARGUMENT = "input"
"""The argument of a custom tool, which takes one text."""
MADE_AGAIN = "a call failed and was made again: only the later one is expected"
STRANGE_PART = "a message has a part of a kind that is not read"
STRANGE_ITEM = "an item of the Responses API that is neither a message nor a call of a function"
PICTURE_ELSEWHERE = "a picture that stands in another file"
_TEXTS = ("text", "input_text", "output_text")
_KEPT = ("image_url", "input_audio", "file", "refusal")
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
_CALLS = ("function_call", "custom_tool_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output")
_INSPECT_KEYS = ("source", "function", "model", "internal")
"""Keys that Inspect AI adds to messages."""


def is_item(value: Any) -> bool:
    """Whether it is a message, or an item of the Responses API."""
    return isinstance(value, Mapping) and ("role" in value or value.get("type") in (*_CALLS, *_ANSWERS, "reasoning"))


def in_openai_form(messages: list[Any]) -> list[Any]:
    """The same messages in OpenAI's form; an entry that is not a message stays as it is, for `check_messages`.

    Raises:
        UnmappedError: a part or an item of an unknown kind, which may be a call.
        BrokenError: a call without a name.
    """
    result: list[Any] = []
    joins = False  # Neighbouring items of one answer become one message.
    for message in messages:
        is_call = isinstance(message, dict) and "role" not in message and "type" in message
        converted = _item(message) if is_call else list(_message(message)) if isinstance(message, dict) else [message]
        for item in converted:
            if is_call and joins and item["role"] == "assistant" and result:
                result[-1] = {**result[-1], "tool_calls": [*result[-1].get("tool_calls", []), *item["tool_calls"]]}
            else:
                result.append(item)
            joins = isinstance(item, dict) and item.get("role") == "assistant" and (is_call or "type" in message)
    return result


def _item(item: Message) -> list[Message]:
    kind = item["type"]
    if kind in _CALLS:
        written = item.get("arguments", item.get("input"))
        arguments = {CUSTOM_ARGUMENT: written} if kind == "custom_tool_call" else written
        call_id = item.get("call_id", item.get("id"))
        return [
            {"role": "assistant", "content": None, "tool_calls": [openai_call(call_id, item.get("name"), arguments)]}
        ]
    if kind in _ANSWERS:
        return [{"role": "tool", "tool_call_id": item.get("call_id"), "content": _answer(item.get("output"))}]
    if kind == "reasoning":
        return []
    raise UnmappedError(STRANGE_ITEM, str(kind)[:60])


def _message(message: Message) -> Iterator[Message]:
    content = message.get("content")
    inspects = isinstance(message.get("function"), str)
    converted = {key: value for key, value in message.items() if not (inspects and key in _INSPECT_KEYS)}
    if converted.get("type") == "message":
        converted = {key: value for key, value in converted.items() if key in ("role", "content")}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        converted["tool_calls"] = [_converted_call(call) for call in calls]
    if not isinstance(content, list):
        yield converted
        return
    parts, tool_uses = [], []
    for part in content:
        match part.get("type") if isinstance(part, dict) else None:
            case "tool_use" if message.get("role") == "assistant":
                tool_uses.append(openai_call(part.get("id"), part.get("name"), part.get("input")))
            case "tool_result" if message.get("role") == "user":
                answer = _answer(part.get("content"))
                failed = {"is_error": True} if part.get("is_error") is True else {}
                yield {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": answer, **failed}
            case _:
                parts += _part(part)
    if tool_uses:
        all_calls = [*converted.get("tool_calls", []), *tool_uses]
        yield {**converted, "content": content_text(parts) or None, "tool_calls": all_calls}
    elif parts or not any(isinstance(part, dict) and part.get("type") == "tool_result" for part in content):
        yield {**converted, "content": parts}


def _part(part: Any) -> list[Any]:
    """A part in OpenAI's form; empty for a thought, which is not part of the text."""
    if not isinstance(part, dict):
        return [part]
    kind = part.get("type", "text" if "text" in part else None)
    if kind in _TEXTS:
        return [{"type": "text", "text": part.get("text", "")}]
    if kind in _KEPT:
        return [part]
    if kind in _THOUGHTS:
        return []
    if kind in ("image", "input_image"):
        return [{"type": "image_url", "image_url": {"url": _picture(part)}}]
    raise UnmappedError(STRANGE_PART, str(kind)[:60] if kind else ", ".join(map(str, part))[:60])


def _picture(part: Mapping[str, Any]) -> str:
    source = part.get("source")
    if isinstance(source, Mapping) and isinstance(source.get("data"), str):
        return f"data:{source.get('media_type', 'image/png')};base64,{source['data']}"
    url = source.get("url") if isinstance(source, Mapping) else part.get("image", part.get("image_url"))
    if isinstance(url, str) and url.startswith(("data:", "http://", "https://")):
        return url
    raise UnmappedError(PICTURE_ELSEWHERE, str(url)[:60])


def _converted_call(call: Any) -> Any:
    """A call in OpenAI's form; a call of an unknown form stays as it is."""
    if not isinstance(call, dict):
        return call
    function, custom = call.get("function"), call.get("custom")
    if isinstance(function, str):  # Inspect AI
        return openai_call(call.get("id"), function, call.get("arguments"))
    if call.get("type") == "custom" and isinstance(custom, dict):
        return openai_call(call.get("id"), custom.get("name"), {CUSTOM_ARGUMENT: custom.get("input", "")})
    if isinstance(function, dict) and not isinstance(function.get("arguments"), str):
        arguments = function.get("arguments")
        if arguments is None or isinstance(arguments, dict):
            return {**call, "function": {**function, "arguments": json.dumps(arguments or {}, ensure_ascii=False)}}
    return call


def openai_call(call_id: Any, name: Any, arguments: Any) -> Message:
    """A call in OpenAI's form.

    Raises:
        BrokenError: without a name.
    """
    if not isinstance(name, str) or not name.strip():
        raise BrokenError("wrong-type", "A call in a message names no tool.")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def _answer(value: Any) -> str:
    """The answer of a tool, as text."""
    return content_text(value) if isinstance(value, str | list) else "" if value is None else json.dumps(value)


Message = dict[str, Any]
_NOT_SENT = (
    "weight",
    "refusal",
    "annotations",
    "audio",
    "provider_specific_fields",
    "reasoning_content",
    "is_error",
    "isError",
    "status",
    "error",
    "refused",
)
"""Keys that describe a message and are not sent to a model."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an agent made.

    Attributes:
        id: The answer refers to it; empty for the older `function_call`.
        name: As the agent called the tool.
        arguments: An object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]


def check_messages(value: Any, place: str = "messages") -> list[Message]:
    """`value` as a list of messages in OpenAI's form; those of other APIs are converted.

    Raises:
        BrokenError: it is not a list of messages.
        UnmappedError: a message has a part of an unknown kind.
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
        UnmappedError: it calls something that is not a function.
    """
    calls = []
    written = message.get("tool_calls") or []
    if not isinstance(written, list):
        raise BrokenError("wrong-type", f"`{place}.tool_calls` must be a list.")
    for index, call in enumerate(written):
        where = f"{place}.tool_calls[{index}]"
        if not isinstance(call, dict):
            raise BrokenError("wrong-type", f"`{where}` must be an object.")
        if call.get("type", "function") not in ("function", None):
            raise UnmappedError("calls something that is no function", str(call["type"]))
        calls.append(_call(call.get("function"), call.get("id"), where))
    if message.get("function_call") is not None:
        calls.append(_call(message["function_call"], "", f"{place}.function_call"))
    return tuple(calls)


def _call(function: Any, call_id: Any, place: str) -> Call:
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise BrokenError("wrong-type", f"`{place}` names no function.")
    return Call(call_id if isinstance(call_id, str) else "", name, read_arguments(function.get("arguments"), place))


def read_arguments(value: Any, place: str) -> Mapping[str, Any]:
    """Arguments of a call, written as a JSON text or as an object; an empty object if there are none.

    Raises:
        BrokenError: they are neither.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    for _ in range(2):  # some are encoded twice
        if not isinstance(value, str):
            break
        try:
            value = parse_json(value, place).data
        except InvalidFileError as error:
            message = f"The arguments of `{place}` cannot be read: {error.findings[0].message}"
            raise BrokenError("bad-arguments", message) from None
    if not isinstance(value, dict):
        raise BrokenError("bad-arguments", f"The arguments of `{place}` are no object.")
    return value


def check_answers(messages: Sequence[Message], place: str = "messages") -> int:
    """Check that each answer of a tool belongs to a call.

    Returns:
        Number of messages up to the first unanswered call after which the conversation goes on, its message included;
        all messages if there is none. A provider refuses such a conversation.

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
            if not isinstance(call_id, str) or call_id not in open_calls:
                shown_id = repr(call_id)[:60]
                raise BrokenError("unknown-call", f"`{place}[{index}]` answers the call {shown_id}, which nobody made.")
            open_calls.discard(str(call_id))
        elif role != "function":
            if open_calls and sound == len(messages):
                sound = opened_at + 1
            open_calls = set()
            if role == "assistant":
                calls = message.get("tool_calls")
                listed = calls if isinstance(calls, list) else []  # what is none is reported where calls are read
                open_calls = {str(call.get("id")) for call in listed if isinstance(call, dict)}
                opened_at = index
    return sound


def as_sent(messages: Sequence[Message]) -> list[Message]:
    """The messages as they are sent to a model, without the keys that logs add."""
    return [
        {
            key: value
            for key, value in message.items()
            if key not in _NOT_SENT and (value is not None or key == "content")
        }
        for message in messages
    ]


def opening(messages: Sequence[Message]) -> dict[str, Any]:
    """The opening of a case: `query`, with or without `system`, if that is enough; else `messages`."""
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


def is_failure(message: Message) -> bool:
    """Whether the answer of a tool says that its call failed: by a mark of its API, or by how its text begins."""
    if message.get("is_error") is True or message.get("isError") is True:
        return True
    if message.get("status") == "error" or isinstance(message.get("error"), dict):
        return True
    text = content_text(message.get("content")).strip()
    if text.startswith("{"):
        try:
            data = parse_json(text, "").data
        except InvalidFileError:
            return False
        is_marked = data.get("isError") is True or data.get("is_error") is True or data.get("status") == "error"
        is_marked = is_marked or any(data.get(key) is False for key in ("ok", "success"))
        return is_marked or (
            data.keys() <= {"error", "errors", "code", "message", "details", "data"}
            and not data.get("data")
            and bool(data.get("error") or data.get("errors"))
        )
    return _FAILED.match(text) is not None


def without_failed(
    steps: Sequence[tuple[Call, ...]], answers: Iterable[Message], report: ImportReport
) -> list[tuple[Call, ...]]:
    """Steps without the calls that failed and whose tool a later step calls again.

    Args:
        steps: The calls of each message.
        answers: Messages with the answers of the tools.
        report: Receives how many were left out.
    """
    failed = {message.get("tool_call_id") for message in answers if message["role"] == "tool" and is_failure(message)}
    kept: list[tuple[Call, ...]] = []
    for number, step in enumerate(steps):
        later = {call.name for one in steps[number + 1 :] for call in one}
        kept.append(tuple(call for call in step if call.id not in failed or call.name not in later))
        for _ in range(len(step) - len(kept[-1])):
            report.note(MADE_AGAIN)
    return [step for step in kept if step]


def results_of(messages: Sequence[Message], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Answers of tools, in order, by the name in the call.

    Args:
        messages: Of one turn.
        names: Names in the calls, by the id of the call.
    """
    results: dict[str, list[str]] = {}
    for message in messages:
        if message["role"] == "tool":
            name = names.get(str(message.get("tool_call_id")))
        elif message["role"] == "function":
            name = message.get("name")
        else:
            continue
        if isinstance(name, str):
            results.setdefault(name, []).append(content_text(message.get("content")))
    return results
