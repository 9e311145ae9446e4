"""Requests to a model within the limits on requests and cost, with retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.responses.recorded import ModelResponses
from toolbelt.evals.responses.response import ResponseMark
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.records import Attempts, RequestRecord, plus_cost
from toolbelt.evals.running.reply_faults import ReplyFault, find_fault, find_text_fault, take_note
from toolbelt.providers.chat import NOTHING_REPORTED, Failure, ModelError, Usage


class CapReached(Exception):  # noqa: N818  it ends a run in order; nothing went wrong
    """The next request would exceed the limit on requests or cost."""


@dataclass
class Budget:
    """Counts requests and cost against their caps.

    A request is booked before it is sent, with its prompt and, where its length is bounded, its answer. So concurrent
    requests keep to the cap, too. Answers of unbounded length may exceed the cap by the cost of those under way.

    Attributes:
        max_requests: Most requests, with retries and earlier executions of the run; `None` for no limit.
        max_cost_usd: Most cost in USD, with retries and earlier executions; `None` for no limit.
        requests: Made so far.
        cost_usd: Spent so far.
    """

    max_requests: int | None = None
    max_cost_usd: float | None = None
    requests: int = 0
    cost_usd: float = 0.0
    _booked: float = 0.0

    def book(self, booked_usd: float) -> None:
        """Book a request.

        Raises:
            CapReached: it would be one too many, or too dear.
        """
        if self.max_requests is not None and self.requests >= self.max_requests:
            raise CapReached(f"the cap of {self.max_requests:,} requests is reached")
        if self.max_cost_usd is not None and self.cost_usd + self._booked + booked_usd > self.max_cost_usd:
            raise CapReached(
                f"the next request would go beyond the cap of ${self.max_cost_usd:g} (spent: ${self.cost_usd:.4f})"
            )
        self.requests += 1
        self._booked += booked_usd

    def add_earlier(self, cost_usd: float | None) -> None:
        """Count a request that an earlier execution made, and that was found only now."""
        self.requests += 1
        self.cost_usd += cost_usd or 0.0

    def settle(self, booked_usd: float, cost_usd: float | None) -> None:
        """Replace the booked cost with the real cost."""
        self._booked -= booked_usd
        self.cost_usd += cost_usd or 0.0


class NotRecorded(Exception):  # noqa: N818  what became of a request, not a mistake
    """Nothing may be asked, and the answer to a request was not recorded."""


Keep = Callable[[RequestRecord], Awaitable[None]]
"""Stores an attempt; it is durable once this has been awaited."""
_NO_ATTEMPTS = Attempts()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How temporary failures are retried.

    Attributes:
        max_retries: Attempts after the first.
        base_seconds: The first wait; doubled each time, and spread by chance between half and the whole of it.
        max_wait_seconds: The longest wait of our own choosing.
        max_retry_after_seconds: The longest wait that a provider may ask for; beyond, the trial is an error.
        retries_timeouts: Whether a request that took too long is asked again.
    """

    max_retries: int = 5
    base_seconds: float = 1.0
    max_wait_seconds: float = 60.0
    max_retry_after_seconds: float = 600.0
    retries_timeouts: bool = True


class Unanswered(Exception):  # noqa: N818  what became of a request, not a mistake
    """A request that got no answer.

    Attributes:
        error: The last failure.
        earlier: The attempts made.
    """

    def __init__(self, error: ModelError, earlier: Attempts) -> None:
        self.error = error
        self.earlier = earlier
        super().__init__(str(error))


@dataclass(frozen=True, eq=False)
class RetryingClient:
    """Asks one model on behalf of a run.

    Attributes:
        model: Who is asked.
        budget: What may be asked and spent, over all models.
        policy: How failures are met.
        keep: Makes an attempt durable.
        pace: Shared by all trials of the model.
        chance: Spreads the waits.
        sleep: How to wait.
        responses: Recorded ones, which are used in place of asking; `None` where none are to be.
        window: The model's context window; `None` if unknown.
    """

    model: Model
    budget: Budget
    policy: RetryPolicy
    keep: Keep
    pace: Pace = field(default_factory=Pace)
    chance: random.Random = field(default_factory=random.Random)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    responses: ModelResponses | None = None
    window: int | None = None

    async def ask(
        self,
        request: Request,
        trial: int,
        number: int,
        *,
        earlier: Attempts = _NO_ATTEMPTS,
        own_tokens: int = 0,
        is_opening: bool = False,
    ) -> tuple[Reply, Attempts]:
        """Send the request until there is an answer, or no hope of one.

        Args:
            request: What is asked.
            trial: Number of the trial.
            number: 0-based number of the request within it.
            earlier: Attempts of an earlier execution.
            own_tokens: The prompt's tokens as counted here, for what it will cost at least.
            is_opening: Whether it is the first of a conversation, whose reply may show that the server does not work.

        Returns:
            The reply, and all attempts.

        Raises:
            Unanswered: there was none.
            CapReached: the budget does not allow it.
            NotRecorded: nothing may be asked.
        """
        key = "" if self.responses is None else self.responses.make_key(request)
        if (reused := await self._reuse(key, request, trial, number, earlier, own_tokens)) is not None:
            return reused
        least = self.model.cost_usd(Usage(own_tokens, 0))
        booked = self.model.cost_usd(Usage(own_tokens, request.sampling.max_tokens or 0)) or 0.0
        so_far = earlier

        async def once() -> Reply:
            nonlocal so_far
            cuts = await self.pace.enter()
            reply: Reply | None = None
            failed: ModelError | None = None
            note = ""
            try:
                self.budget.book(booked)
                try:
                    reply = await self.model.complete(request)
                except ModelError as error:
                    failed = error
                except BaseException:  # cancelled: nothing came, and nobody knows what it cost
                    self.budget.settle(booked, None)
                    raise
            finally:
                self.pace.leave()
            self._adapt(reply, failed, cuts)
            if reply is not None:
                reply, note = take_note(reply, own_tokens, self.window)
                failed = find_fault(request, reply, own_tokens) if is_opening else None
                failed = failed or find_text_fault(request, reply)  # who saw no tools may still repeat a call
            cost = self._cost(reply, failed, least)
            self.budget.settle(booked, cost)
            mark: ResponseMark | None = None
            if self.responses is not None and reply is not None and failed is None:
                mark = self.responses.mark(key, reply, cost)
                self.responses.add(mark, request, reply, trial, number)  # durable before what is kept next, by `first`
            await self.keep(_record(request, trial, number, so_far.attempts, reply, failed, cost, mark, note))
            so_far = Attempts(so_far.attempts + 1, plus_cost(so_far.cost_usd, cost), None if failed else reply)
            if failed is not None or reply is None:
                raise failed or AssertionError("neither a reply nor a failure")
            return reply

        try:
            return await self._retrying(once), so_far
        except ModelError as error:
            raise Unanswered(error, so_far) from None

    async def _reuse(
        self, key: str, request: Request, trial: int, number: int, earlier: Attempts, own_tokens: int
    ) -> tuple[Reply, Attempts] | None:
        """The recorded answer, which is no request: it counts towards no cap, waits for nobody and costs nothing.

        Unless an earlier execution of this run asked, and was killed before the store of runs had the answer.
        """
        if self.responses is None:
            return None
        hit = self.responses.find(key, trial, number)
        if hit is None or find_text_fault(request, hit[0]) is not None:
            if self.responses.is_offline:
                raise NotRecorded
            return None
        reply, mark = hit
        reply, note = take_note(reply, own_tokens, self.window)
        cost = 0.0 if mark.is_reused else mark.cost_usd
        if not mark.is_reused:
            self.budget.add_earlier(cost)
        await self.keep(_record(request, trial, number, earlier.attempts, reply, None, cost, mark, note))
        return reply, Attempts(earlier.attempts + 1, plus_cost(earlier.cost_usd, cost), reply)

    async def _retrying(self, once: Callable[[], Awaitable[Reply]]) -> Reply:
        retries, is_sent_again = 0, False
        while True:
            try:
                return await once()
            except ReplyFault as fault:
                if is_sent_again or fault.failure is not Failure.BROKEN_ANSWER:
                    raise
                is_sent_again = True  # once, and at once (rule E4): nobody asked to wait
                continue
            except ModelError as error:
                if retries >= self.policy.max_retries or not self._may_pass(error):
                    raise
                seconds = self._wait(error, retries)
            retries += 1
            await self.sleep(seconds)

    def _cost(self, reply: Reply | None, failed: ModelError | None, least: float | None) -> float | None:
        if reply is not None:
            return self.model.cost_usd(reply.usage)
        if failed is not None and (reported := self.model.cost_usd(failed.usage)):
            return reported
        # What was cut short or came too late has been computed, and is billed; what was turned away is not.
        was_computed = failed is not None and failed.failure in (
            Failure.BROKEN_ANSWER,
            Failure.TIMEOUT,
            Failure.REFUSED,
            Failure.BROKEN_CALL,
        )
        return least if was_computed else 0.0

    def _adapt(self, reply: Reply | None, failed: ModelError | None, cuts: int) -> None:
        """Ask faster or slower from now on."""
        if reply is not None:
            self.pace.speed_up()
        elif failed is not None and failed.failure is Failure.RATE_LIMIT:
            self.pace.slow_down(cuts)
        hold = max(0.0 if source is None else source.hold_seconds for source in (reply, failed))
        if 0 < hold <= self.policy.max_retry_after_seconds:
            self.pace.close_for(hold)

    def _may_pass(self, error: ModelError) -> bool:
        asked_for = error.retry_after_seconds or 0.0
        if error.failure is Failure.TIMEOUT and not self.policy.retries_timeouts:
            return False
        may_pass = error.failure.is_passing if error.may_pass is None else error.may_pass
        return may_pass and asked_for <= self.policy.max_retry_after_seconds

    def _wait(self, error: ModelError, retries: int) -> float:
        """Seconds to wait after a failure that followed so many retries."""
        asked_for = error.retry_after_seconds
        own = min(self.policy.max_wait_seconds, self.policy.base_seconds * 2.0**retries)
        if asked_for is None:
            seconds = own * self.chance.uniform(0.5, 1.0)
        else:
            # All clients with the same retry time would otherwise ask again at the same moment.
            seconds = asked_for + self.chance.uniform(0.0, min(own, 1.0))
        if error.failure is Failure.RATE_LIMIT:
            self.pace.close_for(asked_for if asked_for is not None else seconds)
        return seconds


def _record(
    request: Request,
    trial: int,
    number: int,
    attempt: int,
    reply: Reply | None,
    failed: ModelError | None,
    cost_usd: float | None,
    response: ResponseMark | None,
    note: str = "",
) -> RequestRecord:
    return RequestRecord(
        trial=trial,
        request=number,
        attempt=attempt,
        offer=request.offer,
        reply=reply,
        usage=reply.usage if reply is not None else NOTHING_REPORTED if failed is None else failed.usage,
        failure=None if failed is None else failed.failure,
        message=note if failed is None else failed.message,
        latency_seconds=failed.latency_seconds if reply is None and failed is not None else _latency(reply),
        cost_usd=cost_usd,
        response=response,
    )


def _latency(reply: Reply | None) -> float:
    return 0.0 if reply is None else reply.latency_seconds
