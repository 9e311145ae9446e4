"""Verdicts, and that none rests on what was not scored: by hand, by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import Written, rounded_reasons, side
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_arms
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.comparison.reasons import (
    CountedAs,
    MissingFigures,
    Reason,
    TooFewCases,
    UncertainLoss,
    UnscoredCases,
)
from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.verdict import Verdict, holm, judge

SHARES = (Measure.ACCURACY, Measure.SOLVED)
MISSING = "eo."
OTHERS_UNSCORED = UnscoredCases(0, 60, 1, CountedAs.WON, 0, 0.02, adjusted_p=0.0625)


def unscored(cases: int, planned: int, counted_as: CountedAs, **bound: float) -> tuple[Reason, ...]:
    return (UnscoredCases(cases, planned, 1, counted_as, 0, 0.02, **bound),)


def contrast(old: Written, new: Written, margin: float = 0.02, measure: Measure = Measure.ACCURACY) -> Contrast:
    (pair,) = compare_arms(old, new, pair_arms(old.arms, new.arms), margin=margin, measures=[measure]).pairs
    return pair.contrast(measure)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "reasons"),
    [
        pytest.param("+" * 400, "+" * 400, "no_regression", (), id="nothing-changed"),
        pytest.param("+" * 400, "-" * 20 + "+" * 380, "regression", (), id="much-was-lost"),
        pytest.param(
            "+" * 20,
            "+" * 20,
            "insufficient_data",
            (TooFewCases(-0.161, 0.161, 0.02, 20, is_unfinished=False),),
            id="20-cases-say-little",
        ),
        pytest.param(
            "+" * 400,
            "+" * 396 + "e.eo",
            "insufficient_data",
            unscored(4, 400, CountedAs.LOST, bound=-0.025),
            id="a-case-that-no-longer-fits-is-lost-as-others-are",
        ),
        pytest.param(
            "+" * 400,
            "+" * 396 + "e.e.",
            "insufficient_data",
            unscored(4, 400, CountedAs.LOST, bound=-0.025),
            id="lost-trials-may-have-been-a-loss",
        ),
        pytest.param(
            "-" * 396 + "e.e.",
            "-" * 400,
            "insufficient_data",
            unscored(4, 400, CountedAs.LOST, bound=-0.025),
            id="what-the-old-arm-lost-may-have-been-right",
        ),
        pytest.param("+" * 396 + "e.o.", "+" * 400, "no_regression", (), id="what-is-right-now-cannot-be-a-loss"),
        pytest.param(
            "+" * 50,
            "-" * 10 + "+" * 36 + "e" * 4,
            "regression",
            (),
            id="lost-trials-do-not-hide-a-loss-that-is-certain",
        ),
        pytest.param(
            "+" * 40 + "-" * 4 + "+" * 6,
            "-" * 8 + "+" * 32 + "...." + "+" * 6,
            "insufficient_data",
            unscored(4, 50, CountedAs.WON, bound=0.062),
            id="lost-trials-may-have-been-gains",
        ),
        pytest.param(
            "+" * 20 + ".",
            "-" * 7 + "+" * 14,
            "insufficient_data",
            unscored(1, 21, CountedAs.WON, adjusted_p=0.07),
            id="one-lost-trial-may-have-been-a-gain",
        ),
        pytest.param("e" * 9, "+" * 9, "insufficient_data", (MissingFigures.NO_SHARED_CASES,), id="nothing-scored"),
        pytest.param("+e", "e+", "insufficient_data", (MissingFigures.NO_SHARED_CASES,), id="nothing-in-both"),
        pytest.param("+" * 600, "+" * 599 + "o", "no_regression", (), id="the-share-is-of-the-cases-that-fit"),
        pytest.param("++", "oo", "insufficient_data", (MissingFigures.NO_SHARED_CASES,), id="nothing-left"),
        pytest.param("+" * 600, "+" * 599 + "e", "no_regression", (), id="one-lost-trial-of-many-cannot-matter"),
    ],
)
def test_E7_verdicts_and_why_they_are_no_better(old: str, new: str, verdict: str, reasons: tuple[Reason, ...]) -> None:
    judged = contrast(side(old), side(new))
    assert (judged.verdict, rounded_reasons(judged)) == (verdict, reasons)


def test_E7_cases_that_neither_side_has_read_are_counted() -> None:
    unread = contrast(side("+" * 400 + "." * 4, cases=404), side(["+"] * 400 + [""] * 4, cases=404))
    assert (unread.cases, rounded_reasons(unread)) == (400, unscored(4, 404, CountedAs.LOST, bound=-0.025))
    assert contrast(side("+" * 400, cases=404), side("+" * 400, cases=404)).reasons == unread.reasons


def test_E7_epochs_are_lost_one_by_one() -> None:
    old, new = side(["++"] * 40), side(["++"] * 36 + ["+."] * 4)
    judged = contrast(old, new, margin=0.1)
    assert (judged.cases, judged.new, judged.verdict) == (40, 1, Verdict.INSUFFICIENT_DATA)
    low = paired_difference([[(1, 1)]] * 36 + [[(0.5, 1)]] * 4).low
    (reason,) = judged.reasons
    assert reason == UnscoredCases(4, 40, 2, CountedAs.LOST, 0, 0.1, bound=low)
    assert contrast(old, new, margin=0.2).verdict is Verdict.NO_REGRESSION


def test_E5_an_uncovered_trial_and_one_with_wrong_arguments() -> None:
    old, new = side("++++"), side("uaa+")
    accuracy, solved = contrast(old, new), contrast(old, new, measure=Measure.SOLVED)
    assert (accuracy.old, accuracy.new, solved.old, solved.new) == (1, 0.75, 1, 0.25)


def test_E7_holm_is_over_all_verdicts_of_the_call() -> None:
    old = side(*["+" * 39 + "a"] * 3)
    new = side("-" * 7 + "+" * 32 + "a", "-" * 6 + "+" * 33 + "a", "a" * 9 + "+" * 30 + "a")
    comparison = compare_arms(old, new, pair_arms(old.arms, new.arms), measures=tuple(Measure))
    contrasts = [pair.contrast(measure) for pair in comparison.pairs for measure in SHARES]
    assert [one.adjusted_p for one in contrasts] == list(holm([one.p_value or 0 for one in contrasts]))
    assert [str(one.verdict) for one in contrasts] == ["insufficient_data"] * 5 + ["regression"]
    adjusted = contrasts[0].adjusted_p or 0.0
    assert adjusted == pytest.approx(0.078, abs=1e-3)
    assert contrasts[0].reasons == (UncertainLoss(contrasts[0].p_value, adjusted, 6),)
    alone = compare_arms(old, new, pair_arms(old.arms, new.arms), measures=[Measure.ACCURACY])
    assert alone.pairs[0].contrast(Measure.ACCURACY).verdict is Verdict.REGRESSION


def test_E7_shares_that_are_the_same_in_every_trial_are_one_hypothesis() -> None:
    def tests(old: str, new: str) -> list[float | None]:
        pairing = pair_arms(side(old).arms, side(new).arms)
        contrasts = compare_arms(side(old), side(new), pairing, measures=SHARES).pairs[0].contrasts
        assert [one.measure for one in contrasts] == list(SHARES)
        return [one.adjusted_p and one.adjusted_p / (one.p_value or 1) for one in contrasts]

    assert tests("+" * 40, "-" * 6 + "+" * 34) == [1, 1]
    assert tests("+" * 39 + "a", "-" * 6 + "+" * 33 + "a") == [2, 2], "equal p values of other trials"
    assert tests("+" * 39 + "e", "-" * 6 + "+" * 33 + "a") == [2, 2], "a trial that is scored in one arm alone"


def test_E7_what_another_arm_lost_lifts_none_over_the_threshold() -> None:
    # The second arm's p value of 0.031 is small enough only after the first one's, which is smaller.
    whole, lost = side("+" * 60, "+" * 60), side("+" * 12 + "." * 40 + "+" * 8, "+" * 60)
    new = side("-" * 12 + "+" * 48, "-" * 6 + "+" * 54)
    pairing = pair_arms(whole.arms, new.arms)
    told = [
        [pair.contrast(Measure.ACCURACY) for pair in compare_arms(old, new, pairing, measures=[Measure.ACCURACY]).pairs]
        for old in (whole, lost)
    ]
    assert [one.verdict for one in told[0]] == [Verdict.REGRESSION] * 2
    assert [one.verdict for one in told[1]] == [Verdict.INSUFFICIENT_DATA] * 2
    assert told[1][1].reasons == (OTHERS_UNSCORED,)


def test_E7_an_arm_of_which_nothing_is_scored_makes_no_other_surer() -> None:
    old = side("+" * 40, "+" * 40)
    comparison = compare_arms(
        old, side("-" * 6 + "+" * 34, "e" * 40), Pairing(((0, 0), (1, 1))), measures=[Measure.ACCURACY]
    )
    one, other = (pair.contrast(Measure.ACCURACY) for pair in comparison.pairs)
    assert (other.p_value, other.adjusted_p, other.reasons) == (None, None, (MissingFigures.NO_SHARED_CASES,))
    assert (one.adjusted_p, one.verdict) == (one.p_value, Verdict.INSUFFICIENT_DATA)
    assert one.reasons == (replace(OTHERS_UNSCORED, planned=40),)


CASES = st.lists(st.tuples(st.sampled_from("+-+-e."), st.sampled_from("+-+-e.")), min_size=6, max_size=24)


@settings(max_examples=50, deadline=None)
@given(CASES, st.sampled_from([0.0, 0.1, 0.3, 0.5]), st.integers(0, 2))
def test_E7_a_verdict_holds_however_the_lost_trials_would_have_gone(
    cases: list[tuple[str, str]], margin: float, unread: int
) -> None:
    old, new = "".join(one for one, _ in cases) + "." * unread, "".join(other for _, other in cases) + "." * unread
    judged = contrast(side(old), side(new), margin)
    worst = contrast(side(fill(old, "+")), side(fill(new, "-")), margin)
    best = contrast(side(fill(old, "-")), side(fill(new, "+")), margin)
    known = [(one, other) for one, other in cases if not {one, other} & set(MISSING)]
    seen = Verdict.INSUFFICIENT_DATA
    if known:
        alone = contrast(side(one for one, _ in known), side(other for _, other in known), margin)
        assert (judged.low, judged.high, judged.p_value) == (alone.low, alone.high, alone.p_value)
        assert alone.verdict is not None
        seen = alone.verdict
    if seen is Verdict.NO_REGRESSION and worst.verdict is not Verdict.NO_REGRESSION:
        seen = Verdict.INSUFFICIENT_DATA
    if seen is Verdict.REGRESSION and not (best.high is not None and best.high < 0 and (best.p_value or 0) < 0.05):
        seen = Verdict.INSUFFICIENT_DATA
    assert judged.verdict is seen
    assert bool(judged.reasons) == (judged.verdict is Verdict.INSUFFICIENT_DATA)


@pytest.mark.parametrize("margin", [0.1, 0.3])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+" * 30, "+" * 26 + "...."),
        ("-" * 3 + "+" * 25 + "..", "." * 2 + "-" + "+" * 25 + "+."),
        ("+" * 20, "-" * 16 + "...."),
        ("+" * 13 + "-...", "-" * 13 + "+..+"),
    ],
    ids=["all-was-kept", "little-is-known", "much-was-lost", "lost-on-both-sides"],
)
def test_E7_no_way_the_lost_trials_may_have_gone_contradicts_a_verdict(old: str, new: str, margin: float) -> None:
    verdict = contrast(side(old), side(new), margin).verdict
    verdicts = {
        contrast(side(one), side(other), margin).verdict for one, other in product(every_way(old), every_way(new))
    }
    if verdict is not Verdict.INSUFFICIENT_DATA:
        assert verdicts == {verdict}


def fill(trials: str, outcome: str) -> str:
    return "".join(outcome if trial in MISSING else trial for trial in trials)


def every_way(trials: str) -> list[str]:
    lost = sum(trial in MISSING for trial in trials)
    ways = []
    for outcomes in product("+-", repeat=lost):
        chosen = iter(outcomes)
        ways.append("".join(next(chosen) if trial in MISSING else trial for trial in trials))
    return ways


@pytest.mark.parametrize(
    ("old", "new", "margin", "bound"),
    [
        pytest.param("+" * 187, "+" * 187, 0.02, "-2.01", id="too-few"),
        pytest.param(
            "+" * 400,
            "+" * 396 + "e.e.",
            0.0254,
            "-2.543",
            id="unscored",
        ),
    ],
)
def test_no_reason_rounds_a_bound_to_the_margin(old: str, new: str, margin: float, bound: str) -> None:
    (reason,) = contrast(side(old), side(new), margin).reasons
    assert mentions(describe_reason(reason), bound)


def test_a_contrast_is_judged_as_rule_E7_has_it() -> None:
    judged = contrast(side("+" * 90 + "-" * 10), side("+" * 80 + "-" * 20), margin=0.05)
    assert judged.low is not None
    assert judged.high is not None
    assert judged.adjusted_p is not None
    assert judged.verdict is judge(judged.low, judged.high, judged.adjusted_p, 0.05)
