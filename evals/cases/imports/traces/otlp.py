"""Traces in OTLP JSON (files of the collector, a batch a line) with the semantic conventions for generative AI.

Of each span of a model's request, messages and tools are read from where its instrumentation puts them:

- `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions`, `gen_ai.tool.definitions`: the
  present conventions, as attributes of the span, of its event or of a log record;
- events `gen_ai.user.message`, `gen_ai.choice` and their like, of spans or as log records: the conventions of 2024/25;
- `gen_ai.prompt.0.content`, `gen_ai.completion.0.tool_calls.0.name`, `llm.request.functions.0.name`: OpenLLMetry's.

Spans of `execute_tool` tell which calls failed, and what tools answered where no later request repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from toolbelt.evals.cases.imports.messages import Message, openai_call
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange, unpacked
from toolbelt.evals.cases.imports.traces.conversations import Attempt, as_text, attempt, part_text

_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool|choice)(?:\.message)?")
_NUMBERED = re.compile(r"(gen_ai\.(?:prompt|completion)|llm\.request\.functions)\.(\d.*)")
_CALL_ID = "gen_ai.tool.call.id"
_FAILED = 2
"""The code of a span's status that says so."""


@dataclass
class _Span:
    attributes: dict[str, Any]
    start: int = 0
    is_failed: bool = False
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def recognises(data: Any) -> bool:
    """Whether a value is a batch of spans or of log records."""
    return isinstance(data, Mapping) and bool({"resourceSpans", "resourceLogs", "resource_spans"} & data.keys())


def read(values: Sequence[Any]) -> Iterator[Attempt]:
    """The requests of each trace, in order of time; what tools answered after the last one is added to it."""
    traces: dict[str, dict[str, _Span]] = {}
    for value in values:
        if recognises(value):
            _collect(value, traces)
    every = [span for spans in traces.values() for span in spans.values()]
    by_call = {str(span.attributes[_CALL_ID]): span for span in every if _CALL_ID in span.attributes}
    for trace_id, spans in traces.items():
        for span in sorted(spans.values(), key=lambda span: span.start):
            yield attempt(partial(_exchange, span, trace_id, by_call))


def _exchange(span: _Span, trace_id: str, by_call: Mapping[str, _Span]) -> LoggedExchange:
    """The request of a span with its response; without messages for a span that is none."""
    messages = _messages(span)
    if all(message["role"] != "assistant" for message in messages):
        messages = []
    conversation = str(span.attributes.get("gen_ai.conversation.id") or trace_id)
    return LoggedExchange(_executed(messages, by_call), None, _tools(span), id=conversation)


def _collect(batch: Mapping[str, Any], traces: dict[str, dict[str, _Span]]) -> None:
    for resource in batch.get("resourceSpans") or batch.get("resource_spans") or ():
        for span in _records(resource, "Spans", "spans"):
            found = _find(traces, span)
            found.attributes |= _attributes(span)
            found.start = int(span.get("startTimeUnixNano") or 0)
            found.is_failed = (span.get("status") or {}).get("code") in (_FAILED, "STATUS_CODE_ERROR")
            found.events += [(str(event.get("name")), _attributes(event)) for event in span.get("events") or ()]
    for resource in batch.get("resourceLogs") or ():
        for log in _records(resource, "Logs", "logRecords"):
            attributes = _attributes(log)
            body = _value(log.get("body") or {})
            name = str(log.get("eventName") or attributes.get("event.name") or "")
            _find(traces, log).events.append((name, attributes | (body if isinstance(body, dict) else {})))


def _records(resource: Mapping[str, Any], scopes: str, key: str) -> Iterator[Mapping[str, Any]]:
    for scope in resource.get(f"scope{scopes}") or resource.get(f"scope_{scopes.lower()}") or ():
        yield from scope.get(key) or ()


def _find(traces: dict[str, dict[str, _Span]], record: Mapping[str, Any]) -> _Span:
    span_id = str(record.get("spanId") or id(record))
    return traces.setdefault(str(record.get("traceId") or ""), {}).setdefault(span_id, _Span({}))


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    return {each["key"]: _value(each.get("value") or {}) for each in record.get("attributes") or ()}


def _value(value: Mapping[str, Any]) -> Any:
    first: tuple[str, Any] = next(iter(value.items()), ("", None))
    kind, item = first
    if kind in ("arrayValue", "array_value"):
        return [_value(each) for each in item.get("values") or ()]
    if kind in ("kvlistValue", "kvlist_value"):
        return {each["key"]: _value(each.get("value") or {}) for each in item.get("values") or ()}
    return item


def _messages(span: _Span) -> list[Message]:
    """The messages of a request with its response; empty for a span that is none."""
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    spans_own = next((source for source in sources if "gen_ai.output.messages" in source), None)
    if spans_own is not None:
        keys = ("gen_ai.input.messages", "gen_ai.output.messages")
        written = [message for key in keys for message in unpacked(spans_own.get(key)) or ()]
        messages = list(chain.from_iterable(map(_of_parts, written)))
        system = part_text(unpacked(spans_own.get("gen_ai.system_instructions")))
        return [{"role": "system", "content": system}, *messages] if system else messages
    numbered = _numbered(span.attributes)
    if "gen_ai.completion" in numbered:
        flat = [*numbered.get("gen_ai.prompt", {}).values(), *numbered["gen_ai.completion"].values()]
        return [_flat(message) for message in flat]
    return [
        _flat(attributes | {"role": "assistant" if match[1] == "choice" else match[1]})
        for name, attributes in span.events
        if (match := _EVENT.fullmatch(name))
    ]


def _of_parts(message: Mapping[str, Any]) -> Iterator[Message]:
    """A message of the present conventions: `{"role", "parts": […]}`; a tool's answers are messages of their own."""
    parts = message.get("parts") or []
    kinds = [part.get("type") for part in parts]
    for part in parts:
        if part.get("type") == "tool_call_response":
            answer = part.get("response", part.get("result"))
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": as_text(answer)}
    calls = [
        openai_call(part.get("id"), part.get("name"), part.get("arguments"))
        for part in parts
        if part.get("type") == "tool_call"
    ]
    if calls or "tool_call_response" not in kinds or "text" in kinds:
        role = "user" if message.get("role") == "tool" else message.get("role")
        yield {"role": role, "content": part_text(parts)} | ({"tool_calls": calls} if calls else {})


def _flat(fields: Mapping[str, Any]) -> Message:
    """A message of an event, or of numbered attributes; the body of an event may be JSON of its fields."""
    inner = unpacked(fields.get("gen_ai.event.content") or fields.get("message")) or {}
    fields = {**fields, **(inner if isinstance(inner, Mapping) else {})}
    content = unpacked(fields.get("content"))
    text = part_text(content) if isinstance(content, str | list) else as_text(content)
    if fields["role"] == "tool":
        return {"role": "tool", "tool_call_id": fields.get("id", fields.get("tool_call_id")), "content": text}
    calls = unpacked(fields.get("tool_calls")) or []
    calls = list(calls.values()) if isinstance(calls, dict) else calls
    flat = [{**call, **(call.get("function") or {})} for call in calls]
    made = [openai_call(call.get("id"), call.get("name"), call.get("arguments")) for call in flat]
    return {"role": fields["role"], "content": text} | ({"tool_calls": made} if made else {})


def _numbered(attributes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Attributes such as `gen_ai.prompt.0.tool_calls.0.name` as nested objects, by their beginning."""
    found: dict[str, Any] = {}
    for key, value in attributes.items():
        if match := _NUMBERED.fullmatch(key):
            place = found.setdefault(match[1], {})
            *path, last = match[2].split(".")
            for step in path:
                place = place.setdefault(step, {})
            place[last] = value
    return found


def _tools(span: _Span) -> list[Any] | None:
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    for key in ("gen_ai.tool.definitions", "gen_ai.request.tools"):
        for source in sources:
            written = unpacked(source.get(key))
            if isinstance(written, list):
                return [unpacked(tool) for tool in written]
    functions = _numbered(span.attributes).get("llm.request.functions", {})
    return [{**tool, "parameters": unpacked(tool.get("parameters"))} for tool in functions.values()] or None


def _executed(messages: list[Message], spans: Mapping[str, _Span]) -> list[Message]:
    """The messages, with what the spans of their calls tell."""
    result: list[Message] = []
    answered = {str(message.get("tool_call_id")) for message in messages if message["role"] == "tool"}
    for message in messages:
        failed = message["role"] == "tool" and _is_failed(spans.get(str(message.get("tool_call_id"))))
        result.append({**message, "is_error": True} if failed else message)
        for call in message.get("tool_calls") or ():
            span = spans.get(str(call["id"]))
            if span is not None and str(call["id"]) not in answered:
                content = as_text(span.attributes.get("gen_ai.tool.call.result"))
                answer = {"role": "tool", "tool_call_id": call["id"], "content": content}
                result.append(answer | ({"is_error": True} if _is_failed(span) else {}))
    return result


def _is_failed(span: _Span | None) -> bool:
    return span is not None and (span.is_failed or "error.type" in span.attributes)
