"""An arm that newly overflows has regressed; its shares are judged by the cases that fit (rules E4 and E7)."""

from __future__ import annotations

import pytest

from tests.evals.analysis.comparison.samples import RUN, TIERED, UNSURE, make_comparison, make_pair, with_accuracy
from tests.evals.analysis.comparison.sides import side
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, FitCounts, Measure
from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.pairs import pair_values
from toolbelt.evals.views.comparison import comparison_view
from toolbelt.evals.views.comparison_text import conclusion, reason_lines
from toolbelt.render.markdown import render_markdown

SUMMARY = RunSummary(RUN.name, "2026-01-01T12:00:00Z", "finished", "assistant", "sha256:1", cases=600)
PAIR = make_pair(newly_overflowing=("big-1", "big-2"))
OPEN = with_accuracy(PAIR, **UNSURE)


def compared(old: str, new: str) -> tuple[Comparison, ArmComparison]:
    one, other = side(old), side(new)
    comparison = compare_arms(one, other, pair_arms(one.arms, other.arms))
    return comparison, comparison.pairs[0]


@pytest.mark.parametrize("fitting", [291, 2])
def test_E4_the_arms_have_regressed_and_no_share_has_an_upper_bound_above_0_and_a_regression(fitting: int) -> None:
    _, pair = compared("+" * (fitting + 9), "+" * fitting + "o" * 9)
    accuracy = pair.contrast(Measure.ACCURACY)
    assert pair.verdict is Verdict.REGRESSION
    assert accuracy.verdict is Verdict.INSUFFICIENT_DATA
    assert accuracy.high is not None
    assert accuracy.high >= 0


def test_E4_without_an_overflow_the_arms_are_judged_by_the_first_share() -> None:
    solved = make_pair(contrasts=(Contrast(Measure.SOLVED, verdict=Verdict.INSUFFICIENT_DATA),))
    assert (make_pair().verdict, solved.verdict) == (Verdict.NO_REGRESSION, Verdict.INSUFFICIENT_DATA)
    assert make_pair(contrasts=()).verdict is None


def test_E4_every_view_shows_the_arms_as_regressed() -> None:
    comparison = make_comparison(PAIR, make_pair(new=TIERED))
    assert [pair["verdict"] for pair in comparison_data(comparison)["pairs"]] == ["regression", "no_regression"]
    assert comparison_data(comparison)["contrasts"][0]["verdict"] == "no_regression"
    assert conclusion(comparison) == "Not worse: tiered; too long: loadout."
    view = comparison_view(comparison)
    assert any(mentions(line, "loadout", "29.0%", "| too long |") for line in render_markdown(view).splitlines())
    assert [pair["badge"]["tone"] for pair in pair_values(comparison, SUMMARY)] == ["bad", "good"]


def test_E7_why_the_share_of_the_rest_is_open_is_told_beside_the_overflow() -> None:
    assert any(mentions(line, "accuracy", "-4.1", "+3.7") for line in reason_lines(OPEN))


def test_no_number_of_cases_is_advised_for_an_arm_that_no_longer_fits() -> None:
    assert conclusion(make_comparison(OPEN)) == "Too long: loadout."


def test_E4_of_how_many_cases_it_is_known_whether_they_still_fit() -> None:
    one, other = side(["++", "+o", "e+", "++", "++", "oo", "ee"]), side(["++", "++", "+e", "+.", "+o", "++", "++"])
    (pair,) = compare_arms(one, other, pair_arms(one.arms, other.arms)).pairs
    assert pair.fit == FitCounts(before=4, answered=2, unrun=1, gained=2)
    assert pair.newly_overflowing == ("c4",)
