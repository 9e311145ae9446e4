"""Rows of the store, as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.evals.conversation import Reply
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


def format_names(names: Sequence[str]) -> str:
    """A list for the store; in ASCII, so that a name that is no UTF-8 can be kept."""
    return json.dumps(names) if names else "[]"


def parse_names(text: str) -> list[str]:
    """A list from the store."""
    return [str(name) for name in json.loads(text)]
