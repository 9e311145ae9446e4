"""Messages of other APIs in the form of OpenAI's chat completions, so that no call in them passes as text.

- Anthropic: the parts `tool_use` and `tool_result` of a content, pictures with a `source`;
- the Responses API: items without a role, `function_call` and `function_call_output`;
- Inspect AI: calls whose `function` is a name and whose `arguments` are an object, pictures of the type `image`;
- calls of OpenAI's custom tools, which take one text: a call with the one argument `input`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.evals.cases.imports.ledger import BrokenError, UnmappedError
from toolbelt.evals.cases.texts import text_of

Message = dict[str, Any]
CUSTOM_ARGUMENT = "input"
"""The argument of a custom tool, which takes one text."""
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
    """The same messages in OpenAI's form; what is none is left as it is, for others to refuse.

    Raises:
        UnmappedError: a part or an item of a kind that is not known, which may be a call.
        BrokenError: a call without a name.
    """
    made: list[Any] = []
    joins = False  # Items of one answer stand side by side.
    for message in messages:
        is_call = isinstance(message, dict) and "role" not in message and "type" in message
        converted = _item(message) if is_call else list(_message(message)) if isinstance(message, dict) else [message]
        for one in converted:
            if is_call and joins and one["role"] == "assistant" and made:
                made[-1] = {**made[-1], "tool_calls": [*made[-1].get("tool_calls", []), *one["tool_calls"]]}
            else:
                made.append(one)
            joins = isinstance(one, dict) and one.get("role") == "assistant" and (is_call or "type" in message)
    return made


def _item(item: Message) -> list[Message]:
    kind = item["type"]
    if kind in _CALLS:
        given = item.get("arguments", item.get("input"))
        arguments = {CUSTOM_ARGUMENT: given} if kind == "custom_tool_call" else given
        call_id = item.get("call_id", item.get("id"))
        return [{"role": "assistant", "content": None, "tool_calls": [_call(call_id, item.get("name"), arguments)]}]
    if kind in _ANSWERS:
        return [{"role": "tool", "tool_call_id": item.get("call_id"), "content": _answer(item.get("output"))}]
    if kind == "reasoning":
        return []
    raise UnmappedError(STRANGE_ITEM, str(kind)[:60])


def _message(message: Message) -> Iterator[Message]:
    content = message.get("content")
    inspects = isinstance(message.get("function"), str)
    made = {key: value for key, value in message.items() if not (inspects and key in _INSPECT_KEYS)}
    if made.get("type") == "message":
        made = {key: value for key, value in made.items() if key in ("role", "content")}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        made["tool_calls"] = [_converted_call(call) for call in calls]
    if not isinstance(content, list):
        yield made
        return
    kept, used = [], []
    for part in content:
        match part.get("type") if isinstance(part, dict) else None:
            case "tool_use" if message.get("role") == "assistant":
                used.append(_call(part.get("id"), part.get("name"), part.get("input")))
            case "tool_result" if message.get("role") == "user":
                answer = _answer(part.get("content"))
                yield {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": answer}
            case _:
                kept += _part(part)
    if used:
        yield {**made, "content": text_of(kept) or None, "tool_calls": [*made.get("tool_calls", []), *used]}
    elif kept or not any(isinstance(part, dict) and part.get("type") == "tool_result" for part in content):
        yield {**made, "content": kept}


def _part(part: Any) -> list[Any]:
    """A part in OpenAI's form; nothing where it is a thought, which is no part of what is said."""
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
    """A call in OpenAI's form; what is of no known form is left as it is."""
    if not isinstance(call, dict):
        return call
    function, custom = call.get("function"), call.get("custom")
    if isinstance(function, str):  # Inspect AI
        return _call(call.get("id"), function, call.get("arguments"))
    if call.get("type") == "custom" and isinstance(custom, dict):
        return _call(call.get("id"), custom.get("name"), {CUSTOM_ARGUMENT: custom.get("input", "")})
    if isinstance(function, dict) and not isinstance(function.get("arguments"), str):
        arguments = function.get("arguments")
        if arguments is None or isinstance(arguments, dict):
            return {**call, "function": {**function, "arguments": json.dumps(arguments or {}, ensure_ascii=False)}}
    return call


def _call(call_id: Any, name: Any, arguments: Any) -> Message:
    if not isinstance(name, str) or not name.strip():
        raise BrokenError("wrong-type", "A call in a message names no tool.")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def _answer(value: Any) -> str:
    """What a tool answered, as text."""
    return text_of(value) if isinstance(value, str | list) else "" if value is None else json.dumps(value)
