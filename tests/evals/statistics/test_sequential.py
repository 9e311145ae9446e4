"""Designs with several looks (rule X6): against published bounds, by another integration, and by a simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.evals.statistics.many_runs import LOST, PASSED
from tests.evals.statistics.sequential_simulation import share, simulate
from tests.evals.statistics.simulation import Setting
from toolbelt.evals.statistics.sequential import ALPHA, Spending, find_bounds, make_looks, spend


def obrien_fleming(information: float, alpha: float) -> float:
    return float(2 * stats.norm.sf(stats.norm.isf(alpha / 2) / math.sqrt(information)))


def pocock(information: float, alpha: float) -> float:
    return alpha * math.log(1 + (math.e - 1) * information)


EVEN = {looks: [number / looks for number in range(1, looks + 1)] for looks in range(2, 6)}
PUBLISHED = [
    pytest.param(obrien_fleming, EVEN[2], (2.9626, 1.9686), id="O'Brien and Fleming, 2 looks"),
    pytest.param(obrien_fleming, EVEN[3], (3.7103, 2.5114, 1.9930), id="O'Brien and Fleming, 3 looks"),
    pytest.param(obrien_fleming, EVEN[4], (4.3326, 2.9631, 2.3590, 2.0141), id="O'Brien and Fleming, 4 looks"),
    pytest.param(obrien_fleming, EVEN[5], (4.8769, 3.3569, 2.6803, 2.2898, 2.0310), id="O'Brien and Fleming, 5 looks"),
    pytest.param(spend, EVEN[3], (3.0107, 2.5465, 1.9992), id="Hwang, Shih and DeCani, 3 looks"),
]
"""2.5% on one side. O'Brien and Fleming's spending: Reboussin, DeMets, Kim and Lan 2000, Controlled Clinical Trials 21,
190-207 (the program `ld98`; R's `ldbounds` gives the same). That of Hwang, Shih and DeCani with γ = −4: R's `gsDesign`,
whose default it is."""


@pytest.mark.parametrize(("spending", "shares", "bounds"), PUBLISHED)
def test_X6_bounds_are_those_published(spending: Spending, shares: list[float], bounds: tuple[float, ...]) -> None:
    assert find_bounds(shares, spending=spending) == pytest.approx(bounds, abs=2e-4)


def test_X6_a_single_look_is_the_usual_test() -> None:
    assert find_bounds([1.0]) == pytest.approx([stats.norm.isf(ALPHA)])
    (look,) = make_looks(1)
    assert look.clusters == 1
    assert look.level == pytest.approx(0.95)


@settings(max_examples=8, deadline=None)
@given(
    st.sets(st.integers(10, 100), min_size=2, max_size=3),
    st.sampled_from([0.01, 0.025, 0.05]),
    st.sampled_from([spend, obrien_fleming, pocock]),
)
def test_X6_looks_err_as_often_as_they_may(percents: set[int], alpha: float, spending: Spending) -> None:
    """By scipy's integral of the multivariate normal density, in place of one look after the other."""
    shares = np.array(sorted(percents)) / 100
    bounds = find_bounds(shares.tolist(), alpha, spending)
    covariance = np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares))
    within = stats.multivariate_normal.cdf(bounds, np.zeros(len(shares)), covariance, abseps=1e-7)
    assert 1 - within == pytest.approx(spending(float(shares[-1]), alpha), abs=2e-6)


@given(st.integers(1, 3000))
@settings(max_examples=12, deadline=None)
def test_X6_looks_end_with_all_clusters_and_stay_within_reach_of_resampling(clusters: int) -> None:
    looks = make_looks(clusters)
    assert looks[-1].clusters == clusters
    assert [look.clusters for look in looks] == sorted({look.clusters for look in looks})
    assert all(10_000 * (1 - look.level) >= 2 for look in looks)
    assert all(0.95 <= look.level < 1 for look in looks)


@pytest.mark.parametrize(
    ("shares", "alpha"), [([], 0.025), ([0.5, 0.5], 0.025), ([0.0, 1.0], 0.025), ([0.5, 1.1], 0.025), ([1.0], 0.5)]
)
def test_X6_a_design_that_is_none_is_refused(shares: list[float], alpha: float) -> None:
    with pytest.raises(ValueError, match=r"do not|does not"):
        find_bounds(shares, alpha)
    with pytest.raises(ValueError, match="none to look at"):
        make_looks(0)


def test_X6_a_clear_loss_is_found_early_and_errors_are_those_of_one_look() -> None:
    """The whole table is in docs/statistics-checks.md; a correct design fails here once in 10,000 times."""
    setting, runs, most = Setting(724, (1, 1), 1, 0.025, 0.02), 2000, stats.binom.ppf(1 - 1e-4, 2000, ALPHA) / 2000
    for loss, least in ((0.05, 0.3), (0.1, 0.6)):
        clear = simulate(setting, loss, runs)
        assert clear.saved.mean() > least
        assert share(clear.sequential, LOST) > share(clear.single, LOST) - 0.01
    equal = simulate(setting, 0.0, runs)
    assert share(equal.sequential, LOST) <= most
    assert share(equal.sequential, PASSED) > share(equal.single, PASSED) - 0.02
    assert share(simulate(setting, setting.margin, runs).sequential, PASSED) <= most
