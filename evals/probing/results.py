"""What probing a model came to, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from toolbelt.evals.probing.checks import title_of


class CheckOutcome(StrEnum):
    """What became of a check."""

    WORKS = "works"
    PARTLY = "partly"
    """In another way than asked for, which an agent can live with: two calls one after the other, say."""
    FAILS = "fails"
    """It answered, and not as asked."""
    REFUSED = "refused"
    """The API, or the client that speaks to it, would not take the request."""
    TOO_LARGE = "too_large"
    """There is no room for it in the context window; not asked where that is known before."""
    SKIPPED = "skipped"
    """Not asked: what it rests on does not work."""
    UNKNOWN = "unknown"
    """No answer came: a time-out, a limit, a server that was down. Nothing is said of the model."""

    @property
    def is_usable(self) -> bool:
        """Whether an agent may rely on it."""
        return self in (CheckOutcome.WORKS, CheckOutcome.PARTLY)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of a probe that came to an end.

    Attributes:
        key: Of the check, see `toolbelt.evals.probing.checks`.
        outcome: What became of it.
        said: Why, in one sentence; may hold foreign text.
        requests: Requests made, retries not among them.
        retries: Requests asked again.
        definition_tokens: Of the tools offered, over all requests; own count.
        prompt_tokens: As reported, over all requests; `None` where the provider does not say.
        completion_tokens: Likewise.
        cached_read_tokens: Likewise.
        cached_write_tokens: Likewise.
        latency_seconds: Of all answered requests together.
        cost_usd: Retries included; `None` where the price is unknown.
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


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What probing one model came to.

    Attributes:
        probe: Its id, from the time it began.
        created: When that was, ISO 8601 in UTC.
        model: As the user named it.
        status: `running`, `finished`, `incomplete` or `interrupted`; `killed` where it was left running.
        reason: Why it is incomplete, in words; empty if it is not.
        api_base: Where the model was asked, without what may be secret in it; `None` for its provider's place.
        suite: Version of the checks: results of another one are not these.
        tokenizer: What the own counts are by.
        checks: Those that came to an end, in the order of the suite.
        planned: Keys of all checks that were to be made, in order.
        open_requests: Made for checks that did not come to an end, as a cap or a kill came first; retries among them.
        open_cost_usd: What those cost; `None` where a price is unknown.
        code: What it was made with: `toolbelt`, its version; in a git repository also `commit` and `changed`.
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
        """What became of a check; `None` if it was not made, or not yet."""
        return next((check.outcome for check in self.checks if check.key == key), None)


def keys_with(result: ProbeResult, *outcomes: CheckOutcome) -> tuple[str, ...]:
    """The checks that came to one of `outcomes`, in order."""
    return tuple(check.key for check in result.checks if check.outcome in outcomes)


def keys_left(result: ProbeResult) -> tuple[str, ...]:
    """The checks that were to be made and were not, in order."""
    ended = {check.key for check in result.checks}
    return tuple(key for key in result.planned if key not in ended)


def is_complete(result: ProbeResult) -> bool:
    """Whether every check was made and says something."""
    return result.status == "finished" and not keys_left(result) and not keys_with(result, CheckOutcome.UNKNOWN)


def is_answered(check: CheckResult) -> bool:
    """Whether a reply came to any of its requests."""
    if not check.requests:
        return False
    judged = (CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS)
    return check.outcome in judged or check.latency_seconds > 0 or check.prompt_tokens is not None


def reports_cache(result: ProbeResult) -> bool | None:
    """Whether the provider ever said how many tokens it read from its cache, 0 too; `None` if it answered nothing."""
    answered = [check for check in result.checks if is_answered(check)]
    return any(check.cached_read_tokens is not None for check in answered) if answered else None


def total_requests(result: ProbeResult) -> int:
    """All that were made: retries too, and those of checks that did not come to an end."""
    return sum(check.requests + check.retries for check in result.checks) + result.open_requests


def total_cost(result: ProbeResult) -> float | None:
    """USD, of all requests; `None` where the price of one is unknown."""
    return _sum((*(check.cost_usd for check in result.checks), result.open_cost_usd))


def total_tokens(check: CheckResult) -> int | None:
    """Of a check's prompts and answers, as reported; `None` where they were not, or nothing was asked."""
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
_CHECK_FIELDS = tuple(field.name for field in fields(CheckResult))
_FIELDS = tuple(field.name for field in fields(ProbeResult))


def probe_data(result: ProbeResult) -> dict[str, Any]:
    """A probe as plain values: what it holds, and what follows from that.

    `works` counts the checks that do, of `planned`; `outcomes` counts all by outcome. `cached_tokens_reported` is
    whether the provider ever said how much it read from its cache, `null` where it answered nothing. `requests` are
    all that were made, retries and those of checks that did not come to an end among them, and `cost_usd` is what they
    cost, `null` where a price is unknown.
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


def read(data: Mapping[str, Any]) -> ProbeResult:
    """The probe of which `probe_data` made plain values.

    Raises:
        KeyError: something is missing.
        ValueError: an outcome that there is none of.
    """
    checks = tuple(
        CheckResult(**{name: check[name] for name in _CHECK_FIELDS} | {"outcome": CheckOutcome(check["outcome"])})
        for check in data["checks"]
    )
    values = {name: data[name] for name in _FIELDS}
    return ProbeResult(**values | {"checks": checks, "planned": tuple(values["planned"]), "code": dict(values["code"])})
