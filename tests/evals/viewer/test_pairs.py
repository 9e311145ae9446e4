from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.summary.rows import RUN
from tests.evals.viewer.compared import ABOUT, ACCURACY, CHECKS, PAIR, RIGHT, WITHIN, WRONG
from tests.evals.viewer.reading import Read
from tests.evals.viewer.runs import HOSTILE, small_run
from tests.evals.viewer.writing import page_text
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Comparison, Confusion, Contrast, Flip, Measure, Unpaired
from toolbelt.evals.analysis.comparison.comparison_text import sentence
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.comparison.reasons import (
    Aspect,
    Mismatch,
    MissingFigures,
    SideNote,
    SideProblem,
    TooFewCases,
)
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.analysis.gate.check_reasons import NewOverflows
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, Limits
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.pairs import MOST_FLIPS, pair_values
from toolbelt.text import UNSAFE

SUMMARY = summarize(small_run(), RUN)


def test_a_comparison_says_its_sentence_for_every_pair_and_its_figures() -> None:
    text = Read.of(page_text(small_run(), comparison=WITHIN)).text
    assert sentence(WITHIN, PAIR) in " ".join(text.split())
    for shown in (
        "-10.0 points",
        "-15.0 to -5.0",
        "-60.0%",
        "0.002",
        "contributed -4.0 points",
        "▼ worse",
        "91.2%",
        "2 new: error",
    ):
        assert shown in text


def test_a_comparison_of_a_gate_is_shown_without_being_given() -> None:
    page = page_text(small_run(), gate=GateResult(ABOUT, CHECKS, Limits(), WITHIN))
    assert sentence(WITHIN, PAIR) in " ".join(Read.of(page).text.split())


def test_E7_a_bound_is_never_rounded_to_where_the_verdict_would_be_another() -> None:
    near = replace(ACCURACY, difference=-0.01, low=-0.02004, high=0.0001, verdict=Verdict.INSUFFICIENT_DATA)
    (pair,) = pair_values(replace(WITHIN, pairs=(replace(PAIR, contrasts=(near,)),)), SUMMARY)
    assert pair["contrasts"][0]["interval"] == "-2.004 to +0.01"


def test_the_worst_pair_of_two_runs_is_unfolded_and_none_of_one_run() -> None:
    verdicts = (Verdict.NO_REGRESSION, Verdict.INSUFFICIENT_DATA, Verdict.REGRESSION, Verdict.REGRESSION)
    pairs = tuple(replace(PAIR, contrasts=(replace(ACCURACY, verdict=one),)) for one in verdicts)
    values = pair_values(replace(WITHIN, old=replace(ABOUT, name="before"), pairs=pairs), SUMMARY)
    assert [one["is_open"] for one in values] == [False, False, True, False]
    assert [one["badge"]["tone"] for one in values] == ["good", "warning", "bad", "bad"]
    assert not any(one["is_open"] for one in pair_values(replace(WITHIN, pairs=pairs), SUMMARY))


def test_E4_cases_that_no_longer_fit_are_named() -> None:
    gone = replace(PAIR, newly_overflowing=("case-07", "case-09"))
    text = " ".join(Read.of(page_text(small_run(), comparison=replace(WITHIN, pairs=(gone,)))).text.split())
    assert "No longer fit: case-07, case-09." in text


def test_why_a_verdict_is_no_better_stands_beside_it() -> None:
    open_ = replace(
        ACCURACY, verdict=Verdict.INSUFFICIENT_DATA, reasons=(TooFewCases(-0.1, 0.1, 0.02, 20, is_unfinished=False),)
    )
    page = page_text(small_run(), comparison=replace(WITHIN, pairs=(replace(PAIR, contrasts=(open_,)),)))
    assert mentions(Read.of(page).text.partition("Measures of each arm")[2], "-10.0", "+10.0")


def test_what_was_wanted_stands_beside_what_was_called_and_leads_to_the_arm() -> None:
    (pair,) = pair_values(WITHIN, SUMMARY)
    assert pair["flips"][0]["new"] == {"outcome": "wrong_tool", "called": "files/write", "wanted": "files/read_1"}
    assert pair["place"] == 1
    elsewhere = replace(WITHIN, new=replace(ABOUT, name="other"))
    assert pair_values(elsewhere, SUMMARY)[0]["place"] is None


@pytest.mark.parametrize(
    ("attempt", "called", "wanted"),
    [
        pytest.param(Attempt(Outcome.CORRECT, True, None), "the right tools", "", id="right-and-not-kept"),
        pytest.param(Attempt(Outcome.WRONG_ARGUMENTS, True, None), "the right tools", "", id="arguments-and-not-kept"),
        pytest.param(Attempt(Outcome.MISSING_CALL, True, None, ("a",)), None, "a", id="wrong-and-not-kept"),
        pytest.param(Attempt(Outcome.MISSING_CALL, True, (), ("a",)), "nothing", "a", id="nothing-called"),
        pytest.param(
            Attempt(Outcome.WRONG_TOOL, True, ("b", "a"), ("a",), ("a",)), "b, a", "another order", id="order"
        ),
        pytest.param(Attempt(Outcome.UNOFFERED_TOOL, True, ("a",), ("a",), ("a",)), "a", "", id="not-offered"),
        pytest.param(
            Attempt(Outcome.WRONG_TOOL, True, ("a", "c"), ("b", "a"), ("a", "c")), "a, c", "b", id="one-of-two"
        ),
    ],
)
def test_a_flip_wants_no_tool_that_was_called(attempt: Attempt, called: str | None, wanted: str) -> None:
    pair = replace(PAIR, flips=(Flip("case-01", "single", -1.0, RIGHT, attempt),))
    (values,) = pair_values(replace(WITHIN, pairs=(pair,)), SUMMARY)
    told = values["flips"][0]["new"]
    assert (told["called"], told["wanted"]) == (called, wanted)


def test_confusions_that_did_not_change_are_left_out_and_nothing_is_named() -> None:
    (pair,) = pair_values(WITHIN, SUMMARY)
    assert pair["confusions"] == [{"wanted": "files/read_1", "called": "files/write", "old": 0, "new": 4}]
    gone = replace(PAIR, confusions=(Confusion("a", "", 1, 0),))
    assert pair_values(replace(WITHIN, pairs=(gone,)), SUMMARY)[0]["confusions"][0]["called"] == "nothing"


def test_of_very_many_flips_the_first_are_listed_and_the_rest_counted() -> None:
    flips = tuple(Flip(f"c{number}", "k", 0.5, WRONG, RIGHT) for number in range(MOST_FLIPS + 7))
    (pair,) = pair_values(replace(WITHIN, pairs=(replace(PAIR, flips=flips),)), SUMMARY)
    assert (len(pair["flips"]), pair["more_flips"], pair["better"]) == (MOST_FLIPS, 7, MOST_FLIPS + 7)


def test_figures_that_are_not_known_say_so() -> None:
    unknown = Contrast(Measure.COST_USD, reasons=(MissingFigures.UNKNOWN_COST,))
    (pair,) = pair_values(replace(WITHIN, pairs=(replace(PAIR, contrasts=(unknown,), contribution=None),)), SUMMARY)
    assert pair["contrasts"][0]["difference"] == "–"
    assert pair["contrasts"][0]["interval"] == describe_reason(MissingFigures.UNKNOWN_COST)
    assert pair["contribution"] == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_of_a_comparison_and_a_gate_are_escaped(text: str) -> None:
    arm = ArmName(text, text)
    attempt = Attempt(Outcome.WRONG_TOOL, covered=True, called=(text,))
    pair = replace(
        PAIR, new=arm, flips=(Flip(text, text, -1.0, attempt, attempt),), confusions=(Confusion(text, text, 0, 1),),
        unpaired=(Unpaired(True, text, 1),),
    )  # fmt: skip
    about = replace(ABOUT, name=text, catalog=text, status=text, reason=text)
    notes = (SideNote(SideProblem.UNFINISHED, about),)
    comparison = Comparison(about, ABOUT, differences=(Mismatch(Aspect.CATALOG),), notes=notes, pairs=(pair,))
    page = page_text(
        small_run(),
        gate=GateResult(
            about,
            (GateCheck(text, Verdict.REGRESSION, NewOverflows((text,)), arm=ArmName("", text)),),
            Limits(),
            comparison,
        ),
    )
    plain = page_text(small_run(), gate=GateResult(ABOUT, CHECKS[-1:], Limits(), WITHIN))
    page.encode("utf-8")
    assert {one.tag for one in Read.of(page).elements} == {one.tag for one in Read.of(plain).elements}
    assert not [character for character in UNSAFE.findall(page) if character not in "\n\t"]
