"""Holm's adjustment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.statistics.multiplicity import holm

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
