"""Drawing clusters, and turning arms round."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from toolbelt.evals.statistics import resampling
from toolbelt.evals.statistics.resampling import (
    expanded_tail,
    ratio_intervals,
    resampled_quantile,
    sign_flip_p,
    studentised_interval,
)

SEVERAL = np.array([[1.0, 2.0], [1.0, 2.0], [4.0, 2.0], [0.0, 2.0]])
UNLIKE = np.column_stack([np.random.default_rng(3).lognormal(0, 1, (400, 2)), np.ones(400)])
ALIKE = np.repeat(SEVERAL, 40, axis=0)


@pytest.mark.parametrize("rows", [SEVERAL, UNLIKE, ALIKE], ids=["few", "all-unlike", "many-alike"])
def test_E7_percentiles_are_those_of_samples_drawn_one_by_one(rows: np.ndarray) -> None:
    drawn = rows[np.random.default_rng(1).integers(len(rows), size=(8_000, len(rows)))].sum(axis=1)
    tail = expanded_tail(len(rows), 0.9)
    expected = np.quantile(drawn[:, 0] / drawn[:, 1], [tail, 1 - tail])
    (found,) = ratio_intervals([*rows.T], [(0, 1)], 0.9, 8_000, np.random.default_rng(2))
    assert found == pytest.approx(tuple(expected), abs=0.05 * (expected[1] - expected[0]))


@pytest.mark.parametrize("rows", [SEVERAL, UNLIKE, ALIKE], ids=["few", "all-unlike", "many-alike"])
def test_E7_one_seed_gives_one_interval_whatever_the_order(rows: np.ndarray) -> None:
    orders = (rows, rows[::-1], rows[np.random.default_rng(4).permutation(len(rows))])
    found = [ratio_intervals([*each.T], [(0, 1)], 0.95, 200, np.random.default_rng(9))[0] for each in orders]
    assert found[0] == found[1] == found[2]
    assert found[0] != ratio_intervals([*rows.T], [(0, 1)], 0.95, 200, np.random.default_rng(10))[0]


def test_E7_figures_share_their_samples_and_a_ratio_to_nothing_is_none() -> None:
    rows = np.column_stack([UNLIKE, 3 * UNLIKE[:, 0], np.r_[np.ones(1), np.zeros(399)]])
    one, thrice, none = ratio_intervals([*rows.T], [(0, 1), (3, 1), (0, 4)], 0.95, 500, np.random.default_rng(0))
    assert one is not None
    assert thrice == pytest.approx((3 * one[0], 3 * one[1]))
    assert none is None


@pytest.mark.parametrize("spread", [0.5, 1.5])
def test_E7_what_is_computed_for_very_many_clusters_is_what_would_be_drawn(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(12)
    old = rng.lognormal(0, spread, 1_500)
    new = old * rng.lognormal(-0.1, 0.5, 1_500)
    rows, figures = np.column_stack([new, old, new - old, np.ones(1_500)]), [(0, 1), (2, 3)]
    drawn = ratio_intervals([*rows.T], figures, 0.95, 6_000, rng)
    monkeypatch.setattr(resampling, "MOST_DRAWN", 1_000)
    for one, other in zip(drawn, ratio_intervals([*rows.T], figures, 0.95, 6_000, rng), strict=True):
        assert one is not None
        assert other == pytest.approx(one, abs=0.03 * (one[1] - one[0]))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_E7_all_signs_are_tried_where_few_clusters_differ(differences: list[int]) -> None:
    flipped = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = np.mean(np.array(flipped) >= abs(sum(differences)))
    found = sign_flip_p(np.array(differences, dtype=float), 100, np.random.default_rng(0))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("better", "worse"), [(3, 5), (11, 1), (20, 20), (40, 20), (9, 21)])
def test_E7_of_single_cases_it_is_the_exact_mcnemar_test(better: int, worse: int) -> None:
    differences = np.array([1.0] * better + [-1.0] * worse + [0.0] * 50)
    found = sign_flip_p(differences, 20_000, np.random.default_rng(0))
    assert found == pytest.approx(stats.binomtest(better, better + worse).pvalue, abs=0.015)


def test_E7_it_agrees_with_scipys_permutation_test() -> None:
    rng = np.random.default_rng(6)
    new, old = rng.normal(0.3, 1, 40), rng.normal(0, 1, 40)
    theirs = stats.permutation_test(
        (new, old),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        n_resamples=5_000,
        vectorized=False,
        rng=rng,
    ).pvalue
    assert sign_flip_p(new - old, 20_000, rng) == pytest.approx(theirs, abs=0.03)


def test_E7_no_p_value_is_0() -> None:
    assert sign_flip_p(np.ones(40), 999, np.random.default_rng(0)) == 0.001
    assert sign_flip_p(np.zeros(40), 999, np.random.default_rng(0)) == 1.0


def test_E7_signs_of_very_many_differences_are_drawn_for_the_largest_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(15)
    differences = rng.lognormal(0, 1.5, 3_000) * rng.choice([-1.0, 1.0], 3_000, p=[0.495, 0.505])
    all_drawn = sign_flip_p(differences, 4_000, rng)
    monkeypatch.setattr(resampling, "MOST_DRAWN", 1_000)
    monkeypatch.setattr(resampling, "_LARGEST", 100)
    assert 0.01 < all_drawn < 0.99, "the test can tell"
    assert sign_flip_p(differences, 4_000, rng) == pytest.approx(all_drawn, abs=0.035)


def test_E7_percentiles_are_as_wide_as_students_interval() -> None:
    drawn = np.random.default_rng(8).normal(0, np.sqrt(9 / 10), 200_000)  # of 10: the spread of a bootstrapped mean
    assert np.quantile(drawn, 1 - expanded_tail(10, 0.95)) == pytest.approx(stats.t.ppf(0.975, 9), rel=0.03)


RNG = np.random.default_rng(31)
OLD = RNG.lognormal(0, 1, 3_000)
NEW = 0.7 * OLD * RNG.lognormal(0, 0.4, 3_000)
ONE = np.ones(3_000)


@pytest.mark.parametrize("share", [0.005, 0.025, 0.5, 0.9, 0.975])
def test_the_quantile_of_a_ratio_is_one_by_that_of_its_reciprocal(share: float) -> None:
    one, other = resampled_quantile(NEW, OLD, share), resampled_quantile(OLD, NEW, 1 - share)
    assert one is not None
    assert other is not None
    assert one == pytest.approx(1 / other, rel=1e-9)


def test_a_sum_without_skewness_is_normal() -> None:
    values = np.concatenate([3 + OLD, 3 - OLD])
    found = resampled_quantile(values, np.ones(6_000), 0.975)
    assert found == pytest.approx(stats.norm.ppf(0.975, values.mean(), values.std() / np.sqrt(6_000)))
    expected = stats.norm.interval(0.95, values.mean(), values.std() / np.sqrt(6_000))
    assert studentised_interval(values, np.ones(6_000), 0.95) == pytest.approx(expected)


def test_of_a_skewed_mean_quantiles_are_those_of_the_gamma_that_it_is() -> None:
    # A mean of exponential figures is a gamma figure; of values spread evenly over that distribution it nearly is.
    values = stats.expon.ppf((np.arange(2_000) + 0.5) / 2_000)
    values = values - values.mean() + 1
    found = [resampled_quantile(values, np.ones(2_000), share) for share in (0.025, 0.975)]
    scale = values.std() ** 2
    exact = stats.gamma.ppf([0.025, 0.975], 2_000 / scale, scale=scale / 2_000)
    normal = stats.norm.ppf([0.025, 0.975], 1, values.std() / np.sqrt(2_000))
    assert found == pytest.approx(exact.tolist(), abs=0.1 * np.abs(normal - exact).min())


def test_the_interval_leans_to_where_a_skewed_sample_lacks_cases() -> None:
    low, high = studentised_interval(OLD, ONE, 0.95)
    mean = OLD.mean()
    assert 1.02 * (mean - low) < high - mean
    assert studentised_interval(5 * OLD, ONE, 0.95) == pytest.approx((5 * low, 5 * high))


def test_what_does_not_differ_is_certain_and_what_may_be_nothing_has_no_ratio() -> None:
    assert resampled_quantile(0.5 * ONE, ONE, 0.025) == 0.5
    assert studentised_interval(0.5 * ONE, ONE, 0.95) == (0.5, 0.5)
    assert resampled_quantile(ONE, np.r_[1.0, np.zeros(2_999)], 0.5) is None
    assert resampled_quantile(ONE, NEW - 0.9 * NEW.mean(), 0.5) is None
