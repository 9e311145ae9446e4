"""A prompt that does not fit is no missing observation: it would not fit again (rules E4 and E7)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import Written, rounded_reasons, side
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.comparison.reasons import CasesNote, CasesProblem, CountedAs, Reason, UnscoredCases
from toolbelt.evals.statistics.verdict import Verdict

PASS, FAIL, UNSURE = Verdict.NO_REGRESSION, Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA


def held(old: Written, new: Written, margin: float) -> Comparison:
    return compare_arms(old, new, pair_arms(old.arms, new.arms), margin=margin, measures=[Measure.ACCURACY])


def contrast(old: Written, new: Written, margin: float) -> Contrast:
    return held(old, new, margin).pairs[0].contrast(Measure.ACCURACY)


def test_E4_an_arm_that_overflows_as_before_passes_against_itself() -> None:
    arm = side("+" * 150 + "-" * 37 + "o" * 13)
    found = held(arm, arm, 0.05)
    told = found.pairs[0].contrast(Measure.ACCURACY)
    assert (told.verdict, told.reasons, told.cases) == (PASS, (), 187)
    assert CasesNote(CasesProblem.NEVER_FIT, 13, 1, 1) in found.notes
    assert (told.low, told.high) == pytest.approx((-0.0201, 0.0201), abs=2e-4), "of the 187, as if there were no others"


@pytest.mark.parametrize(
    ("old", "new", "verdict", "reason"),
    [
        pytest.param(
            "+" * 187 + "o" * 13,
            "+" * 177 + "e" * 10 + "o" * 13,
            UNSURE,
            UnscoredCases(10, 200, 1, CountedAs.LOST, 13, 0.05, bound=-0.096),
            id="errors-stay-in-doubt-and-what-never-fits-dilutes-them-not",
        ),
        pytest.param("+" * 187 + "o" * 13, "+" * 187 + "-" * 13, PASS, None, id="there-was-nothing-to-lose"),
        pytest.param(
            "o" * 20 + "+" * 60,
            "+" * 20 + "-" * 8 + "+" * 52,
            UNSURE,
            UnscoredCases(20, 80, 1, CountedAs.WON, 0, 0.05, bound=0.277),
            id="what-fits-now-may-outweigh-a-loss",
        ),
        pytest.param(
            "o" * 20 + "+" * 60,
            "o" * 20 + "-" * 8 + "+" * 52,
            FAIL,
            None,
            id="what-fits-in-neither-hides-no-loss",
        ),
        pytest.param(
            "e" * 13 + "+" * 187,
            "o" * 13 + "+" * 187,
            UNSURE,
            UnscoredCases(13, 200, 1, CountedAs.LOST, 0, 0.05, bound=-0.108),
            id="it-may-have-fitted-before",
        ),
    ],
)
def test_E4_what_bounds_make_of_prompts_that_do_not_fit(
    old: str, new: str, verdict: Verdict, reason: Reason | None
) -> None:
    judged = contrast(side(old), side(new), 0.05)
    assert (judged.verdict, rounded_reasons(judged)) == (verdict, () if reason is None else (reason,))


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param("+o", "+o", PASS, id="the-same-epoch"),
        pytest.param("+o", "o+", PASS, id="another-epoch-stands-for-it"),
        pytest.param("+oo", "+o+", PASS, id="fewer-do-not-fit"),
        pytest.param("++o", "+oo", UNSURE, id="more-do-not-fit"),
        pytest.param("+o", "oo", UNSURE, id="none-fits-any-more"),
        pytest.param("+o", "+e", UNSURE, id="an-error-is-no-overflow"),
    ],
)
def test_E4_epochs_of_a_case_stand_for_each_other(old: str, new: str, verdict: Verdict) -> None:
    whole = ["+" * len(old)] * 150
    assert contrast(side([*whole, *[old] * 30]), side([*whole, *[new] * 30]), 0.05).verdict is verdict


TRIALS = st.lists(st.tuples(st.sampled_from("+-e."), st.sampled_from("+-e.")), min_size=6, max_size=20)


@settings(max_examples=40, deadline=None)
@given(TRIALS, st.integers(0, 6), st.sampled_from([0.1, 0.3, 0.5]), st.integers(1, 2))
def test_E4_cases_that_fit_in_neither_arm_change_no_verdict(
    trials: list[tuple[str, str]], never: int, margin: float, epochs: int
) -> None:
    def arm(place: int, more: int) -> Written:
        return side([*(trial[place] * epochs for trial in trials), *["o" * epochs] * more])

    with_them, without = (contrast(arm(0, more), arm(1, more), margin) for more in (never, 0))
    assert (with_them.verdict, with_them.low, with_them.high, with_them.adjusted_p) == (
        without.verdict,
        without.low,
        without.high,
        without.adjusted_p,
    )
    assert len(with_them.reasons) == len(without.reasons)
