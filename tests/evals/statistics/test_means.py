"""Means of tokens, cost and latency over the same cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from toolbelt.evals.statistics.means import paired_means


def test_means_by_hand() -> None:
    found = paired_means([[(80, 100), (90, 100)], [(100, 100)], [(70, 100)]])
    assert (found.new, found.old, found.difference) == (85, 100, -15)
    assert found.ratio == pytest.approx(0.85)
    assert found.low <= -15 <= found.high
    assert (found.clusters, found.cases) == (3, 4)
    assert found.p_value == 0.5  # both of the clusters that differ go one way: two of four ways of turning them


def test_tokens_that_differ_by_the_same_everywhere_are_certain() -> None:
    found = paired_means([[(900, 1000)]] * 30)
    assert (found.low, found.high) == (-100, -100)
    assert (found.ratio_low, found.ratio_high) == pytest.approx((0.9, 0.9))


@pytest.mark.parametrize("pairs", [[[(1, 0)], [(2, 0)]], [[(0, 1)], [(0, 2)]], [[(1, 0)], [(2, 0)], [(1, 5)]]])
def test_there_is_no_ratio_to_nothing(pairs: list[list[tuple[float, float]]]) -> None:
    found = paired_means(pairs)
    assert (found.ratio, found.ratio_low, found.ratio_high) == (None, None, None)
    assert found.low <= found.difference <= found.high


@pytest.mark.parametrize("pairs", [[], [[(1, 2)]], [[(1, 2)], [(float("inf"), 2)]], [[], [(1, 2)]]])
def test_what_cannot_be_compared_is_refused(pairs: list[list[tuple[float, float]]]) -> None:
    with pytest.raises(ValueError):
        paired_means(pairs)


def test_it_agrees_with_scipys_bootstrap() -> None:
    rng = np.random.default_rng(2)
    old = rng.lognormal(0, 1, 200)
    new = old * rng.lognormal(-0.2, 0.4, 200)
    found = paired_means([[pair] for pair in zip(new.tolist(), old.tolist(), strict=True)])
    for low, high, figure in (
        (found.low, found.high, lambda a, b: np.mean(a) - np.mean(b)),
        (found.ratio_low, found.ratio_high, lambda a, b: np.mean(a) / np.mean(b)),
    ):
        theirs = stats.bootstrap(
            (new, old), figure, paired=True, vectorized=False, n_resamples=3_000, method="percentile", rng=rng
        ).confidence_interval
        width = theirs.high - theirs.low
        assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.06 * width)


@pytest.mark.parametrize(("clusters", "least"), [(30, 0.89), (100, 0.92)])
def test_intervals_cover_about_what_they_claim(clusters: int, least: float) -> None:
    rng = np.random.default_rng(4)
    difference = ratio = 0
    for seed in range(400):
        old = rng.lognormal(0, 0.8, clusters)
        new = 0.7 * old * np.exp(rng.normal(0, 0.4, clusters) - 0.08)
        found = paired_means(
            [[pair] for pair in zip(new.tolist(), old.tolist(), strict=True)], seed=seed, resamples=300
        )
        assert found.ratio_low is not None
        assert found.ratio_high is not None
        difference += found.low <= -0.3 * np.exp(0.32) <= found.high
        ratio += found.ratio_low <= 0.7 <= found.ratio_high
    assert min(difference, ratio) >= stats.binom.ppf(1e-4, 400, least)
