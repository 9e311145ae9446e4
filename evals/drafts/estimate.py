"""What drafting would take, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.drafts.answer_store import Journal, request_key
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.prompts import opening_messages
from toolbelt.evals.models.model import Model
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.providers.chat import Sampling, Usage

SAMPLE = 300
"""Prompts that are counted; the rest is taken to be like them."""
TOKENS_PER_CASE = 45
"""Of an answer: a sentence or two, its share of the arguments, and the JSON around them."""


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """What is still to be asked.

    Attributes:
        requests: If nothing has to be asked for again; at the most twice as many.
        answered: Requests whose answers are kept already.
        prompt_tokens: Over all requests; own count.
        completion_tokens: Likewise, by a rule of thumb.
        cost_usd: `None` where the price is unknown.
    """

    requests: int
    answered: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


def estimate_drafting(
    jobs: Jobs,
    model: Model,
    sampling: Sampling,
    counter: TokenCounter,
    journal: Journal | None,
    advance: Callable[[int], object],
    api_base: str | None = None,
) -> DraftEstimate:
    """What is still to be asked, from the prompts themselves.

    Args:
        jobs: What is wanted.
        model: Gives the price and is not asked.
        sampling: How it would be asked.
        counter: Counts the prompts.
        journal: What was answered already; `None` for nothing.
        advance: Told how many tools were looked at.
        api_base: Where it would be asked; `None` for the provider's own place.
    """
    answered = 0
    if journal is not None:
        for number, job in enumerate(jobs, start=1):
            answered += request_key(model.name, sampling, opening_messages(job), api_base) in journal
            advance(number)
    prompts = PromptCounter(counter)
    step = max(1, len(jobs) // SAMPLE)
    counts = [
        prompts.count_latest(Conversation(opening_messages(jobs.job(number)))) for number in range(0, len(jobs), step)
    ]
    requests = len(jobs) - answered
    mean = sum(counts) / max(len(counts), 1)
    completion = jobs.wanted.cases * TOKENS_PER_CASE
    each = model.cost_usd(Usage(round(mean), completion))  # a price may go by the length of one prompt
    cost = None if each is None else each * requests
    return DraftEstimate(requests, answered, round(mean * requests), completion * requests, cost)
