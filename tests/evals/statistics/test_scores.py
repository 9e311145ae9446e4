"""The score interval of a paired difference: published values, its definition, and what it covers exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from toolbelt.evals.statistics.intervals import wilson_interval
from toolbelt.evals.statistics.scores import tango_interval

Z = 1.959963984540054
TABLES = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60)).filter(any)


@pytest.mark.parametrize(
    ("better", "worse", "n", "low", "high"),
    [
        # Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33, 2850-2875: their two examples.
        pytest.param(1, 7, 21, -0.517, -0.026, id="airways-before-and-after"),
        pytest.param(6, 16, 161, -0.124, -0.005, id="response-before-and-after"),
    ],
)
def test_E7_agrees_with_published_values(better: int, worse: int, n: int, low: float, high: float) -> None:
    assert tango_interval(better, worse, n, Z) == pytest.approx((low, high), abs=5e-4)


def test_E7_agrees_with_another_implementation() -> None:
    # scoreci.mp(25, 28, 618, 0.90) of the R package PropCIs (Scherer), whose difference is the second less the first.
    assert tango_interval(28, 25, 618, 1.6448536269514722) == pytest.approx((-0.0148, 0.0247), abs=5e-5)


@pytest.mark.parametrize("n", [1, 20, 300, 10_000])
def test_E7_where_nothing_differs_it_is_what_is_known_of_0_of_n(n: int) -> None:
    bound = wilson_interval(0, n)[1]
    assert tango_interval(0, 0, n, Z) == pytest.approx((-bound, bound))


@pytest.mark.parametrize(("better", "worse", "n"), [(1, 7, 21), (0, 3, 50), (40, 20, 160), (2, 2, 30), (30, 0, 31)])
def test_E7_a_bound_is_where_the_score_test_just_rejects(better: int, worse: int, n: int) -> None:
    for bound in tango_interval(better, worse, n, Z):
        # The likeliest shares under that difference, found by looking for them and by no formula.
        def unlikely(share: float, bound: float = bound) -> float:
            shares = np.array([share + bound, share, 1 - 2 * share - bound])
            counts = np.array([better, worse, n - better - worse])
            return -float(np.sum(counts * np.log(np.maximum(shares, 1e-300))))

        limits = (max(0.0, -bound) + 1e-12, (1 - bound) / 2 - 1e-12)
        share = optimize.minimize_scalar(unlikely, bounds=limits, method="bounded", options={"xatol": 1e-12}).x
        spread = math.sqrt(n * (2 * share + bound - bound * bound))
        assert abs(better - worse - n * bound) / spread == pytest.approx(Z, rel=1e-4)


@given(TABLES)
def test_E7_holds_the_difference_has_width_and_turns_round_with_the_arms(table: tuple[int, int, int]) -> None:
    better, worse, alike = table
    n = better + worse + alike
    low, high = tango_interval(better, worse, n, Z)
    assert -1 <= low <= (better - worse) / n <= high <= 1
    assert low < high
    assert tango_interval(worse, better, n, Z) == pytest.approx((-high, -low), abs=1e-12)


@pytest.mark.parametrize(
    ("better", "worse", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, 0), (math.nan, 0, 5), (0, 0, math.inf)]
)
def test_E7_refuses_what_are_no_counts_of_pairs(better: float, worse: float, n: float) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        tango_interval(better, worse, n, Z)


@pytest.mark.parametrize(("n", "most"), [(20, 0.03), (50, 0.03), (100, 0.027), (300, 0.0255)])
@pytest.mark.parametrize(("discordance", "loss"), [(0.05, 0.05), (0.05, 0.02), (0.1, 0.02), (0.2, 0.005), (0.3, 0.05)])
def test_E7_a_loss_of_just_the_margin_is_seldom_ruled_out(n: int, most: float, discordance: float, loss: float) -> None:
    # Summed over every table. Two-sided 95% means 2.5%; a score test is not exact, and misses by half a point of few.
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    better, worse = (discordance - loss) / 2, (discordance + loss) / 2
    chances = stats.binom.pmf(b, n, better) * stats.binom.pmf(c, n - b, worse / (1 - better))
    wrong = 0.0
    for i, j in np.argwhere(np.nan_to_num(chances) > 1e-7).tolist():
        if i - j > -n * loss:  # with no more found than that, the lower bound is below it for sure
            wrong += chances[i, j] * (tango_interval(i, j, n, Z)[0] > -loss)
    assert wrong <= most


@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize(
    ("discordance", "difference"),
    [
        pytest.param(0.01, 0.0, id="rare"),
        pytest.param(0.02, 0.02, id="rare-and-all-one-way"),
        pytest.param(0.05, 0.05, id="all-one-way"),
        pytest.param(0.1, 0.0, id="even"),
        pytest.param(0.1, 0.09, id="nearly-all-one-way"),
        pytest.param(0.2, -0.1, id="worse"),
        pytest.param(0.3, 0.0, id="many"),
    ],
)
def test_E7_covers_what_it_claims(n: int, discordance: float, difference: float) -> None:
    # Not drawn but summed, over every table but the unlikeliest, which are counted as missed.
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    better, worse = (discordance + difference) / 2, (discordance - difference) / 2
    chances = stats.binom.pmf(b, n, better) * stats.binom.pmf(c, n - b, worse / (1 - better))
    likely = np.argwhere(np.nan_to_num(chances) > 1e-5)
    covered = 0.0
    for i, j in likely.tolist():
        low, high = tango_interval(i, j, n, Z)
        covered += chances[i, j] * (low <= difference <= high)
    assert covered >= 0.93
