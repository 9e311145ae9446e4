"""Asking a model for drafts: many tools at once, every answer kept, until all is asked or something ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Conversation, Message
from toolbelt.evals.drafts.answer_store import Journal, request_key
from toolbelt.evals.drafts.answers import Checker
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.tool_drafts import Answer, Drafting
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.offers import Offer
from toolbelt.evals.running.client import Budget, CapReached, Gate, RetryingClient, RetryPolicy, Unanswered
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.running.runner import ERRORS_IN_A_ROW, run_workers
from toolbelt.providers.chat import Failure, Sampling

NOTHING_OFFERED = Offer()


@dataclass(eq=False)
class Drafter:
    """Asks for what is not in the journal yet.

    Attributes:
        jobs: What is to be drafted.
        checker: Reads the answers.
        journal: Keeps them.
        model: Who is asked.
        budget: What may be asked and spent.
        policy: How failures are met.
        counter: Counts prompts.
        sampling: How to ask.
        max_concurrency: Tools under way at once.
        api_base: Where the model is asked; `None` for its provider's own place.
        reasons: Why not all could be asked, in words: what ended it, and the first failure.
        failures: How asking failed, by the number of the job, for those without an answer.
    """

    jobs: Jobs
    checker: Checker
    journal: Journal
    model: Model
    budget: Budget
    policy: RetryPolicy
    counter: TokenCounter
    sampling: Sampling
    max_concurrency: int = 8
    api_base: str | None = None
    reasons: list[str] = field(default_factory=list)
    failures: dict[int, Failure] = field(default_factory=dict)
    _gate: Gate = field(default_factory=Gate)
    _in_a_row: int = 0
    _is_over: bool = False
    _done: int = 0

    async def work(self, advance: Callable[[int], object]) -> None:
        """Ask until nothing is left that can be.

        Args:
            advance: Told how many tools are through.

        Raises:
            StorageError: an answer could not be kept; all kept before are.
        """
        left = iter(range(len(self.jobs)))
        try:
            await run_workers(self._worker(left, advance) for _ in range(self.max_concurrency))
        finally:
            await self.model.close()

    async def _worker(self, left: Iterator[int], advance: Callable[[int], object]) -> None:
        for number in left:
            if self._is_over:
                return
            drafting = Drafting(self.jobs.job(number), self.checker)
            try:
                await self._draft(drafting, number)
                self._in_a_row = 0
            except CapReached as reached:
                self._end(str(reached))
                return
            except Unanswered as unanswered:
                self.failures[number] = unanswered.error.failure
                self._mind(unanswered, drafting.job.tool.id)
            self._done += 1
            advance(self._done)
            await asyncio.sleep(0)  # so that Ctrl-C and the others get a turn where nothing has to be waited for

    async def _draft(self, drafting: Drafting, number: int) -> None:
        while (messages := drafting.messages) is not None:
            key = request_key(self.model.name, self.sampling, messages, self.api_base)
            answer = self.journal.find(key)
            drafting.take(answer if answer is not None else await self._ask(drafting, number, key, messages))

    async def _ask(self, drafting: Drafting, number: int, key: bytes, messages: tuple[Message, ...]) -> Answer:
        tool = drafting.job.tool.id
        client = RetryingClient(
            self.model, self.budget, self.policy, lambda record: self.journal.add(key, tool, record), self._gate
        )
        own_tokens = PromptCounter(self.counter).count_latest(Conversation(messages))
        try:
            await client.ask(Request(messages, NOTHING_OFFERED, self.sampling), number, 0, own_tokens=own_tokens)
        except Unanswered as unanswered:
            if unanswered.error.failure not in (Failure.REFUSED, Failure.CONTEXT_OVERFLOW):
                raise
        return self.journal.get(key)

    def _mind(self, unanswered: Unanswered, tool: str) -> None:
        """Say the first failure; leave a model that only fails, or that cannot do better."""
        self._in_a_row += 1
        model = self.model.name
        if unanswered.error.failure.is_for_good:
            self._end(f"{model}: {unanswered}")
        elif self._in_a_row >= max(ERRORS_IN_A_ROW, 2 * self.max_concurrency):
            self._end(f"{model}: {self._in_a_row} tools in a row failed, the last by {unanswered}")
        elif not self.reasons:
            self.reasons.append(f"{tool}: {unanswered}")

    def _end(self, reason: str) -> None:
        if not self._is_over:  # of many at once, the first says it
            self.reasons.insert(0, reason)
        self._is_over = True
