"""Ask a model for drafts: many tools at once, every answer stored, until all is asked or a failure or cap ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Conversation, Message
from toolbelt.evals.drafts.answer_store import AnswerStore, request_key
from toolbelt.evals.drafts.answers import DraftChecker
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.tool_drafts import ModelAnswer, ToolDrafts
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.offers import Offer
from toolbelt.evals.running.client import Budget, CapReached, RetryingClient, RetryPolicy, Unanswered
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.process_engine import ERRORS_IN_A_ROW, run_workers
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.running.records import RequestRecord
from toolbelt.providers.chat import Failure, Sampling

NOTHING_OFFERED = Offer()


@dataclass(eq=False)
class Drafter:
    """Requests the answers that are not stored yet.

    Attributes:
        jobs: What to draft.
        checker: Reads the answers.
        answers: Stores the answers.
        model: Writes the answers.
        budget: Limits requests and cost.
        policy: Which failed requests are repeated, and when.
        counter: Counts prompts.
        sampling: Temperature and seed.
        max_concurrency: Tools under way at once.
        api_base: Address of the model; `None` for that of its provider.
        pace: How fast it is asked.
        reasons: Why not all jobs have answers, in words: what ended the session, and the first failure.
        failures: Failures of the jobs without an answer, by job number.
    """

    jobs: Jobs
    checker: DraftChecker
    answers: AnswerStore
    model: Model
    budget: Budget
    policy: RetryPolicy
    counter: TokenCounter
    sampling: Sampling
    max_concurrency: int = 8
    api_base: str | None = None
    pace: Pace = field(default_factory=Pace)
    reasons: list[str] = field(default_factory=list)
    failures: dict[int, Failure] = field(default_factory=dict)
    _in_a_row: int = 0
    _has_ended: bool = False
    _done: int = 0

    async def run(self, advance: Callable[[int], object]) -> None:
        """Ask until every job has its answers, or none can be asked any more.

        Args:
            advance: Called with the number of tools done.

        Raises:
            StorageError: an answer could not be stored; those before it are.
        """
        numbers = iter(range(len(self.jobs)))
        try:
            await run_workers(self._worker(numbers, advance) for _ in range(self.max_concurrency))
        finally:
            await self.model.close()

    async def _worker(self, numbers: Iterator[int], advance: Callable[[int], object]) -> None:
        for number in numbers:
            if self._has_ended:
                return
            drafts = ToolDrafts(self.jobs.job(number), self.checker)
            try:
                await self._draft(drafts, number)
                self._in_a_row = 0
            except CapReached as cap:
                self._end(str(cap))
                return
            except Unanswered as unanswered:
                self.failures[number] = unanswered.error.failure
                self._record_failure(unanswered, drafts.job.tool.id)
            self._done += 1
            advance(self._done)
            await asyncio.sleep(0)  # lets Ctrl-C and the other workers through where no answer is awaited

    async def _draft(self, drafts: ToolDrafts, number: int) -> None:
        while (messages := drafts.messages) is not None:
            key = request_key(self.model.name, self.sampling, messages, self.api_base)
            answer = self.answers.find(key)
            drafts.add_answer(answer if answer is not None else await self._ask(drafts, number, key, messages))

    async def _ask(self, drafts: ToolDrafts, number: int, key: bytes, messages: tuple[Message, ...]) -> ModelAnswer:
        tool = drafts.job.tool.id

        async def keep(record: RequestRecord) -> None:
            self.answers.add(key, tool, record)

        client = RetryingClient(self.model, self.budget, self.policy, keep, self.pace)
        own_tokens = PromptCounter(self.counter).count_latest(Conversation(messages))
        try:
            await client.ask(Request(messages, NOTHING_OFFERED, self.sampling), number, 0, own_tokens=own_tokens)
        except Unanswered as unanswered:
            if unanswered.error.failure not in (Failure.REFUSED, Failure.CONTEXT_OVERFLOW):
                raise
        return self.answers.get(key)

    def _record_failure(self, unanswered: Unanswered, tool: str) -> None:
        """Record the first failure; end if the model only fails, or the failure is final."""
        self._in_a_row += 1
        model = self.model.name
        if unanswered.error.failure.is_for_good:
            self._end(f"{model}: {unanswered}")
        elif self._in_a_row >= max(ERRORS_IN_A_ROW, 2 * self.max_concurrency):
            self._end(f"{model}: {self._in_a_row} tools in a row failed, the last by {unanswered}")
        elif not self.reasons:
            self.reasons.append(f"{tool}: {unanswered}")

    def _end(self, reason: str) -> None:
        if not self._has_ended:  # several workers may end at once; the first reason counts
            self.reasons.insert(0, reason)
        self._has_ended = True
