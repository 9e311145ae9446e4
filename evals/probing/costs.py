"""Requests, tokens and USD of a probe: estimated before the first request, counted afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Model
from toolbelt.evals.offers import Offer
from toolbelt.evals.probing.check_scripts import make_scripts
from toolbelt.evals.probing.checks import EVERY
from toolbelt.evals.probing.probe_tools import ProbeTools
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.probing.script import CheckRequest, ReplyOrError
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.running.records import Attempts, plus_cost
from toolbelt.providers.chat import Usage

TOKENS_OF_AN_ANSWER = 150
"""A rough number: a call or a sentence takes about 30; a model that thinks first takes hundreds or thousands."""


@dataclass(frozen=True, slots=True)
class ProbeEstimate:
    """The estimate of a probe in which all goes well; otherwise it takes one or two requests more, and retries.

    Attributes:
        requests: Expected number.
        prompt_tokens: Over all requests, definitions included, estimated.
        completion_tokens: Over all requests, at `TOKENS_OF_AN_ANSWER` each.
        cost_usd: `None` if the price is unknown.
        by_check: The prompt tokens of each check, by key.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    by_check: Mapping[str, int]


def estimate_probe(
    model: Model,
    counter: TokenCounter,
    form: str = "openai",
    limits: ModelLimits | None = None,
    checks: Iterable[str] = EVERY,
) -> ProbeEstimate:
    """Estimate the requests, tokens and cost of checks, without asking the model.

    Args:
        model: Gives the price.
        counter: The model's own tokenizer, if it is known.
        form: Format of the counted definitions, a key of `DEFINITION_FORMATS`.
        limits: Limits of the model's window; requests that do not fit are not sent. `None` if they are unknown.
        checks: Keys of the checks that are still to run.
    """
    tools = ProbeTools(counter, form)
    scripts = make_scripts(tools)
    requests = 0
    by_check: dict[str, int] = {}
    for key in checks:
        by_check[key] = 0
        for number in range(len(scripts[key].ideal_replies)):
            request = scripts[key].next_step(scripts[key].ideal_replies[:number])
            assert isinstance(request, CheckRequest)  # noqa: S101  the ideal answers are as many as the requests
            tokens = request.offer.tokens + tools.count(request.messages)
            if limits is not None and not limits.has_room(tokens):
                break
            requests += 1
            by_check[key] += tokens
    prompt, completion = sum(by_check.values()), requests * TOKENS_OF_AN_ANSWER
    cost_usd = model.cost_usd(Usage(prompt, completion))
    return ProbeEstimate(requests, prompt, completion, cost_usd, MappingProxyType(by_check))


@dataclass(eq=False)
class Tally:
    """Counts the requests of one check.

    Attributes:
        usages: Reported usage of each request that was answered, or refused and still charged.
        requests: Number of requests, without retries.
        attempts: Number of requests, with retries.
        definition_tokens: Tokens of the tools offered, estimated.
        latency_seconds: Of the answered requests.
        cost_usd: With retries; `None` if a price is unknown.
    """

    usages: list[Usage] = field(default_factory=list)
    requests: int = 0
    attempts: int = 0
    definition_tokens: int = 0
    latency_seconds: float = 0.0
    cost_usd: float | None = 0.0

    def add(self, offer: Offer, answer: ReplyOrError, attempts: Attempts) -> None:
        """Count one request with all its attempts."""
        self.requests += 1
        self.attempts += attempts.attempts
        self.definition_tokens += offer.tokens
        self.cost_usd = plus_cost(self.cost_usd, attempts.cost_usd)
        if isinstance(answer, Reply):
            self.latency_seconds += answer.latency_seconds
            self.usages.append(answer.usage)
        elif answer.usage != Usage():
            self.usages.append(answer.usage)

    def result(self, key: str) -> CheckResult:
        """The check's result with all counts; the caller sets the outcome."""
        return CheckResult(
            key,
            CheckOutcome.UNKNOWN,
            requests=self.requests,
            retries=self.attempts - self.requests,
            definition_tokens=self.definition_tokens,
            prompt_tokens=self._total(lambda usage: usage.prompt_tokens),
            completion_tokens=self._total(lambda usage: usage.completion_tokens),
            cached_read_tokens=self._total(lambda usage: usage.cached_read_tokens),
            cached_write_tokens=self._total(lambda usage: usage.cached_write_tokens),
            latency_seconds=self.latency_seconds,
            cost_usd=self.cost_usd,
            reasoning_tokens=self._total(lambda usage: usage.reasoning_tokens),
        )

    def _total(self, figure: Callable[[Usage], int | None]) -> int | None:
        """Sum over all answered requests; `None` if one of them lacks the figure, 0 if no request was made."""
        if not self.requests:
            return 0
        values = [figure(usage) for usage in self.usages]
        known = [value for value in values if value is not None]
        return sum(known) if values and len(known) == len(values) else None
