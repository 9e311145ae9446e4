"""Asking a model: attempts, waits and caps (rules E6 and E8)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer
from toolbelt.evals.running.client import Budget, CapReached, RetryingClient, RetryPolicy, Unanswered
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.records import Attempts, RequestRecord
from toolbelt.providers.chat import Failure, ModelError, Usage

FINE = Reply("fine", usage=Usage(10, 5), latency_seconds=0.5)
RATE_LIMIT = ModelError(Failure.RATE_LIMIT, "slow down", latency_seconds=0.1)
TOLD_TO_WAIT = ModelError(Failure.RATE_LIMIT, "slow down", retry_after_seconds=7.0)
TOLD_TO_WAIT_LONG = ModelError(Failure.RATE_LIMIT, "tomorrow", retry_after_seconds=86_400.0)
UNAVAILABLE = ModelError(Failure.UNAVAILABLE, "503")
TOO_LATE = ModelError(Failure.TIMEOUT, "none came")
BAD_KEY = ModelError(Failure.AUTHENTICATION, "no")
TOO_LONG = ModelError(Failure.CONTEXT_OVERFLOW, "too long")


class Provider:
    """Answers what it was told to, in order, a dollar a prompt token and two a completion token."""

    name = "provider"

    def __init__(self, *answers: Reply | ModelError) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def cost_usd(self, usage: Usage) -> float | None:
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return usage.prompt_tokens + 2.0 * usage.completion_tokens

    async def close(self) -> None:
        pass


class Run:
    """One request put to a provider, with all that came of it."""

    def __init__(
        self,
        answers: Sequence[Reply | ModelError],
        budget: Budget | None = None,
        max_retries: int = 5,
        earlier: Attempts = Attempts(),  # noqa: B008
    ) -> None:
        self.provider = Provider(*answers)
        self.budget = budget or Budget()
        self.kept: list[RequestRecord] = []
        self.waits: list[float] = []
        self.pace = Pace()

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            self.pace.open_at = 0.0  # the time it waits for has come

        async def keep(record: RequestRecord) -> None:
            self.kept.append(record)

        client = RetryingClient(
            self.provider, self.budget, RetryPolicy(max_retries), keep, self.pace, random.Random(0), sleep
        )
        self.came = asyncio.run(self._ask(client, earlier))

    async def _ask(self, client: RetryingClient, earlier: Attempts) -> tuple[Reply, Attempts] | Unanswered | CapReached:
        try:
            return await client.ask(Request((), Offer()), 0, 0, earlier=earlier, own_tokens=8)
        except (Unanswered, CapReached) as ended:
            return ended


@pytest.mark.parametrize("failure", [RATE_LIMIT, UNAVAILABLE, TOO_LATE])
def test_a_failure_that_may_pass_is_asked_again_and_every_attempt_is_kept(failure: ModelError) -> None:
    run = Run([failure, failure, FINE])
    assert isinstance(run.came, tuple)
    assert run.came[0] == FINE
    assert [(one.attempt, one.failure) for one in run.kept] == [
        (0, failure.failure),
        (1, failure.failure),
        (2, None),
    ]
    assert 0.5 <= run.waits[0] <= 1.0 <= run.waits[1] <= 2.0, "it waits longer each time"


@pytest.mark.parametrize("failure", [BAD_KEY, TOO_LONG, ModelError(Failure.BAD_REQUEST, "?")])
def test_a_failure_that_cannot_pass_is_not_asked_again(failure: ModelError) -> None:
    run = Run([failure, FINE])
    assert isinstance(run.came, Unanswered)
    assert run.came.error is failure
    assert run.provider.asked == 1


def test_the_provider_says_how_long_to_wait() -> None:
    run = Run([TOLD_TO_WAIT, FINE])
    assert 7.0 <= run.waits[0] <= 8.0


def test_a_wait_of_a_day_is_not_waited_for() -> None:
    run = Run([TOLD_TO_WAIT_LONG, FINE])
    assert isinstance(run.came, Unanswered)
    assert (run.waits, run.provider.asked) == ([], 1)


def test_retries_end() -> None:
    run = Run([UNAVAILABLE] * 9, max_retries=3)
    assert isinstance(run.came, Unanswered)
    assert (run.provider.asked, run.came.earlier.attempts) == (4, 4)


def test_no_retries_means_none() -> None:
    assert Run([UNAVAILABLE, FINE], max_retries=0).provider.asked == 1


def test_E6_retries_are_priced_too() -> None:
    run = Run([TOO_LATE, RATE_LIMIT, FINE])
    assert isinstance(run.came, tuple)
    # What came too late had been computed, of at least the prompt's 8 tokens; what was turned away costs nothing.
    assert run.came[1] == Attempts(3, 8.0 + 0.0 + 20.0, FINE)
    assert run.budget.cost_usd == 28.0


def test_E8_attempts_of_an_earlier_session_are_counted_on() -> None:
    run = Run([FINE], earlier=Attempts(2, 5.0))
    assert isinstance(run.came, tuple)
    assert [one.attempt for one in run.kept] == [2]
    assert run.came[1] == Attempts(3, 25.0, FINE)


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    run = Run([Reply("fine")])
    assert isinstance(run.came, tuple)
    assert run.came[1].cost_usd is None


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        pytest.param(Budget(max_requests=2), 2, id="requests-count-retries"),
        pytest.param(Budget(max_requests=2, requests=2), 0, id="requests-count-earlier-sessions"),
        pytest.param(Budget(max_cost_usd=7.99), 0, id="a-prompt-that-alone-is-too-dear-is-not-sent"),
        pytest.param(Budget(max_cost_usd=8.0), 1, id="a-prompt-that-just-fits-is-sent"),
        pytest.param(Budget(max_cost_usd=100.0, cost_usd=93.0), 0, id="cost-counts-earlier-sessions"),
    ],
)
def test_caps_hold_before_a_request_is_sent(budget: Budget, asked: int) -> None:
    run = Run([TOO_LATE] * 9, budget=budget)
    assert isinstance(run.came, CapReached)
    assert run.provider.asked == asked


def test_caps_hold_for_many_requests_at_once() -> None:
    budget = Budget(max_cost_usd=100.0)
    for _ in range(10):
        budget.book(10.0)
    with pytest.raises(CapReached, match=r"cap of \$100"):
        budget.book(10.0)
    budget.settle(10.0, 2.0)
    with pytest.raises(CapReached):
        budget.book(10.0)
    budget.settle(10.0, None)
    budget.book(10.0)


def test_a_rate_limit_holds_back_the_other_trials_of_the_model() -> None:
    async def two() -> list[str]:
        order: list[str] = []

        async def keep(record: RequestRecord) -> None:
            order.append(f"{record.trial}:{record.failure or 'fine'}")

        pace = Pace()
        loop = asyncio.get_running_loop()
        client = RetryingClient(
            Provider(ModelError(Failure.RATE_LIMIT, "wait", 0.2), FINE, FINE),
            Budget(),
            RetryPolicy(base_seconds=0.001),
            keep,
            pace,
        )
        started = loop.time()
        first = asyncio.create_task(client.ask(Request((), Offer()), 0, 0))
        await asyncio.sleep(0.02)
        await client.ask(Request((), Offer()), 1, 0)
        assert loop.time() - started >= 0.2, "the second trial waited for what the first was told"
        await first
        return order

    assert asyncio.run(two())[0] == "0:rate_limit"
