"""What a bootstrap tends to, by laws; test_resampling holds it against one that is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from toolbelt.evals.statistics.expansion import resampled_quantile, studentised_interval

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
