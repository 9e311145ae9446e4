"""What a file of drafts came to: for every tool why it has fewer than were asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.evals.drafts.samples import CATALOG, ONE_EACH, REFUND, about, draft_into, lines, make_jobs, said, whole
from toolbelt.evals.conversation import Reply
from toolbelt.evals.drafts.writing import FAILED, NOT_ASKED
from toolbelt.evals.models.model import Request
from toolbelt.evals.running.client import Budget
from toolbelt.providers.chat import Failure, ModelError

HOW = {REFUND.id: Failure.UNAVAILABLE, "mail/track": Failure.BAD_REQUEST}


def failing(request: Request) -> Reply | ModelError:
    failure = HOW.get(about(request))
    return whole(request) if failure is None else ModelError(failure, "no")


@pytest.mark.parametrize("concurrency", [1, 4])
def test_E9_tools_that_failed_are_told_from_those_not_asked(tmp_path: Path, concurrency: int) -> None:
    made, drafter = draft_into(tmp_path, failing, concurrency=concurrency)
    assert {short.tool: short.reasons for short in made.short} == {
        tool: {f"{FAILED}: {failure}": 1} for tool, failure in HOW.items()
    }
    assert made.failed == {"unavailable": 1, "bad_request": 1}
    assert drafter.failures == {0: Failure.UNAVAILABLE, 3: Failure.BAD_REQUEST}
    made, _ = draft_into(tmp_path, budget=Budget(0))
    assert [short.reasons for short in made.short] == [{NOT_ASKED: 1}] * 2
    assert (made.failed, made.unanswered) == (Counter(), 2)


def test_E9_tools_left_are_counted_once_in_however_many_languages(tmp_path: Path) -> None:
    jobs = make_jobs(ONE_EACH, CATALOG.tools, ["German", "Welsh", "Thai"])
    made, _ = draft_into(tmp_path, jobs=jobs, budget=Budget(4))
    assert (made.unanswered, made.unanswered_tools) == (8, 3)


def test_E3_drafts_are_in_the_order_of_the_catalog(tmp_path: Path) -> None:
    draft_into(tmp_path, concurrency=4)
    stems = [line.partition(': "')[2].partition(".")[0] for line in lines(tmp_path)]
    assert list(dict.fromkeys(stems)) == ["pay_back", "invoice", "send_letter", "track"]


def test_E3_nothing_is_written_where_nothing_was_drafted(tmp_path: Path) -> None:
    made, _ = draft_into(tmp_path, lambda request: Reply("no"))
    assert (made.cases, made.refused) == (0, {"the answer is not JSON": 8})
    assert not (tmp_path / "cases.jsonl").exists()


def test_E3_what_another_draft_says_already_makes_a_tool_short(tmp_path: Path) -> None:
    same = Reply(said([({}, ["Do it."])], [("Do not.", None)]))
    draft_into(tmp_path, lambda request: same, jobs=make_jobs(ONE_EACH, CATALOG.tools[1:2]))
    made, _ = draft_into(tmp_path, lambda request: same, jobs=make_jobs(ONE_EACH, CATALOG.tools[2:3]))
    assert (made.cases, made.earlier, made.refused) == (2, 2, {"the query is there already": 2})
    assert [(short.drafted, short.reasons) for short in made.short] == [(0, {"the query is there already": 2})]
