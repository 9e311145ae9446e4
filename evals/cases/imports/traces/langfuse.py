"""Observations and traces exported from Langfuse (its JSON and JSON Lines, its API), of which generations are read.

The `input` of a generation is a list of messages, or a request with `messages` and `tools`; both it and the `output`
may be JSON in a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolbelt.evals.cases.imports.import_report import UnmappedError
from toolbelt.evals.cases.imports.messages import Message
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange, read_answer, unpacked
from toolbelt.evals.cases.imports.traces.conversations import Attempt, attempt

NO_MESSAGES = "a request whose input has no messages"
NO_RESPONSE = "there is no response, or it is an error"


def recognises(data: Any) -> bool:
    """Whether a value is an observation, or a trace with its observations."""
    if not isinstance(data, Mapping):
        return False
    is_one = bool({"traceId", "trace_id"} & data.keys()) and "type" in data and ("input" in data or "output" in data)
    return is_one or any(map(recognises, _listed(data)))


def read(values: Sequence[Any]) -> Iterator[Attempt]:
    """The generations in order of time, each a request with its response."""
    found = [one for value in values if isinstance(value, Mapping) for one in _listed(value) or [value]]
    ones = [one for one in found if isinstance(one, Mapping) and str(one.get("type", "")).upper() == "GENERATION"]
    for one in sorted(ones, key=lambda each: str(each.get("startTime") or each.get("start_time") or "")):
        yield attempt(partial(_exchange, one))


def _listed(data: Mapping[str, Any]) -> list[Any]:
    """The observations of a trace, or of an answer of the API."""
    found = data.get("observations", data.get("data"))
    return found if isinstance(found, list) else []


def _exchange(one: Mapping[str, Any]) -> LoggedExchange:
    request, output = unpacked(one.get("input")), unpacked(one.get("output"))
    messages = request.get("messages") if isinstance(request, Mapping) else request
    if isinstance(messages, str) and messages.strip():
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, list):
        raise UnmappedError(NO_MESSAGES, str(one.get("id", "")))
    if output is None or str(one.get("level", "")).upper() == "ERROR":
        raise UnmappedError(NO_RESPONSE, str(one.get("id", "")))
    place = str(one.get("sessionId") or one.get("traceId") or one.get("trace_id") or "")
    return LoggedExchange(messages, _answer(output), _tools(request, one), id=place)


def _answer(output: Any) -> list[Message]:
    if isinstance(output, Mapping) and "role" in output:
        return [{**output, "role": "assistant"}]
    return read_answer(output)


def _tools(request: Any, observation: Mapping[str, Any]) -> list[Any] | None:
    for place in (request, observation.get("modelParameters"), observation.get("metadata")):
        fields = unpacked(place)
        tools = unpacked(fields.get("tools")) if isinstance(fields, Mapping) else None
        if isinstance(tools, list):
            return tools
    return None
