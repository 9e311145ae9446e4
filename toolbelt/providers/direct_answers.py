"""Bodies of OpenAI's chat completions as the direct client reads them, with the repairs that litellm makes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolbelt.providers.reply_forms import is_failure

_THOUGHTS = re.compile(r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>", re.DOTALL)
WHOLE_CONTENT = "whole_content"
"""Field, of our own, of a message whose text began with the model's thoughts: that text."""
_UNFOLDED = "multi_tool_use.parallel"
"""A call of no tool, in which models of OpenAI's once wrapped several calls."""


class NotAnAnswer(ValueError):  # noqa: N818  what came, not a mistake of ours
    """A body that is no answer of this API."""


def read_body(body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

    Raises:
        NotAnAnswer: there is none; with the start of what came instead.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise NotAnAnswer(f"The answer is not JSON: {body[:1000].decode(errors='replace')}") from None
    if not isinstance(data, dict):
        raise NotAnAnswer("The answer is not a JSON object.")
    return data


def objects_in(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects in an answer.

    Raises:
        NotAnAnswer: it is none.
    """
    items = holder.get(name)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise NotAnAnswer(f"The answer's {name} is not a list of objects.")
    return items


def normalise(data: dict[str, Any]) -> dict[str, Any]:
    """An answer in OpenAI's own form, changed in place.

    Raises:
        NotAnAnswer: a part of it has the wrong form.
    """
    keep_one_text(data)
    choices = data.get("choices")
    if not isinstance(choices, list):
        raise NotAnAnswer("The answer has no choices.")
    usage = data.get("usage")
    if isinstance(usage, dict):
        _normalise_usage(usage)
    else:
        data["usage"] = {"prompt_tokens": 0, "completion_tokens": 0}
    if choices:
        if not isinstance(choices[0], dict):
            raise NotAnAnswer("The answer's first choice is not an object.")
        _normalise_choice(choices[0])
    return data


def keep_one_choice(data: dict[str, Any]) -> None:
    """Leave, in place, one choice: that with index 0, else the first. An error of the whole answer becomes its error.

    litellm numbers choices anew, and makes exceptions without their text of errors. A gateway keeps its provider's
    finish reason beside its own: one that means a failure counts.
    """
    choices = data.get("choices")
    choices = list(choices) if isinstance(choices, list | tuple) else []
    if has_error(data):
        first = choices[0] if choices and isinstance(choices[0], dict) else {"message": {"role": "assistant"}}
        data["choices"] = [{**first, "error": data["error"]}]
        data["error"] = None
    elif len(choices) > 1:
        data["choices"] = [next((choice for choice in choices if _index(choice) == 0), choices[0])]
    for choice in data["choices"] if isinstance(data.get("choices"), list) else ():
        native = choice.get("native_finish_reason") if isinstance(choice, dict) else None
        if isinstance(native, str) and is_failure(native):
            choice["finish_reason"] = native


def keep_one_text(data: dict[str, Any]) -> None:
    """As `keep_one_choice`, and with a content that is text: litellm refuses the whole answer for another."""
    keep_one_choice(data)
    for choice in data["choices"] if isinstance(data.get("choices"), list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict) and not isinstance(message.get("content"), str | None):
            choice["message"] = {**message, "content": read_text(message["content"])}


def read_text(content: Any) -> str:
    """The text of a message: of its parts, as some providers send them; of anything else in JSON, that."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else None for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else "" if content is None else json.dumps(content, ensure_ascii=False)


def _index(choice: object) -> object:
    index = choice.get("index") if isinstance(choice, dict) else None
    return None if isinstance(index, bool) else index


def has_error(holder: dict[str, Any]) -> bool:
    """Whether an answer, or a choice of one, reports an error, whatever its status: gateways send these with 200."""
    error = holder.get("error")
    if isinstance(error, dict):
        return any(error.values()) or error.get("code") is not None
    return bool(error)


def _normalise_usage(usage: dict[str, Any]) -> None:
    for name in ("prompt_tokens", "completion_tokens"):
        if usage.get(name) is None:  # litellm counts what is left out as zero
            usage[name] = 0
    if isinstance(cached := usage.get("prompt_cache_hit_tokens"), int):
        usage.setdefault("cache_read_input_tokens", cached)


def _normalise_choice(choice: dict[str, Any]) -> None:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NotAnAnswer("The answer's message is not an object.")
    content = message.get("content")
    if isinstance(content, str) and "reasoning" not in message and "reasoning_content" not in message:
        thoughts = _THOUGHTS.match(content)
        if thoughts is not None:
            rest = content[thoughts.end() :]
            message |= {"content": rest, "reasoning_content": thoughts.group(), WHOLE_CONTENT: content}
    calls = message.get("tool_calls")
    if calls is not None:
        message["tool_calls"] = calls = _unfold(calls)
    reason = choice.get("finish_reason") or "stop"
    if not isinstance(reason, str):
        raise NotAnAnswer("The answer's finish reason is not a text.")
    choice["finish_reason"] = reason


def _unfold(calls: object) -> list[Any]:
    """The calls of an answer; those that are wrapped into one are taken out."""
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise NotAnAnswer("The answer's calls are not a list of objects.")
    unfolded: list[Any] = []
    for call in calls:
        function = call.get("function")
        if function is not None and not isinstance(function, dict):
            raise NotAnAnswer("The function of a call is not an object.")
        wrapped = function is not None and function.get("name") == _UNFOLDED
        unfolded += _wrapped_calls(call, function) if wrapped and function is not None else [call]
    return unfolded


def _wrapped_calls(call: dict[str, Any], function: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        uses = json.loads(function["arguments"])["tool_uses"]
        return [
            {
                "id": f"{call.get('id')}_{number}",
                "function": {
                    "name": use["recipient_name"].removeprefix("functions."),
                    "arguments": json.dumps(use["parameters"]),
                },
            }
            for number, use in enumerate(uses)
        ]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return [call]
