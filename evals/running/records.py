"""Rows of the store, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.cases.case import Answer, Case, ExpectedCall, Matching
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Usage


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request that came to an end; see `toolbelt.evals.running.schema` for the columns.

    Attributes:
        trial: Number of the trial.
        request: 0-based within the trial.
        attempt: 0-based.
        offer: What was offered.
        reply: What came; `None` if nothing usable did.
        usage: Tokens as reported.
        failure: Why nothing did; `None` if something came.
        message: What the provider said to that.
        latency_seconds: Without time spent queueing here.
        cost_usd: `None` if unknown.
    """

    trial: int
    request: int
    attempt: int
    offer: Offer
    reply: Reply | None
    usage: Usage
    failure: str | None
    message: str
    latency_seconds: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Attempts:
    """What is known of a request from the attempts made so far, in this session or an earlier one.

    Attributes:
        attempts: How often it was asked.
        cost_usd: What that cost; `None` where a price is unknown.
        reply: What came; `None` if nothing usable did.
    """

    attempts: int = 0
    cost_usd: float | None = 0.0
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial that came to an end; its fields are the columns of the table, in their order.

    `called`, `missing` and `surplus` are lists as `format_names` writes them.
    """

    trial: int
    arm: int
    epoch: int
    case_id: str
    cluster: str
    kind: str
    finished: str
    outcome: str
    reason: str
    ending: str
    expects_nothing: bool
    covered: bool
    surfaced: bool
    would_dispatch: bool
    selections: int
    hits: int | None
    made: int | None
    wanted: int | None
    called: str
    missing: str
    surplus: str
    arguments_checked: int
    arguments_right: int
    definition_tokens: int
    definition_tokens_total: int
    own_prompt_tokens: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_read_tokens: int | None
    cached_write_tokens: int | None
    invalidated_tokens: int | None
    repeated_tokens: int | None
    requests: int
    retries: int
    latency_seconds: float
    cost_usd: float | None


def plus_cost(a: float | None, b: float | None) -> float | None:
    """A sum of which an unknown part makes the whole unknown."""
    return None if a is None or b is None else a + b


def format_names(names: Sequence[str]) -> str:
    """A list for the store; in ASCII, so that a name that is no UTF-8 can be kept."""
    return json.dumps(names) if names else "[]"


def parse_names(text: str) -> list[str]:
    """A list from the store."""
    return [str(name) for name in json.loads(text)]


def format_reply(reply: Reply) -> str:
    """A reply as JSON; its usage and latency are kept in columns of their own."""
    data: dict[str, Any] = {"calls": [[call.id, call.name, call.text] for call in reply.calls]}
    for key in ("text", "finish_reason", "served_by"):
        if value := getattr(reply, key):
            data[key] = value
    return json.dumps(data)  # ASCII, so that half a surrogate pair, which models do write, can be kept


def parse_reply(text: str, usage: Usage, latency_seconds: float) -> Reply:
    """As `format_reply` wrote it."""
    data = json.loads(text)
    return Reply(
        text=data.get("text", ""),
        calls=tuple(ToolUse.from_text(*call) for call in data["calls"]),
        usage=usage,
        finish_reason=data.get("finish_reason", ""),
        served_by=data.get("served_by", ""),
        latency_seconds=latency_seconds,
    )


def fold_attempts(rows: Iterable[Sequence[Any]]) -> dict[int, Attempts]:
    """What is known of requests from all attempts at them, by their number.

    Args:
        rows: `request`, `reply`, the fields of `Usage`, `latency_seconds` and `cost_usd` of each attempt, those at a
            request in order; the tables of runs and of probes have the same.
    """
    found: dict[int, Attempts] = {}
    for number, text, *usage, latency, cost in rows:
        before = found.get(number, Attempts())
        reply = None if text is None else parse_reply(text, Usage(*usage), latency)
        found[number] = Attempts(before.attempts + 1, plus_cost(before.cost_usd, cost), reply)
    return found


def format_case(case: Case) -> str:
    """What was asked and what was right, as JSON."""
    data: dict[str, Any] = {"messages": case.messages}
    data["answers"] = None if case.expected is None else [_answer(answer) for answer in case.answers]
    if case.match is not Matching.EXACT:
        data["match"] = case.match.value
    for key in ("forbidden", "allowed_extra"):
        if tools := getattr(case, key):
            data[key] = sorted(tools)
    if case.role is not None:
        data["role"] = case.role
    return json.dumps(data)  # ASCII, so that half a surrogate pair can be kept


def parse_case(text: str) -> dict[str, Any]:
    """As `format_case` wrote it, plain values."""
    data: dict[str, Any] = json.loads(text)
    return data


def _answer(answer: Answer) -> list[dict[str, Any]]:
    return [_call(call) for call in answer]


def _call(call: ExpectedCall) -> dict[str, Any]:
    made: dict[str, Any] = {"tools": call.tools}
    if call.arguments is not None:
        made["args"] = call.arguments.accepted
        if call.arguments.optional:
            made["optional"] = sorted(call.arguments.optional)
    return made
