"""Rows of the store, as values."""

from __future__ import annotations

from dataclasses import dataclass

from toolbelt.evals.conversation import Reply, Usage


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request that came to an end; see `toolbelt.evals.running.schema` for the columns.

    Attributes:
        trial: Number of the trial.
        request: 0-based within the trial.
        attempt: 0-based.
        tools: How many were offered.
        definition_tokens: Of those, own count.
        reply: What came; `None` if nothing usable did.
        failure: Why nothing did; `None` if something came.
        message: What the provider said to that.
        latency_seconds: Without time spent queueing here.
        cost_usd: `None` if unknown.
    """

    trial: int
    request: int
    attempt: int
    tools: int
    definition_tokens: int
    reply: Reply | None
    failure: str | None
    message: str
    latency_seconds: float
    cost_usd: float | None

    @property
    def usage(self) -> Usage:
        """As reported."""
        return Usage() if self.reply is None else self.reply.usage


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial that came to an end; its fields are the columns of the table, in their order."""

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
    arguments_checked: int
    arguments_right: int
    definition_tokens: int
    definition_tokens_total: int
    own_prompt_tokens: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_read_tokens: int | None
    cached_write_tokens: int | None
    requests: int
    retries: int
    latency_seconds: float
    cost_usd: float | None
