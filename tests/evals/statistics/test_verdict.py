"""Verdicts (rule E7), as a table."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.statistics.verdict import Verdict, judge


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
