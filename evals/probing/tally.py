"""What a check takes, and whether there is room for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from toolbelt.evals.conversation import Reply, Usage
from toolbelt.evals.offers import Offer
from toolbelt.evals.probing.probe import CheckOutcome, CheckResult
from toolbelt.evals.probing.steps import Answer
from toolbelt.evals.running.limits import ModelLimits
from toolbelt.evals.running.records import Attempts, plus_cost


@dataclass(eq=False)
class Tally:
    """Counts the requests of one check.

    Attributes:
        usages: As reported, of each that was answered, or turned away with a bill.
        requests: Made, retries not among them.
        attempts: Made, retries among them.
        definition_tokens: Of the tools offered, own count.
        latency_seconds: Of the answered ones.
        cost_usd: Retries included; `None` where a price is unknown.
    """

    usages: list[Usage] = field(default_factory=list)
    requests: int = 0
    attempts: int = 0
    definition_tokens: int = 0
    latency_seconds: float = 0.0
    cost_usd: float | None = 0.0

    def add(self, offer: Offer, answer: Answer, made: Attempts) -> None:
        """Count one request, with all attempts at it."""
        self.requests += 1
        self.attempts += made.attempts
        self.definition_tokens += offer.tokens
        self.cost_usd = plus_cost(self.cost_usd, made.cost_usd)
        if isinstance(answer, Reply):
            self.latency_seconds += answer.latency_seconds
            self.usages.append(answer.usage)
        elif answer.usage != Usage():
            self.usages.append(answer.usage)

    def result(self, key: str) -> CheckResult:
        """As a check's result whose outcome is still to come."""
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
        )

    def _total(self, figure: Callable[[Usage], int | None]) -> int | None:
        """Over all that were answered; a figure that one of them lacks is unknown, and nothing asked is nothing."""
        if not self.requests:
            return 0
        values = [figure(usage) for usage in self.usages]
        known = [value for value in values if value is not None]
        return sum(known) if values and len(known) == len(values) else None


def find_no_room(room: ModelLimits | None, tokens: int) -> str:
    """Why a prompt of so many tokens cannot be sent, as a sentence; empty if it can, or nobody knows."""
    if room is None or room.context_window is None or tokens + (room.output_reserve or 0) < room.context_window:
        return ""
    reserve = f" with {room.output_reserve:,} kept for the answer" if room.output_reserve else ""
    return f"Not asked: its prompt of {tokens:,} tokens leaves no room in a window of {room.context_window:,}{reserve}."
