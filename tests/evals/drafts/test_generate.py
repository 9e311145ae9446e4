"""What drafting would take: from the prompts themselves, less what was answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evals.drafts.samples import CATALOG, ONE_EACH, SAMPLING, draft_into, make_jobs, whole
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.drafts.answer_store import AnswerStore, read_answers
from toolbelt.evals.drafts.generate import SAMPLE, TOKENS_PER_CASE, DraftEstimate, estimate_drafts
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.prompts import opening_messages
from toolbelt.evals.models.scripted import ScriptedModel
from toolbelt.evals.running.prompt_tokens import PromptCounter

MODEL = ScriptedModel(whole)


def estimate(jobs: Jobs, answers: AnswerStore | None = None, api_base: str | None = None) -> DraftEstimate:
    return estimate_drafts(jobs, MODEL, SAMPLING, EstimateCounter(), answers, lambda done: None, api_base)


def counted(jobs: Jobs) -> int:
    counter = PromptCounter(EstimateCounter())
    return sum(counter.count_latest(Conversation(opening_messages(job))) for job in jobs)


def test_E6_every_prompt_is_counted() -> None:
    jobs = make_jobs(ONE_EACH, CATALOG.tools)
    found = estimate(jobs)
    assert (found.requests, found.answered, found.prompt_tokens) == (4, 0, counted(jobs))
    assert found.completion_tokens == 4 * 2 * TOKENS_PER_CASE


def test_E6_of_many_a_sample_stands_for_the_rest() -> None:
    tools = tuple(Tool(f"tool{n}", "Does " + "much " * (n % 7)) for n in range(3 * SAMPLE))
    catalog = Catalog((Plugin("p", tools),))
    jobs = Jobs(catalog, catalog.tools, ONE_EACH)
    assert estimate(jobs).prompt_tokens == pytest.approx(counted(jobs), rel=0.03)


def test_E8_what_was_answered_is_not_asked_and_elsewhere_is_elsewhere(tmp_path: Path) -> None:
    draft_into(tmp_path, jobs=make_jobs(ONE_EACH, CATALOG.tools[:3]))
    jobs = make_jobs(ONE_EACH, CATALOG.tools)
    with read_answers(tmp_path / ".toolbelt-drafts") as answers:
        here, elsewhere = estimate(jobs, answers), estimate(jobs, answers, "http://127.0.0.1:9/v1")
    assert (here.requests, here.answered) == (1, 3)
    assert (elsewhere.requests, elsewhere.answered) == (4, 0)
