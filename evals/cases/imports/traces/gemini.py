"""Logs of Gemini's `generateContent`: requests with responses, as the client's models, batches and Vertex have them.

`contents`, `tools` and `systemInstruction` are in the record itself, in its `request` or in the client's `config`; keys
are spelled as in JSON or as in Python. Calls without an id get one, and are answered in order of their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolbelt.evals.cases.imports.messages import Message, openai_call
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange, unpacked
from toolbelt.evals.cases.imports.traces.conversations import Attempt, as_text, attempt

_UNDERSCORE = re.compile(r"_([a-z])")


def recognises(data: Any) -> bool:
    """Whether a value is a request with `contents`, alone or with its response."""
    contents = _request(data).get("contents") if isinstance(data, Mapping) else None
    return isinstance(contents, list) and any(isinstance(each, Mapping) and "parts" in each for each in contents)


def read(values: Sequence[Any]) -> Iterator[Attempt]:
    """Each request with its response."""
    for value in values:
        if recognises(value):
            yield attempt(partial(_exchange, value))


def _exchange(value: Mapping[str, Any]) -> LoggedExchange:
    request = _request(value)
    config = {**request, **_camel(request.get("config") or {})}
    system = config.get("systemInstruction")
    contents = [{"role": "system", **_content(system)}] if system else []
    contents += [_content(each) for each in request["contents"]]
    response = _camel(unpacked(value.get("response") or value.get("output") or {}))
    candidates = response.get("candidates") or []
    contents += [_content(each.get("content") or {}) for each in candidates[:1]]
    identity = str(value.get("key") or response.get("responseId") or "")
    return LoggedExchange(list(_messages(contents)), None, _tools(config.get("tools")), id=identity)


def _request(data: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = unpacked(data.get("request"))
    return _camel(inner if isinstance(inner, Mapping) else data)


def _camel(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same with keys as in JSON: `functionCall`, not `function_call`."""
    return {_UNDERSCORE.sub(lambda match: match[1].upper(), str(key)): value for key, value in fields.items()}


def _content(value: Any) -> dict[str, Any]:
    return {"parts": [{"text": value}]} if isinstance(value, str) else dict(value)


def _messages(contents: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    open_calls: dict[str, list[str]] = {}
    for number, content in enumerate(contents):
        parts = [_camel(part) for part in content.get("parts") or () if not part.get("thought")]
        calls = []
        for index, part in enumerate(parts):
            if call := part.get("functionCall"):
                calls.append(openai_call(call.get("id") or f"call-{number}-{index}", call["name"], call.get("args")))
                open_calls.setdefault(call["name"], []).append(calls[-1]["id"])
            elif answer := part.get("functionResponse"):
                waiting = open_calls.get(answer["name"]) or [""]
                call_id = answer.get("id") or waiting[0]
                open_calls[answer["name"]] = [each for each in waiting if each != call_id]
                response = _camel(answer.get("response") or {})
                said = response.get("output", response.get("result", response))
                yield {"role": "tool", "tool_call_id": call_id, "content": as_text(said)}
        text = "\n".join(part["text"] for part in parts if part.get("text"))
        role = {"model": "assistant", "system": "system"}.get(str(content.get("role")), "user")
        if text or calls:
            yield {"role": role, "content": text} | ({"tool_calls": calls} if calls else {})


def _tools(tools: Any) -> list[Any] | None:
    declared = [_camel(each) for tool in tools or () for each in _camel(tool).get("functionDeclarations") or ()]
    return [
        {**each, "parameters": each.get("parametersJsonSchema") or _lowered(each.get("parameters") or {})}
        for each in declared
    ] or None


def _lowered(schema: Any) -> Any:
    """A schema with types as JSON Schema has them: `object`, not `OBJECT`."""
    if isinstance(schema, list):
        return [_lowered(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: item.lower() if key == "type" and isinstance(item, str) else _lowered(item) for key, item in schema.items()
    }
