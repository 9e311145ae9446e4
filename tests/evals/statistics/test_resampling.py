"""Drawing clusters, and turning arms round."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from toolbelt.evals.statistics.resampling import percentile_bounds, resampled_sums, sign_flip_p


def test_samples_have_the_mean_and_the_spread_of_what_is_drawn_from() -> None:
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [4.0, 2.0], [0.0, 2.0]])
    sums = resampled_sums(rows, 20_000, np.random.default_rng(1))
    assert (sums[:, 1] == 8).all()
    assert sums[:, 0].mean() == pytest.approx(6, abs=0.1)
    assert sums[:, 0].std() == pytest.approx(2 * rows[:, 0].std(), rel=0.03)


def test_one_seed_gives_one_sample() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    one, other = (resampled_sums(rows, 50, np.random.default_rng(9)) for _ in range(2))
    assert (one == other).all()


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


def test_E7_percentiles_are_as_wide_as_students_interval() -> None:
    drawn = np.random.default_rng(8).normal(0, np.sqrt(9 / 10), 200_000)  # of 10: the spread of a bootstrapped mean
    assert percentile_bounds(drawn, 10, 0.95)[1] == pytest.approx(stats.t.ppf(0.975, 9), rel=0.03)
