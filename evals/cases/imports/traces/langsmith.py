"""Runs exported from LangSmith (`list_runs` as JSON, its bulk export), of which those of models have the conversations.

A run's messages are LangChain's, or OpenAI's where its client was wrapped. Runs of tools tell which calls failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolbelt.evals.cases.imports.import_report import UnmappedError
from toolbelt.evals.cases.imports.messages import Message
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange, read_answer, unpacked
from toolbelt.evals.cases.imports.traces import langchain
from toolbelt.evals.cases.imports.traces.conversations import Attempt, attempt

NO_RESPONSE = "there is no response, or it is an error"


def recognises(data: Any) -> bool:
    """Whether a value is a run."""
    return isinstance(data, Mapping) and "run_type" in data and "inputs" in data


def read(values: Sequence[Any]) -> Iterator[Attempt]:
    """The requests of models in order of time, each with its response."""
    runs = sorted(filter(recognises, values), key=lambda run: str(run.get("start_time")))
    for run in runs:
        if run["run_type"] == "llm":
            yield attempt(partial(_exchange, run))


def _exchange(run: Mapping[str, Any]) -> LoggedExchange:
    inputs, outputs = unpacked(run["inputs"]) or {}, unpacked(run.get("outputs"))
    if run.get("error") or not outputs:
        raise UnmappedError(NO_RESPONSE, str(run.get("id", "")))
    messages = _messages(inputs.get("messages") or inputs.get("input"))
    identity = str(_metadata(run).get("thread_id") or run.get("trace_id") or run.get("id") or "")
    return LoggedExchange(messages, _answer(outputs), _tools(run, inputs), id=identity)


def _metadata(run: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (unpacked(run.get("extra")) or {}).get("metadata")
    return found if isinstance(found, Mapping) else {}


def _messages(value: Any) -> list[Message]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        [value] = value  # a batch of one
    found = value if isinstance(value, list) else []
    return langchain.read_messages(found) or found


def _answer(outputs: Mapping[str, Any]) -> list[Message]:
    generations = outputs.get("generations")
    if isinstance(generations, list) and generations:
        first = generations[0][0] if isinstance(generations[0], list) else generations[0]
        return langchain.read_messages([first["message"]])
    return read_answer(outputs)


def _tools(run: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Any] | None:
    parameters = (unpacked(run.get("extra")) or {}).get("invocation_params") or {}
    found = parameters.get("tools") or inputs.get("tools") or (inputs.get("kwargs") or {}).get("tools")
    return found if isinstance(found, list) else None
