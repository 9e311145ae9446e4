"""What probing a model came to, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


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
        return next((one.outcome for one in self.checks if one.key == key), None)
