"""The result of a probe, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from toolbelt.evals.probing.checks import title_of


class CheckOutcome(StrEnum):
    """The outcome of a check."""

    WORKS = "works"
    PARTLY = "partly"
    """It works in another way that an agent can use, such as two calls one after the other."""
    FAILS = "fails"
    """The model answered, but not as asked."""
    REFUSED = "refused"
    """The API, or its client, refused the request."""
    TOO_LARGE = "too_large"
    """The request fits neither the context window nor what the account may send at once; one known not to fit the
    window is not sent.
    """
    SKIPPED = "skipped"
    """Not asked, as something it depends on does not work."""
    TOOLS_NOT_SEEN = "tools_not_seen"
    """The server answered without having seen the tools. This shows nothing about the model."""
    UNKNOWN = "unknown"
    """No answer came (time-out, rate limit, server down). This shows nothing about the model."""

    @property
    def is_usable(self) -> bool:
        """Whether an agent can rely on the feature."""
        return self in (CheckOutcome.WORKS, CheckOutcome.PARTLY)

    @property
    def is_open(self) -> bool:
        """Whether the check shows nothing about the model, so that it is made again when the probe goes on."""
        return self in (CheckOutcome.TOOLS_NOT_SEEN, CheckOutcome.UNKNOWN)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check that ended.

    Attributes:
        key: Of the check, see `toolbelt.evals.probing.checks`.
        outcome: Its outcome.
        said: The reason, in one sentence; may hold foreign text.
        requests: Number of requests, without retries.
        retries: Number of retries.
        definition_tokens: Of the tools offered, over all requests, estimated.
        prompt_tokens: As reported, over all requests; `None` if the provider does not report them.
        completion_tokens: As reported, in the same way as the next two.
        cached_read_tokens: Prompt tokens read from a cache.
        cached_write_tokens: Prompt tokens written to a cache.
        latency_seconds: Of all answered requests together.
        cost_usd: With retries; `None` if the price is unknown.
        reasoning_tokens: Of the completion tokens, as reported.
    """

    key: str
    outcome: CheckOutcome
    said: str = ""
    requests: int = 0
    retries: int = 0
    definition_tokens: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None
    latency_seconds: float = 0.0
    cost_usd: float | None = 0.0
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of probing one model.

    Attributes:
        probe: Its id, from the time it began.
        created: Time of the start, ISO 8601 in UTC.
        model: As the user named it.
        status: `running`, `finished`, `incomplete` or `interrupted`; `killed` if its process ended while it ran.
        reason: Why it is incomplete, in words; empty if it is not.
        api_base: Address of the API, without secrets; `None` for the provider's own.
        suite: Version of the checks; results of different versions cannot be compared.
        tokenizer: Name of the tokenizer for estimates.
        checks: The checks that ended, in the order of the suite.
        planned: Keys of all planned checks, in order.
        open_requests: Number of requests, with retries, of checks that a cap or a kill stopped before their end.
        open_cost_usd: Cost of those; `None` if a price is unknown.
        code: Versions of the code: `toolbelt`; in a git repository also `commit` and `changed`. Also `effort`, where
            the model was asked for one.
    """

    probe: str
    created: str
    model: str
    status: str
    checks: tuple[CheckResult, ...]
    planned: tuple[str, ...]
    reason: str = ""
    api_base: str | None = None
    suite: int = 1
    tokenizer: str = ""
    open_requests: int = 0
    open_cost_usd: float | None = 0.0
    code: Mapping[str, str] = field(default_factory=dict)

    def outcome(self, key: str) -> CheckOutcome | None:
        """The outcome of a check; `None` if the check has not run."""
        return next((check.outcome for check in self.checks if check.key == key), None)


def keys_with(result: ProbeResult, *outcomes: CheckOutcome) -> tuple[str, ...]:
    """Keys of the checks with one of `outcomes`, in order."""
    return tuple(check.key for check in result.checks if check.outcome in outcomes)


def keys_left(result: ProbeResult) -> tuple[str, ...]:
    """Keys of the planned checks without a result, in order."""
    ended = {check.key for check in result.checks}
    return tuple(key for key in result.planned if key not in ended)


def is_complete(result: ProbeResult) -> bool:
    """Whether every check shows something about the model."""
    is_open = any(check.outcome.is_open for check in result.checks)
    return result.status == "finished" and not keys_left(result) and not is_open


def is_answered(check: CheckResult) -> bool:
    """Whether any of its requests got a reply."""
    if not check.requests:
        return False
    judged = (CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS)
    return check.outcome in judged or check.latency_seconds > 0 or check.prompt_tokens is not None


def reports_cache(result: ProbeResult) -> bool | None:
    """Whether the provider ever reported tokens read from its cache, even 0; `None` if it answered nothing."""
    answered = [check for check in result.checks if is_answered(check)]
    return any(check.cached_read_tokens is not None for check in answered) if answered else None


def total_requests(result: ProbeResult) -> int:
    """Number of all requests, with retries and those of checks that did not end."""
    return sum(check.requests + check.retries for check in result.checks) + result.open_requests


def total_cost(result: ProbeResult) -> float | None:
    """USD for all requests; `None` if the price of one is unknown."""
    return _sum((*(check.cost_usd for check in result.checks), result.open_cost_usd))


def total_tokens(check: CheckResult) -> int | None:
    """Reported tokens of a check's prompts and answers; `None` if none were reported or no request was made."""
    if check.prompt_tokens is None or check.completion_tokens is None or not check.requests:
        return None
    return check.prompt_tokens + check.completion_tokens


def _sum(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


SCHEMA = "toolbelt.probe/1"


def probe_data(result: ProbeResult) -> dict[str, Any]:
    """A probe as plain values: its attributes, and figures derived from them.

    `works` counts the planned checks that work; `outcomes` counts all checks by outcome. `cached_tokens_reported` says
    whether the provider ever reported how much it read from its cache; it is `null` if the provider answered nothing.
    `requests` counts all requests, with retries and those of checks that did not end. `cost_usd` is their cost, `null`
    if a price is unknown.
    """
    outcomes = [check.outcome for check in result.checks]
    return {
        "schema": SCHEMA,
        "probe": result.probe,
        "created": result.created,
        "model": result.model,
        "api_base": result.api_base,
        "status": result.status,
        "reason": result.reason,
        "suite": result.suite,
        "tokenizer": result.tokenizer,
        "code": dict(result.code),
        "planned": list(result.planned),
        "works": outcomes.count(CheckOutcome.WORKS),
        "outcomes": {outcome.value: outcomes.count(outcome) for outcome in CheckOutcome if outcome in outcomes},
        "cached_tokens_reported": reports_cache(result),
        "requests": total_requests(result),
        "cost_usd": total_cost(result),
        "open_requests": result.open_requests,
        "open_cost_usd": result.open_cost_usd,
        "checks": [_check_data(check) for check in result.checks],
    }


def _check_data(check: CheckResult) -> dict[str, Any]:
    data = asdict(check)
    return {"key": data.pop("key"), "title": title_of(check.key), **data, "outcome": check.outcome.value}
