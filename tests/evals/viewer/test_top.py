from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.summary.rows import RUN
from tests.evals.viewer.compared import ABOUT, ACCURACY, CHECKS, PAIR, TOKENS, WITHIN
from tests.evals.viewer.reading import Read
from tests.evals.viewer.runs import small_run
from tests.evals.viewer.writing import page_text
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.comparison.reasons import ArmsNote, Aspect, Mismatch
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, Limits
from toolbelt.evals.analysis.result import find_result
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.top import next_links, note_lines, top_values
from toolbelt.evals.views.gate_markdown import gate_title
from toolbelt.evals.views.result_text import result_sentence, result_title

SUMMARY = summarize(small_run(), RUN)


def top_of(page: str) -> str:
    """What stands before the table of arms."""
    return " ".join(Read.of(page).text.partition("Measures of each arm")[0].split())


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        (CHECKS, "✕ Regression"),
        (CHECKS[:2], "? Not enough data"),
        (CHECKS[:1], "✓ No regression"),
        ((), "? Not enough data"),
    ],
    ids=["one-failed", "one-undecided", "all-passed", "nothing-looked-at-is-no-pass"],
)
def test_a_gate_says_its_verdict_in_words_and_every_check(checks: tuple[GateCheck, ...], words: str) -> None:
    top = top_of(page_text(small_run(), gate=GateResult(ABOUT, checks, Limits())))
    assert words in top
    assert all(describe_check_reason(check) in top for check in checks)
    assert ("This is not a pass." in top) == (words == "? Not enough data")


def test_the_checks_that_failed_stand_first() -> None:
    gate = GateResult(ABOUT, CHECKS, Limits())
    values = top_values(SUMMARY, find_result(SUMMARY), None, gate)
    assert [one["word"] for one in values["checks"]] == ["Failed", "Undecided", "Passed"]
    assert values["title"] == gate_title(gate)


def test_the_title_of_a_run_is_its_result_and_the_sentence_on_it_stands_first() -> None:
    page = page_text(small_run(), comparison=WITHIN)
    result = find_result(SUMMARY, WITHIN)
    read = Read.of(page)
    (heading,) = read.find("h1")
    assert heading.text == read.find("title")[0].text == result_title(result)
    top = top_of(page)
    assert result_sentence(result) in top
    assert "word-matching baseline, not an LLM" in top


def test_arms_of_one_run_are_a_trade_off_and_no_regression() -> None:
    text = Read.of(page_text(small_run(), comparison=WITHIN)).text
    assert "✕ less accurate" in text
    assert "egression" not in text
    against = replace(WITHIN, old=replace(ABOUT, name="before"))
    assert "✕ Regression" in Read.of(page_text(small_run(), comparison=against)).text


def test_where_to_go_next_is_offered_beside_the_result() -> None:
    better = replace(ACCURACY, difference=0.1, low=0.05, high=0.15, verdict=Verdict.NO_REGRESSION)
    within = replace(WITHIN, pairs=(replace(PAIR, contrasts=(better, TOKENS)),))
    taken = replace(find_result(SUMMARY, within), recommended=SUMMARY.arms[1])
    links = next_links(SUMMARY, taken, within, has_recommendation=True)
    assert [link["href"] for link in links] == ["#from=0&to=1", "#trials", "#confusions", "#paste"]
    assert "1 case" in links[0]["text"]
    assert [link["href"] for link in next_links(SUMMARY, find_result(SUMMARY), None, has_recommendation=False)] == [
        "#trials",
        "#confusions",
    ]


def test_what_cannot_be_compared_says_why_and_gives_no_verdict() -> None:
    other = replace(ABOUT, name="other")
    top = top_of(page_text(small_run(), comparison=Comparison(other, ABOUT, reasons=(Mismatch(Aspect.EPOCHS),))))
    assert "asked equally often" in top
    assert "egression" not in top


def test_a_run_alone_gives_no_verdict() -> None:
    top = top_of(page_text(small_run()))
    assert mentions(top, "20 cases")
    assert "No comparison was asked for" in top
    assert "egression" not in top


def test_drafts_are_reported_beside_the_result() -> None:
    summary = replace(SUMMARY, settings={"drafts": 1})
    assert mentions(top_values(summary, find_result(summary), None, None)["lead"][-1], "1 case", "draft")


def test_notes_stand_at_the_end() -> None:
    page = page_text(small_run(), comparison=WITHIN)
    assert mentions(Read.of(page).text.partition("Notes")[2], "2 of 20 cases", "3 error")
    assert page.index('id="trials"') < page.index('id="notes"') < page.index('id="about"')


def test_a_run_of_which_no_two_arms_can_be_compared_says_so() -> None:
    alone = replace(WITHIN, pairs=(), unfit=(ArmName("m", "full"),), notes=(ArmsNote.UNFIT,))
    assert mentions(note_lines(SUMMARY, alone)[0], "m with full")
    assert "No two arms" in top_values(SUMMARY, find_result(SUMMARY, alone), alone, None)["lead"][-1]
