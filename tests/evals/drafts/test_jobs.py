"""Which tools are drafted for, and what a model is told of each."""

from __future__ import annotations

import itertools

import pytest

from tests.evals.drafts.samples import CATALOG, ONE_EACH, make_jobs
from toolbelt.errors import NotFoundError
from toolbelt.evals.drafts.jobs import DraftQuota, choose_tools
from toolbelt.evals.drafts.prompts import opening_messages


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        pytest.param([], ["till/pay_back", "till/invoice", "mail/send_letter", "mail/track"], id="all"),
        pytest.param(["mail/*"], ["mail/send_letter", "mail/track"], id="beginning"),
        pytest.param(["TRACK", "pay*"], ["till/pay_back", "mail/track"], id="names-in-the-catalogs-order"),
        pytest.param(["till/invoice"], ["till/invoice"], id="id"),
    ],
)
def test_L4_tools_are_chosen_by_patterns(patterns: list[str], expected: list[str]) -> None:
    assert [tool.id for tool in choose_tools(CATALOG, patterns)] == expected


def test_L4_a_pattern_that_matches_nothing_is_told_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="'track'"):
        choose_tools(CATALOG, ["invoice", "trak"])


def test_E3_fewer_tools_are_among_more() -> None:
    drawn = [{tool.id for tool in choose_tools(CATALOG, limit=limit, seed=3)} for limit in (1, 2, 3, 4, 9)]
    assert [len(tools) for tools in drawn] == [1, 2, 3, 4, 4]
    assert all(fewer <= more for fewer, more in itertools.pairwise(drawn))


def test_E3_a_model_is_told_the_tool_its_neighbours_and_the_form() -> None:
    jobs = make_jobs(DraftQuota(4, 2, 1), CATALOG.tools, ["German", "Welsh"])
    assert len(jobs) == 8
    assert [(job.tool.name, job.language) for job in jobs][:3] == [
        ("pay_back", "German"),
        ("pay_back", "Welsh"),
        ("invoice", "German"),
    ]
    text = opening_messages(jobs.job(1))[1]["content"]
    assert text.splitlines()[0] == "Drafting for: till/pay_back"
    assert '"order": {"type": "integer", "description": "Number of the order."}' in text
    assert "- invoice: Bill a customer" in text
    assert "- send_letter: Send a letter" in text
    assert text.index("- send_letter:") < text.index("- track:"), "it has least in common"
    assert "Write 4 tasks" in text
    assert "Write 1 near miss:" in text
    assert "in Welsh." in text


@pytest.mark.parametrize(
    ("quota", "absent"),
    [(DraftQuota(0, 1, 2), "tasks"), (DraftQuota(2, 1, 0), "near_misses")],
    ids=["misses", "tasks"],
)
def test_E3_what_is_not_wanted_is_not_asked_for(quota: DraftQuota, absent: str) -> None:
    assert absent not in opening_messages(make_jobs(quota).job(0))[1]["content"]


def test_E3_the_same_prompt_whatever_else_is_drafted() -> None:
    alone = make_jobs(ONE_EACH).job(0)
    among = make_jobs(ONE_EACH, CATALOG.tools).job(0)
    assert opening_messages(alone) == opening_messages(among)
