"""Drafting for many tools: kept as it goes, stopped by caps and failures, gone on with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.evals.drafts.samples import CATALOG, ONE_EACH, REFUND, about, draft_into, lines, make_jobs, said, whole
from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.conversation import Reply
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.writing import NOT_ASKED
from toolbelt.evals.models.model import Request
from toolbelt.evals.running.client import Budget
from toolbelt.providers.chat import Failure, ModelError


class RateQuery:
    """Answers, and counts what it was asked; fails for some tools."""

    def __init__(self, failing: dict[str, Any] | None = None) -> None:
        self.failing = failing or {}
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Any:
        self.asked[about(request)] += 1
        return self.failing.get(about(request)) or whole(request)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_E8_interrupted_and_gone_on_with_equals_an_unbroken_run(tmp_path: Path, concurrency: int) -> None:
    draft_into(tmp_path / "whole")
    model = RateQuery()
    for more in (1, 2, None):
        made, drafter = draft_into(tmp_path / "parts", model, budget=Budget(more), concurrency=concurrency)
        asked = sum(model.asked.values())
        assert made.unanswered == 4 - asked
        assert drafter.reasons == ([] if more is None else [drafter.reasons[0]])
        assert {short.tool for short in made.short if NOT_ASKED in short.reasons} == {
            tool.id for tool in CATALOG.tools if not model.asked[tool.id]
        }
    assert model.asked == dict.fromkeys((tool.id for tool in CATALOG.tools), 1), "nothing is asked twice"
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")


def test_E9_a_failure_costs_its_tool_alone_and_is_asked_again(tmp_path: Path) -> None:
    model = RateQuery({REFUND.id: ModelError(Failure.UNAVAILABLE, "down")})
    made, drafter = draft_into(tmp_path, model)
    assert (made.cases, made.unanswered, drafter.failures) == (6, 1, {0: Failure.UNAVAILABLE})
    assert drafter.reasons == ["till/pay_back: unavailable: down"]
    model.failing = {}
    made, drafter = draft_into(tmp_path, model)
    assert (made.cases, drafter.reasons) == (8, [])
    assert model.asked[REFUND.id] == 2
    assert model.asked["mail/track"] == 1


@pytest.mark.parametrize("failure", [Failure.AUTHENTICATION, Failure.NOT_FOUND, Failure.QUOTA])
def test_E9_what_no_other_request_can_mend_ends_it(tmp_path: Path, failure: Failure) -> None:
    model = RateQuery(dict.fromkeys((tool.id for tool in CATALOG.tools), ModelError(failure, "no")))
    made, drafter = draft_into(tmp_path, model)
    assert sum(model.asked.values()) == 1
    assert made.cases == 0
    assert drafter.reasons[0].endswith("no")
    assert not (tmp_path / "cases.jsonl").exists(), "a file without a case would be no dataset"


def test_E9_a_model_that_only_fails_is_left(tmp_path: Path) -> None:
    tools = tuple(Tool(f"tool{n}", f"Does {n}.") for n in range(60))
    catalog = Catalog((Plugin("p", tools),))
    jobs = Jobs(catalog, catalog.tools, ONE_EACH)
    model = RateQuery({f"p/tool{n}": ModelError(Failure.BAD_REQUEST, "odd") for n in range(60)})
    _, drafter = draft_into(tmp_path, model, jobs=jobs)
    assert sum(model.asked.values()) == 20
    assert mentions(drafter.reasons[0], "20 tools", "bad_request")


def test_E4_a_refusal_is_an_answer_kept_and_told(tmp_path: Path) -> None:
    model = RateQuery({REFUND.id: ModelError(Failure.REFUSED, "I will not")})
    for _ in range(2):
        made, drafter = draft_into(tmp_path, model)
        assert (made.cases, made.unanswered, drafter.reasons) == (6, 0, [])
        assert [(short.tool, short.drafted, short.wanted, short.reasons) for short in made.short] == [
            (REFUND.id, 0, 2, {"the model refused": 1})
        ]
    assert model.asked[REFUND.id] == 1


def test_E3_what_two_tools_have_in_common_is_drafted_once(tmp_path: Path) -> None:
    same = Reply(said([({}, ["Do it."])], [("Do not.", None)]))
    made, _ = draft_into(tmp_path, lambda request: same, jobs=make_jobs(ONE_EACH, CATALOG.tools[1:3]))
    assert made.cases == 2
    assert made.refused == {"the query is there already": 2}
    assert [(short.tool, short.drafted) for short in made.short] == [("mail/send_letter", 0)]


def test_E3_kinds_and_what_was_left_out_are_counted(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        if about(request) == REFUND.id:
            return Reply(said([({"order": "x"}, ["Undo x."])], [("Bill 17.", "invoice")]))
        return whole(request)

    made, drafter = draft_into(tmp_path, answer)
    assert made.kinds == {"near-miss": 1, "single": 3, "irrelevant": 3}
    assert made.refused == {"the arguments go against the schema": 2, "more than was asked for": 1}
    assert drafter.budget.requests == 5
