"""Designs with several looks (rule X6): against published bounds, and by a small simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.evals.statistics.sequential_simulation import simulate
from tests.evals.statistics.simulation import Change, Setting
from toolbelt.evals.statistics.sequential import ALPHA, find_bounds, make_looks, spend
from toolbelt.evals.statistics.verdict import Verdict

PUBLISHED = {
    2: (2.9626, 1.9686),
    3: (3.7103, 2.5114, 1.9930),
    4: (4.3326, 2.9631, 2.3590, 2.0141),
    5: (4.8769, 3.3569, 2.6803, 2.2898, 2.0310),
}
"""Of O'Brien and Fleming's spending at looks an equal way apart, 2.5% on one side: Reboussin, DeMets, Kim and Lan 2000,
Controlled Clinical Trials 21, 190-207 (the program `ld98`; R's `ldbounds` gives the same)."""


@pytest.mark.parametrize(("looks", "bounds"), PUBLISHED.items())
def test_X6_bounds_are_those_published(looks: int, bounds: tuple[float, ...]) -> None:
    assert find_bounds([number / looks for number in range(1, looks + 1)]) == pytest.approx(bounds, abs=2e-4)


def test_X6_a_single_look_is_the_usual_test() -> None:
    assert find_bounds([1.0]) == pytest.approx([stats.norm.isf(ALPHA)])
    (look,) = make_looks(1)
    assert look.clusters == 1
    assert look.level == pytest.approx(0.95)


@settings(max_examples=6, deadline=None)
@given(st.sets(st.integers(5, 100), min_size=1, max_size=5), st.sampled_from([0.01, 0.025, 0.05]))
def test_X6_all_looks_together_err_as_often_as_they_may(percents: set[int], alpha: float) -> None:
    """By drawing Brownian motions, which the bounds are computed for by integration."""
    shares = [percent / 100 for percent in sorted(percents)]
    bounds = find_bounds(shares, alpha)
    draws = 50_000
    steps = np.random.default_rng(1).normal(size=(draws, len(shares))) * np.sqrt(np.diff([0, *shares]))
    crossed = (np.cumsum(steps, axis=1) > np.array(bounds) * np.sqrt(shares)).any(axis=1).mean()
    assert crossed == pytest.approx(spend(shares[-1], alpha), abs=5 * np.sqrt(alpha / draws))


@given(st.integers(1, 3000))
@settings(max_examples=12, deadline=None)
def test_X6_looks_end_with_all_clusters_and_stay_within_reach_of_resampling(clusters: int) -> None:
    looks = make_looks(clusters)
    assert looks[-1].clusters == clusters
    assert [look.clusters for look in looks] == sorted({look.clusters for look in looks})
    assert all(10_000 * look.significant >= 2 for look in looks)
    assert all(0.95 <= look.level < 1 for look in looks)


@pytest.mark.parametrize(
    ("shares", "alpha"), [([], 0.025), ([0.5, 0.5], 0.025), ([0.0, 1.0], 0.025), ([0.5, 1.1], 0.025), ([1.0], 0.5)]
)
def test_X6_a_design_that_is_none_is_refused(shares: list[float], alpha: float) -> None:
    with pytest.raises(ValueError, match=r"do not|does not"):
        find_bounds(shares, alpha)
    with pytest.raises(ValueError, match="none to look at"):
        make_looks(0)


def test_X6_a_clear_loss_is_found_early_and_equal_arms_are_seldom_called_a_loss() -> None:
    """The whole table is in docs/statistics.md; a correct design fails here once in 10,000 runs."""
    setting, runs, chance = Setting(724, (1, 1), 1, 0.025, 0.02), 100, 1e-4
    clear = simulate(setting, Change.CLUSTERS, 0.1, runs)
    assert clear.sequential[Verdict.REGRESSION] == pytest.approx(1.0)
    assert clear.saved > 0.5
    equal = simulate(setting, Change.SWAPS, 0.0, runs)
    most = stats.binom.ppf(1 - chance, runs, ALPHA) / runs
    assert equal.sequential[Verdict.REGRESSION] <= most
    lost = simulate(setting, Change.CLUSTERS, setting.margin, runs)
    assert lost.sequential[Verdict.NO_REGRESSION] <= most
