"""What is advised where answers are missing, or where no case differed (rule E7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.comparison.sides import side
from toolbelt.evals.analysis.comparison.advice import advice, common_advice, wanted_cases
from toolbelt.evals.analysis.comparison.compare import compare
from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.data import comparison_data
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.comparison.wording import sentence
from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.planning import cases_for_margin
from toolbelt.evals.statistics.verdict import Verdict


def compared(old: str, new: str, clusters: list[str] | None = None) -> Comparison:
    one, other = side(old, clusters=clusters), side(new, clusters=clusters)
    return compare(one, other, pair_arms(one.arms, other.arms), measures=[Measure.ACCURACY])


def accuracy(old: str, new: str, clusters: list[str] | None = None) -> Contrast:
    return compared(old, new, clusters).pairs[0].contrast(Measure.ACCURACY)


KILLED = ("+" * 7 + "-" + "+" * 172, "+" * 8 + "." * 172)


def test_E7_a_killed_run_is_to_be_finished_before_more_cases_are_asked() -> None:
    found = accuracy(*KILLED)
    assert (found.cases, found.planned, found.unanswered) == (8, 180, 172)
    assert wanted_cases(found) is None
    assert advice(found) == "172 of 180 cases lack an answer: first toolbelt eval resume --retry-errors"
    assert found.reasons[0].startswith("Too few of 180 cases are answered yet: ")


def test_E7_the_sentence_says_over_how_many_cases_its_figures_are() -> None:
    killed = compared(*KILLED)
    said = sentence(killed, killed.pairs[0])
    assert "(95% interval, over 8 of 180 cases); 172 of 180 cases lack an answer: first toolbelt" in said
    passing = compared("+" * 600, "+" * 598 + "ee")
    assert "is not worse than" in sentence(passing, passing.pairs[0])
    assert "over 598 of 600 cases" in sentence(passing, passing.pairs[0])


@pytest.mark.parametrize(
    ("old", "new", "says_answers", "says_cases"),
    [
        pytest.param("+" * 100, "+" * 97 + "eee", False, True, id="a-few-errors-are-not-what-is-wanting"),
        pytest.param("+" * 100, "+" * 90 + "e" * 10, True, False, id="many-errors"),
        pytest.param("+" * 100, "+" * 90 + "o" * 10, False, True, id="what-does-not-fit-is-not-to-be-asked-again"),
        pytest.param("+" * 400, "+" * 396 + "eeee", True, False, id="few-errors-that-alone-keep-the-verdict-open"),
        pytest.param("e" * 9, "+" * 9, True, False, id="nothing-scored"),
        pytest.param("+" * 20, "+" * 20, False, True, id="all-answered"),
        pytest.param("+" * 400, "+" * 400, False, False, id="the-verdict-stands"),
    ],
)
def test_E7_answers_first_then_cases(old: str, new: str, says_answers: bool, says_cases: bool) -> None:
    said = advice(accuracy(old, new))
    assert (("resume" in said), ("cases would do" in said)) == (says_answers, says_cases), said


def test_one_advice_for_several() -> None:
    killed, few = accuracy(*KILLED), accuracy("+" * 30, "+" * 30)
    assert common_advice([killed, few, few]) == (
        "172 of 180 cases lack an answer for 1 of 3: first toolbelt eval resume --retry-errors; "
        f"{advice(few).replace('do if', 'do for 2 of 3 if')}"
    )


@pytest.mark.parametrize("cases", [20, 30, 150, 188])
def test_E7_where_no_case_differed_it_is_as_many_as_do_if_none_does(cases: int) -> None:
    wanted = wanted_cases(accuracy("+" * cases, "+" * cases))
    assert wanted == 189
    alike = [paired_difference([((1, 1),)] * n) for n in (wanted - 1, wanted)]
    assert alike[0].low <= -0.02 < alike[1].low


def test_E7_both_numbers_are_told_where_no_case_differed() -> None:
    found = accuracy("+" * 30, "+" * 30)
    assert found.low is not None
    allowed = cases_for_margin(0.02, (found.low / 1.96) ** 2 * 30)
    assert allowed is not None
    assert (
        advice(found)
        == f"about 190 cases would do if none flips, {-(-allowed // 100) * 100:,} if as many do as these allow"
    )


def test_E7_cases_that_cancel_out_are_no_cases_alike() -> None:
    found = accuracy("+-" + "+" * 28, "-+" + "+" * 28)
    assert (found.difference, found.differing) == (0, 2)
    assert "if none flips" not in advice(found)
    both = common_advice([found, accuracy("+" * 30, "+" * 30)])
    assert both.endswith("cases would do for both")


def test_E7_of_clusters_alike_it_is_as_many_cases_as_make_clusters_enough() -> None:
    clusters = [f"k{number // 2}" for number in range(60)]
    found = accuracy("+" * 60, "+" * 60, clusters)
    wanted = wanted_cases(found)
    assert wanted is not None
    assert wanted == pytest.approx(2 * 189, rel=0.1)
    more = [((1, 1), (1, 1))] * -(-wanted // 2)
    assert -0.02 < paired_difference(more).low < -0.018, "a few more, as few clusters have a wider interval"


def test_E7_no_number_helps_where_no_case_differed_and_nothing_may_be_lost() -> None:
    found = accuracy("+" * 30, "+" * 30)
    assert wanted_cases(replace(found, verdict=Verdict.INSUFFICIENT_DATA), 0.0) is None


def test_S9_a_p_value_is_told_alone_and_among_the_others() -> None:
    old = side(*["+" * 40] * 3)
    new = side("-" * 6 + "+" * 34, "-" * 5 + "+" * 35, "+" * 40)
    found = compare(old, new, pair_arms(old.arms, new.arms), measures=[Measure.ACCURACY])
    one, other, _ = (pair.contrast(Measure.ACCURACY).reasons for pair in found.pairs)
    chance = "among 3 verdicts it may be chance (adjusted: 0.094)"
    assert one == (f"A loss is likely but not certain: alone its p value would be 0.031; {chance}.",)
    assert other == ("A loss is likely but not certain: the p value is 0.062 (adjusted over 3 verdicts: 0.12).",)


def test_the_data_say_how_many_cases_were_planned() -> None:
    first = comparison_data(compared(*KILLED))["contrasts"][0]
    assert (first["cases"], first["planned"]) == (8, 180)
