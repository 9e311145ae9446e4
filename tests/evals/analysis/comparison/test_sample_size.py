"""How many cases would decide, against the planner, which knows nothing of intervals found (rule E7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.samples import ACCURACY
from tests.evals.analysis.comparison.sides import side
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.comparison.comparison_text import describe_advice, sentence
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.comparison.reasons import TooFewCases, UncertainLoss
from toolbelt.evals.analysis.comparison.sample_size import Advice, find_advice, is_too_few, wanted_cases
from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.planning import cases_for_difference, cases_for_margin
from toolbelt.evals.statistics.verdict import Verdict, judge


def _found(better: int, worse: int, cases: int, margin: float = 0.02) -> Contrast:
    """What comparing comes to, of single cases that are asked once."""
    alike = [((1, 1),)] * (cases - better - worse)
    difference = paired_difference([*[((1, 0),)] * better, *[((0, 1),)] * worse, *alike])
    verdict = judge(difference.low, difference.high, difference.p_value, margin)
    return replace(
        ACCURACY, difference=difference.difference, low=difference.low, high=difference.high,
        p_value=difference.p_value, adjusted_p=difference.p_value, verdict=verdict, cases=cases, clusters=cases,
    )  # fmt: skip


def _no_less(found: int | None, planned: int | None) -> bool:
    """As many as planned, or some more: the interval is a little wider than the cases that differ alone say."""
    return found is not None and planned is not None and planned <= found <= 1.2 * planned


@pytest.mark.parametrize(("better", "worse", "cases"), [(20, 20, 400), (33, 30, 300), (60, 60, 600)])
def test_E7_as_many_as_the_planner_says_for_the_cases_that_differ(better: int, worse: int, cases: int) -> None:
    assert _no_less(wanted_cases(_found(better, worse, cases)), cases_for_margin(0.02, (better + worse) / cases))


def test_E7_a_loss_found_is_taken_for_true() -> None:
    assert _no_less(wanted_cases(_found(20, 24, 600)), cases_for_margin(0.02, 44 / 600, effect=-4 / 600))


def test_E7_of_a_loss_beyond_the_margin_it_is_told_what_would_show_it() -> None:
    assert _no_less(wanted_cases(_found(6, 14, 200)), cases_for_difference(0.04, 0.1))


def test_E7_a_loss_has_to_be_seen_among_as_many_contrasts_as_there_were() -> None:
    alone = _found(10, 30, 400)
    assert alone.verdict is Verdict.REGRESSION
    assert alone.p_value is not None
    among = replace(alone, adjusted_p=58 * alone.p_value, verdict=Verdict.INSUFFICIENT_DATA)
    assert _no_less(wanted_cases(among), cases_for_difference(0.05, 0.1, level=1 - 0.05 / 58))


def test_E7_clusters_count_for_less_than_their_cases() -> None:
    single = _found(20, 20, 400)
    spread = 1.5 * (single.high - single.low) / 2  # type: ignore[operator]  # both are known
    clustered = replace(single, low=-spread, high=spread)
    assert wanted_cases(clustered) == pytest.approx(1.5**2 * wanted_cases(single), rel=0.05)  # type: ignore[operator]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="the-verdict-stands"),
        pytest.param({"verdict": Verdict.REGRESSION, "low": -0.3, "high": -0.2}, id="a-regression"),
        pytest.param({"verdict": Verdict.INSUFFICIENT_DATA}, id="unscored-trials-are-what-is-wanting"),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": None, "low": None, "high": None, "cases": 0},
            id="nothing-scored",
        ),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": -0.02, "low": -0.05, "high": 0.01},
            id="the-loss-is-just-the-margin",
        ),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": -0.0199, "low": -0.05, "high": 0.01},
            id="more-than-a-million",
        ),
    ],
)
def test_E7_no_number_where_none_helps(changes: dict[str, Any]) -> None:
    contrast = replace(ACCURACY, **changes)
    assert wanted_cases(contrast) is None
    assert describe_advice([contrast]) == ""


def test_no_margin_and_no_difference_takes_no_number_of_cases() -> None:
    contrast = replace(
        ACCURACY, verdict=Verdict.INSUFFICIENT_DATA, difference=0.0, low=-0.02, high=0.02, adjusted_p=1.0
    )
    assert is_too_few(contrast, 0.0)
    assert wanted_cases(contrast, 0.0) is None


def test_the_number_is_told_to_two_digits_and_never_too_small() -> None:
    contrast = _found(20, 20, 400)
    assert wanted_cases(contrast) == 2137
    assert describe_advice([contrast]) == "about 2,200 cases would decide"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param([(20, 20, 400), (0, 0, 2000)], "about 2,200 cases would decide", id="what-stands-wants-none"),
        pytest.param(
            [(20, 20, 400), (2, 2, 100)], "about 2,200 cases would decide for both", id="as-many-as-the-worst-takes"
        ),
        pytest.param([(20, 20, 400)] * 3, "about 2,200 cases would decide for all 3", id="all"),
        pytest.param([(20, 20, 400), (6, 8, 100)], "about 2,200 cases would decide for 1 of 2", id="some-past-help"),
        pytest.param([(0, 0, 2000)], "", id="none-is-wanted"),
    ],
)
def test_one_number_for_several(found: list[tuple[int, int, int]], said: str) -> None:
    assert describe_advice([_found(*one) for one in found]) == said


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 400), st.sampled_from([0.005, 0.02, 0.05]))
@settings(max_examples=40, deadline=None)
def test_E7_more_cases_than_there_were(better: int, worse: int, alike: int, margin: float) -> None:
    contrast = _found(better, worse, better + worse + alike, margin)
    wanted = wanted_cases(contrast, margin)
    assert wanted is None or wanted > contrast.cases
    assert (wanted is None) or contrast.verdict is Verdict.INSUFFICIENT_DATA


def compared(old: str, new: str, clusters: list[str] | None = None) -> Comparison:
    one, other = side(old, clusters=clusters), side(new, clusters=clusters)
    return compare_arms(one, other, pair_arms(one.arms, other.arms), measures=[Measure.ACCURACY])


def accuracy(old: str, new: str, clusters: list[str] | None = None) -> Contrast:
    return compared(old, new, clusters).pairs[0].contrast(Measure.ACCURACY)


KILLED = ("+" * 7 + "-" + "+" * 172, "+" * 8 + "." * 172)


def test_E7_a_killed_run_is_to_be_finished_before_more_cases_are_asked() -> None:
    judged = accuracy(*KILLED)
    assert (judged.cases, judged.planned, judged.unanswered) == (8, 180, 172)
    assert wanted_cases(judged) is None
    assert find_advice([judged]) == Advice(unsure=1, unanswered=172, planned=180, lacking=1)
    assert mentions(describe_advice([judged]), 172, 180, "toolbelt eval resume", "--retry-errors")
    assert isinstance(reason := judged.reasons[0], TooFewCases)
    assert (reason.planned, reason.is_unfinished) == (180, True)


def test_E7_the_sentence_says_over_how_many_cases_its_figures_are() -> None:
    killed = compared(*KILLED)
    said = sentence(killed, killed.pairs[0])
    assert mentions(said, "95%", "over 8 of 180", "172 of 180", "toolbelt")
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
    said = describe_advice([accuracy(old, new)])
    assert (("resume" in said), ("cases would decide" in said)) == (says_answers, says_cases), said


def test_one_advice_for_several() -> None:
    killed, few = accuracy(*KILLED), accuracy("+" * 30, "+" * 30)
    advice, alone = find_advice([killed, few, few]), find_advice([few])
    assert (advice.unsure, advice.unanswered, advice.planned, advice.lacking, advice.settled) == (3, 172, 180, 1, 2)
    assert (advice.cases, advice.cases_if_none_differs) == (alone.cases, alone.cases_if_none_differs)
    said = describe_advice([killed, few, few])
    assert mentions(said, "172 of 180", "1 of 3", "--retry-errors", "2 of 3")


@pytest.mark.parametrize("cases", [20, 30, 150, 188])
def test_E7_where_no_case_differed_it_is_as_many_as_do_if_none_does(cases: int) -> None:
    wanted = wanted_cases(accuracy("+" * cases, "+" * cases))
    assert wanted == 189
    alike = [paired_difference([((1, 1),)] * n) for n in (wanted - 1, wanted)]
    assert alike[0].low <= -0.02 < alike[1].low


def test_E7_both_numbers_are_told_where_no_case_differed() -> None:
    judged = accuracy("+" * 30, "+" * 30)
    assert judged.low is not None
    allowed = cases_for_margin(0.02, (judged.low / 1.96) ** 2 * 30)
    assert allowed is not None
    advice = find_advice([judged])
    assert (advice.unsure, advice.settled, advice.cases_if_none_differs) == (1, 1, 189)
    assert advice.cases == pytest.approx(allowed, rel=1e-3)
    assert mentions(describe_advice([judged]), 190, f"{-(-allowed // 100) * 100:,}"), "rounded up to two digits"


def test_E7_cases_that_cancel_out_are_no_cases_alike() -> None:
    judged = accuracy("+-" + "+" * 28, "-+" + "+" * 28)
    assert (judged.difference, judged.differing) == (0, 2)
    assert find_advice([judged]).cases_if_none_differs is None
    both = find_advice([judged, accuracy("+" * 30, "+" * 30)])
    assert (both.unsure, both.settled, both.cases_if_none_differs) == (2, 2, None)


def test_E7_of_clusters_alike_it_is_as_many_cases_as_make_clusters_enough() -> None:
    clusters = [f"k{number // 2}" for number in range(60)]
    judged = accuracy("+" * 60, "+" * 60, clusters)
    wanted = wanted_cases(judged)
    assert wanted is not None
    assert wanted == pytest.approx(2 * 189, rel=0.1)
    more = [((1, 1), (1, 1))] * -(-wanted // 2)
    assert -0.02 < paired_difference(more).low < -0.018, "a few more, as few clusters have a wider interval"


def test_E7_no_number_helps_where_no_case_differed_and_nothing_may_be_lost() -> None:
    judged = accuracy("+" * 30, "+" * 30)
    assert wanted_cases(replace(judged, verdict=Verdict.INSUFFICIENT_DATA), 0.0) is None


def test_S9_a_p_value_is_told_alone_and_among_the_others() -> None:
    old = side(*["+" * 40] * 3)
    new = side("-" * 6 + "+" * 34, "-" * 5 + "+" * 35, "+" * 40)
    comparison = compare_arms(old, new, pair_arms(old.arms, new.arms), measures=[Measure.ACCURACY])
    one, other, _ = (pair.contrast(Measure.ACCURACY).reasons for pair in comparison.pairs)
    assert one == (UncertainLoss(0.03125, 0.09375, 3),)
    assert other == (UncertainLoss(0.0625, 0.125, 3),)


def test_the_data_say_how_many_cases_were_planned() -> None:
    first = comparison_data(compared(*KILLED))["contrasts"][0]
    assert (first["cases"], first["planned"]) == (8, 180)
