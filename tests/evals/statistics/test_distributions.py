"""scipy.special, held against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from toolbelt.evals.statistics.distributions import (
    binomial_cdf,
    binomial_pmf,
    chance_below_zero,
    last_in_tail,
    mcnemar_p,
    student_quantile,
)


@given(st.integers(0, 400), st.integers(0, 400))
def test_E7_mcnemar_is_the_binomial_test_of_the_pairs_that_differ(better: int, worse: int) -> None:
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert mcnemar_p(better, worse) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [
        # Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91: two examples, and by hand.
        pytest.param(1, 7, 0.0703, id="airways-before-and-after"),
        pytest.param(6, 16, 0.0525, id="response-before-and-after"),
        # Fay, "Exact McNemar's Test and Matching Confidence Intervals" (vignette of the R package exact2x2).
        pytest.param(9, 2, 0.06543, id="nine-against-two"),
        pytest.param(0, 5, 0.0625, id="five-of-five-is-not-enough"),
        pytest.param(0, 6, 0.03125, id="six-of-six-is"),
    ],
)
def test_E7_mcnemar_agrees_with_published_values(better: int, worse: int, expected: float) -> None:
    assert mcnemar_p(better, worse) == pytest.approx(expected, abs=5e-5)


def test_E7_mcnemar_refuses_what_is_no_count() -> None:
    with pytest.raises(ValueError, match="no counts"):
        mcnemar_p(-1, 3)


@pytest.mark.parametrize("degrees", [1, 4, 29, 1000])
def test_quantiles_of_student(degrees: int) -> None:
    assert student_quantile(0.95, degrees) == pytest.approx(stats.t.ppf(0.975, degrees))


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    # Student's table, as every textbook has it (Fisher and Yates 1938, table III): two-sided 5%.
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (60, 2.000), (120, 1.980)],
)
def test_quantiles_of_student_agree_with_the_published_table(degrees: int, quantile: float) -> None:
    assert student_quantile(0.95, degrees) == pytest.approx(quantile, abs=5e-4)


@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (40, 0.03), (3000, 0.2), (7, 1.0)])
def test_binomial_probabilities(n: int, share: float) -> None:
    counts = np.arange(n + 1)
    np.testing.assert_allclose(binomial_pmf(counts, n, share), stats.binom.pmf(counts, n, share), 1e-7, 1e-12)
    np.testing.assert_allclose(binomial_cdf(counts, n, share), stats.binom.cdf(counts, n, share), 1e-7, 1e-12)
    assert binomial_cdf(-1, n, share) == 0


@pytest.mark.parametrize("tail", [0.025, 0.05, 0.0005])
def test_the_last_count_in_a_tail_is_in_it_and_the_next_is_not(tail: float) -> None:
    n = np.arange(0, 3000)
    last = last_in_tail(n, tail)
    below = stats.binom.cdf(last, n, 0.5)
    assert (below[last >= 0] <= tail).all()
    assert (stats.binom.cdf(last + 1, n, 0.5) > tail).all()
    assert last[0] == -1


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(("few", "many"), [(1, 2), (1, 30), (4, 4), (6, 994)])
def test_a_weighted_sum_of_two_gammas_is_scipys_beta(few: int, many: int, share: float) -> None:
    # few / (few + many) is a beta variable: it is at least the quantile where its part of the sum is.
    quantile = stats.beta.isf(share, few, many)
    found = chance_below_zero(np.array([quantile, quantile - 1]), np.array([many, few], dtype=float))
    assert found == pytest.approx(share, rel=0.06)
    turned = chance_below_zero(np.array([-quantile, 1 - quantile]), np.array([many, few], dtype=float))
    assert found + turned == pytest.approx(1)


def test_a_weighted_sum_of_exponentials_is_what_is_drawn() -> None:
    rng = np.random.default_rng(1)
    weights = rng.normal(0.3, 1, 8)
    drawn = rng.exponential(size=(200_000, 8)) @ weights <= 0
    assert chance_below_zero(weights, np.ones(8)) == pytest.approx(drawn.mean(), rel=0.05)


def test_a_sum_is_never_below_zero_where_no_weight_is() -> None:
    ones = np.ones(3)
    assert chance_below_zero(np.array([0.0, 1.0, 2.0]), ones) == 0
    assert chance_below_zero(np.array([-1.0, 0.0, -2.0]), ones) == 1
    assert chance_below_zero(np.array([1.0, -2.0, 1.0]), ones) == pytest.approx(
        chance_below_zero(np.array([1.0, -2.0, 1.0 + 1e-4]), ones), abs=1e-4
    )
