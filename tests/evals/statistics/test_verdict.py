"""Verdicts (rule E7), as a table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.statistics.verdict import Verdict, holm, judge


@pytest.mark.parametrize(
    ("low", "high", "adjusted_p", "margin", "verdict"),
    [
        pytest.param(-0.01, 0.03, 1.0, 0.02, Verdict.NO_REGRESSION, id="loss-within-the-margin-is-none"),
        pytest.param(-0.019, -0.001, 0.001, 0.02, Verdict.NO_REGRESSION, id="certain-loss-within-the-margin-is-none"),
        pytest.param(-0.02, 0.03, 1.0, 0.02, Verdict.INSUFFICIENT_DATA, id="just-the-margin-is-not-ruled-out"),
        pytest.param(-0.1, -0.03, 0.01, 0.02, Verdict.REGRESSION, id="certain-loss-beyond-the-margin"),
        pytest.param(-0.1, -0.01, 0.01, 0.02, Verdict.REGRESSION, id="certain-loss-perhaps-within-the-margin"),
        pytest.param(-0.1, -0.03, 0.05, 0.02, Verdict.INSUFFICIENT_DATA, id="p-of-just-the-level-is-not-enough"),
        pytest.param(-0.1, 0.0, 0.01, 0.02, Verdict.INSUFFICIENT_DATA, id="an-interval-up-to-0-is-not-enough"),
        pytest.param(-0.1, 0.1, 0.9, 0.02, Verdict.INSUFFICIENT_DATA, id="wide"),
        pytest.param(0.01, 0.05, 0.01, 0.0, Verdict.NO_REGRESSION, id="better-without-a-margin"),
        pytest.param(0.0, 0.0, 1.0, 0.0, Verdict.INSUFFICIENT_DATA, id="no-difference-without-a-margin"),
    ],
)
def test_E7_verdict(low: float, high: float, adjusted_p: float, margin: float, verdict: Verdict) -> None:
    assert judge(low, high, adjusted_p, margin) is verdict


@given(st.floats(-1, 1), st.floats(0, 2), st.floats(0, 1), st.floats(0, 1))
def test_E7_a_greater_margin_makes_no_verdict_worse(low: float, width: float, p: float, margin: float) -> None:
    if judge(low, low + width, p, margin) is Verdict.NO_REGRESSION:
        assert judge(low, low + width, p, margin + 0.1) is Verdict.NO_REGRESSION


@pytest.mark.parametrize(
    ("low", "high", "p", "margin"),
    [
        (0.1, 0.0, 0.5, 0),
        (math.nan, 1, 0.5, 0),
        (0, 1, 1.1, 0),
        (0, 1, math.nan, 0),
        (0, 1, 0.5, -0.1),
        (0, 1, 0.5, math.inf),
    ],
)
def test_E7_a_verdict_wants_an_interval_a_p_value_and_a_margin(
    low: float, high: float, p: float, margin: float
) -> None:
    with pytest.raises(ValueError):
        judge(low, high, p, margin)


PS = st.lists(st.floats(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("given_ps", "expected"),
    [
        # By hand: the smallest times all, the next times one fewer.
        pytest.param((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02), id="in-any-order"),
        pytest.param((0.01, 0.02, 0.03, 0.04, 0.05), (0.05, 0.08, 0.09, 0.09, 0.09), id="never-falls"),
        # p.adjust(…, "holm") of R and multipletests(…, "holm") of statsmodels 0.15 give the same.
        pytest.param(
            (0.0001, 0.0058, 0.0132, 0.0289, 0.0498, 0.0911, 0.2012, 0.5718, 0.8912, 0.9011),
            (0.001, 0.0522, 0.1056, 0.2023, 0.2988, 0.4555, 0.8048, 1.0, 1.0, 1.0),
            id="ten-as-statsmodels-has-them",
        ),
        pytest.param((0.6, 0.7), (1.0, 1.0), id="at-most-1"),
        pytest.param((0.03,), (0.03,), id="one-is-as-it-is"),
        pytest.param((), (), id="none"),
    ],
)
def test_E7_holm(given_ps: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert holm(given_ps) == pytest.approx(expected)


@given(PS)
def test_E7_holm_is_between_the_raw_value_and_bonferroni_and_keeps_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= a <= min(1.0, len(ps) * p) for p, a in zip(ps, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i in range(len(ps)) for j in range(len(ps)) if ps[i] <= ps[j])


def test_E7_holm_keeps_the_chance_of_any_false_alarm() -> None:
    rng = np.random.default_rng(11)
    alarms = sum(min(holm(list(ps))) < 0.05 for ps in rng.random((4_000, 8)))
    assert 0.035 * 4_000 < alarms < 0.065 * 4_000


@pytest.mark.parametrize("ps", [(0.1, -0.1), (1.2,), (float("nan"),)])
def test_E7_holm_refuses_what_is_no_p_value(ps: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        holm(ps)
