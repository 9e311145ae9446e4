"""Differences between arms: by hand, by law, and by simulation."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from toolbelt.evals.statistics.clusters import read_clusters
from toolbelt.evals.statistics.intervals import wilson_interval
from toolbelt.evals.statistics.paired import (
    Method,
    ShareContrast,
    bounded_interval,
    cluster_score_interval,
    paired_difference,
)
from toolbelt.evals.statistics.verdict import Verdict, holm, judge

Pair = tuple[float, float]
SHARES = st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0])
CLUSTERS = st.lists(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=4), min_size=1, max_size=30)
CHANCE = 1e-3
"""Of a simulation that fails although all is well, each time that what is drawn changes: the seeds are fixed."""
RUNS = 800
"""With which more than 4.2% are noticed where 2.5% are meant."""
COVERAGES = 400
"""With which less than 91% is noticed where 94.5% is meant."""


@cache
def _single(better: int, worse: int, n: int) -> ShareContrast:
    return paired_difference([[(1, 0)]] * better + [[(0, 1)]] * worse + [[(1, 1)]] * (n - better - worse))


def _draw(
    rng: np.random.Generator, clusters: int, size: int, epochs: int, discordance: float, difference: float
) -> list[list[Pair]]:
    """Cases of clusters that mostly change together, of up to twice that size, less 1; what changed is nine times in
    ten as it is now.
    """
    sizes = rng.integers(1, 2 * size, clusters)
    of = np.repeat(np.arange(clusters), sizes)
    luck = np.where(rng.random(len(of)) < 0.6, rng.random(clusters)[of], rng.random(len(of)))
    better = luck < (discordance + difference) / 2
    worse = luck > 1 - (discordance - difference) / 2
    sure = np.where(luck < 0.5, 1.0, 0.0)
    new = rng.binomial(epochs, np.where(better, 0.9, np.where(worse, 0.1, sure))) / epochs
    old = rng.binomial(epochs, np.where(better, 0.1, np.where(worse, 0.9, sure))) / epochs
    pairs = list(zip(new.tolist(), old.tolist(), strict=True))
    ends = np.cumsum(sizes).tolist()
    return [pairs[end - count : end] for end, count in zip(ends, sizes.tolist(), strict=True)]


def test_E7_single_cases_are_mcnemar_and_tango() -> None:
    # Fagerland, Lydersen and Laake (2014): 1 better and 7 worse of 21.
    found = _single(1, 7, 21)
    assert (found.difference, found.low, found.high) == pytest.approx((-6 / 21, -0.517, -0.026), abs=5e-4)
    assert found.p_value == pytest.approx(stats.binomtest(1, 8).pvalue)
    assert (found.clusters, found.cases, found.discordant, found.method) == (21, 21, 8, Method.EXACT)


@pytest.mark.parametrize(
    ("pairs", "bound"),
    [
        pytest.param([[(1, 1)]] * 20, 0.161, id="single-cases"),
        pytest.param([[(1, 1), (0, 0), (1, 1)]] * 20, 0.161, id="clusters-count-once-however-large"),
        pytest.param([[(0.5, 0.5)]] * 20, 0.161, id="epochs"),
        pytest.param([[(1, 1)] * 9] + [[(0, 0)]] * 19, 0.161, id="a-large-cluster-could-change-much"),
    ],
)
def test_E7_0_of_20_says_little(pairs: list[list[Pair]], bound: float) -> None:
    found = paired_difference(pairs)
    assert (found.difference, found.p_value, found.discordant) == (0, 1, 0)
    assert bound <= found.high < 0.6
    assert found.low == pytest.approx(-found.high)
    assert judge(found.low, found.high, found.p_value, 0.02) is Verdict.INSUFFICIENT_DATA


def test_E7_epochs_and_clusters_are_resampled() -> None:
    assert paired_difference([[(0.5, 1)], [(1, 1)]]).method is Method.BOOTSTRAP
    assert paired_difference([[(0, 1), (1, 1)], [(1, 1)]]).method is Method.BOOTSTRAP
    assert paired_difference([[(True, False)], [(1.0, 1.0)], []]).method is Method.EXACT


@pytest.mark.parametrize(("lost", "n"), [(1, 20), (3, 40), (10, 100), (40, 60)])
def test_E7_of_cases_lost_or_not_the_bound_is_clopper_and_pearsons(lost: int, n: int) -> None:
    low, high = bounded_interval(read_clusters([[(0, 1)]] * lost + [[(1, 1)]] * (n - lost)))
    assert -low == pytest.approx(stats.binomtest(lost, n).proportion_ci(0.9, "exact").high, rel=0.005)
    turned = bounded_interval(read_clusters([[(1, 0)]] * lost + [[(1, 1)]] * (n - lost)))
    assert turned == pytest.approx((-high, -low))


def test_E7_of_shares_the_bound_is_gaffkes_as_the_authors_define_it() -> None:
    """The quantile, over uniform order statistics u, of 1 − Σ u × (steps between the sorted values, up to 1)."""
    rng = np.random.default_rng(11)
    losses = rng.choice([0.0, 0.0, 0.0, 1 / 3, -1 / 3, 1.0], 60)
    low, _ = bounded_interval(read_clusters([[(1 - max(loss, 0), 1 + min(loss, 0))] for loss in losses.tolist()]))
    steps = np.diff(np.append(np.sort(losses), 1.0))
    means = 1 - np.sort(rng.random((100_000, 60)), axis=1) @ steps
    assert -low == pytest.approx(np.quantile(means, 0.95), rel=0.01)


@pytest.mark.parametrize(
    "sizes", [[1] * 20 + [12], [1] * 96 + [12] * 4, [1] * 200 + [20], [*range(1, 11)] * 6, [4] * 30], ids=len
)
def test_E7_where_nothing_differs_it_allows_for_the_loss_that_may_not_show(sizes: list[int]) -> None:
    """The greatest loss of which no cluster shows any with a chance of 5%, by a search of scipy's, caps the bound."""
    low, high = bounded_interval(read_clusters([[(1, 1)] * size for size in sizes]))
    weights = np.array(sizes) / sum(sizes)
    # In terms of log(1 − chance), which sum up to log(0.05).
    total = np.log(0.05)
    greatest = optimize.minimize(
        lambda logs: -float(weights @ -np.expm1(logs)),
        np.full(len(sizes), total / len(sizes)),
        jac=lambda logs: weights * np.exp(logs),
        method="SLSQP",
        bounds=[(total, 0.0)] * len(sizes),
        constraints={"type": "eq", "fun": lambda logs: logs.sum() - total, "jac": np.ones_like},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert greatest.success
    n, size = len(sizes), np.average(sizes, weights=np.power(sizes, 3))  # where large ones are hit more often
    lost = stats.binomtest(0, n).proportion_ci(0.9, "exact").high
    of_the_large = lost * size / (lost * size + (1 - lost) * np.mean(sizes))
    of_a_case = float(weights @ sizes) / np.mean(sizes) * wilson_interval(0, n)[1]
    assert -low == pytest.approx(min(1.0, max(min(of_the_large, -greatest.fun), of_a_case)), rel=0.03)
    assert low == pytest.approx(-high)


@pytest.mark.parametrize(("clusters", "epochs"), [(20, 2), (50, 5), (100, 3), (400, 3)])
def test_E7_intervals_do_not_get_narrower_because_more_cases_differ(clusters: int, epochs: int) -> None:
    step, widths = 1 / epochs, []
    for few in range(clusters // 2 + 1):
        up, down = [[(1.0, 1 - step)]] * few, [[(1 - step, 1.0)]] * few
        low, high = bounded_interval(read_clusters([*up, *down, *[[(1.0, 1.0)]] * (clusters - 2 * few)]))
        assert low == pytest.approx(-high)
        widths.append(high - low)
    assert widths == sorted(widths)


def test_E7_repeating_a_case_as_a_cluster_adds_no_certainty() -> None:
    single = _single(3, 12, 60)
    rows: list[list[Pair]] = [*[[(1.0, 0.0)] * 5] * 3, *[[(0.0, 1.0)] * 5] * 12, *[[(1.0, 1.0)] * 5] * 45]
    repeated = paired_difference(rows)
    assert repeated.difference == pytest.approx(single.difference)
    assert repeated.p_value == pytest.approx(single.p_value, abs=0.01)
    assert (repeated.low, repeated.high) == pytest.approx((single.low, single.high), abs=0.02)


def test_E7_the_mean_is_over_cases_and_the_unit_is_the_cluster() -> None:
    found = paired_difference([[(1, 0)] * 6, [(0, 1)], [(1, 1)]])
    assert found.difference == pytest.approx(5 / 8)
    assert (found.clusters, found.cases, found.discordant) == (3, 8, 2)
    assert found.p_value == 1.0  # two clusters that differ: no four ways of turning them are rare


def test_E7_the_order_of_cases_and_clusters_does_not_matter() -> None:
    draw = Random(3)
    clusters = [
        [(draw.randint(0, 3) / 3, draw.randint(0, 7) / 7) for _ in range(draw.randint(1, 5))] for _ in range(30)
    ]
    found = paired_difference(clusters, resamples=200)
    assert paired_difference(clusters[::-1], resamples=200) == found
    assert paired_difference([cluster[::-1] for cluster in clusters], resamples=200) == found


@settings(deadline=None, max_examples=60)
@given(CLUSTERS, st.randoms(use_true_random=False))
def test_E7_laws_of_a_contrast(pairs: list[list[Pair]], shuffler: Random) -> None:
    found = paired_difference(pairs, resamples=200)
    assert -1 <= found.low <= found.difference + 1e-12
    assert found.difference - 1e-12 <= found.high <= 1
    assert found.low < found.high
    assert 0 < found.p_value <= 1
    assert paired_difference(pairs, resamples=200) == found
    shuffler.shuffle(order := [shuffler.sample(cluster, len(cluster)) for cluster in pairs])
    assert paired_difference(order, resamples=200) == found, "to the last digit, in whatever order cases come"
    for interval in (cluster_score_interval, bounded_interval):
        low, high = interval(read_clusters(pairs))
        assert found.method is Method.EXACT or (found.low <= low + 1e-9 and found.high >= high - 1e-9)
        assert interval(read_clusters(order)) == pytest.approx((low, high))
        turned = interval(read_clusters([[(old, new) for new, old in cluster] for cluster in pairs]))
        assert turned == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize(
    ("pairs", "level", "resamples"),
    [
        pytest.param([], 0.95, 1000, id="no-cluster"),
        pytest.param([[]], 0.95, 1000, id="no-case"),
        pytest.param([[(1, float("nan"))]], 0.95, 1000, id="unscored"),
        pytest.param([[(1, 1.5)]], 0.95, 1000, id="no-share"),
        pytest.param([[(1, 0)]], 1.0, 1000, id="no-level"),
        pytest.param([[(1, 0)]], 0.95, 10, id="too-few-resamples"),
    ],
)
def test_E7_what_cannot_be_compared_is_refused(pairs: list[list[Pair]], level: float, resamples: int) -> None:
    with pytest.raises(ValueError):
        paired_difference(pairs, level, resamples=resamples)


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize(
    ("n", "discordance"), [(30, 0.03), (30, 0.3), (100, 0.01), (100, 0.1), (300, 0.01), (300, 0.3)]
)
def test_E7_equal_arms_are_seldom_called_a_regression(n: int, discordance: float, margin: float) -> None:
    rng = np.random.default_rng(n)
    tables = rng.multinomial(n, [discordance / 2, discordance / 2, 1 - discordance], size=2_000).tolist()
    _assert_seldom([_single(better, worse, n) for better, worse, _ in tables], margin)


CLUSTERED = [
    pytest.param(30, 3, 1, 0.2, id="few-clusters"),
    pytest.param(100, 3, 1, 0.03, id="rare-differences"),
    pytest.param(60, 1, 3, 0.2, id="epochs"),
    pytest.param(100, 2, 3, 0.1, id="clusters-and-epochs"),
]


@pytest.mark.parametrize(("clusters", "size", "epochs", "discordance"), CLUSTERED)
def test_E7_equal_arms_in_clusters_are_seldom_called_a_regression(
    clusters: int, size: int, epochs: int, discordance: float
) -> None:
    rng = np.random.default_rng(7)
    found = [
        paired_difference(_draw(rng, clusters, size, epochs, discordance, 0.0), seed=seed, resamples=300)
        for seed in range(RUNS)
    ]
    for margin in (0.0, 0.02):
        _assert_seldom(found, margin)
    covered = sum(one.low <= 0 <= one.high for one in found)
    assert covered >= stats.binom.ppf(CHANCE, len(found), 0.945)


def _assert_seldom(found: list[ShareContrast], margin: float) -> None:
    called = sum(judge(one.low, one.high, one.p_value, margin) is Verdict.REGRESSION for one in found)
    assert called <= stats.binom.ppf(1 - CHANCE, len(found), 0.025)
    significant = sum(one.p_value <= 0.05 for one in found)
    assert significant <= stats.binom.ppf(1 - CHANCE, len(found), 0.05)


@pytest.mark.parametrize(
    ("clusters", "size", "epochs", "discordance", "difference"),
    [
        pytest.param(30, 2, 1, 0.05, 0.04, id="few-clusters-that-seldom-differ"),
        pytest.param(100, 3, 3, 0.05, 0.05, id="all-one-way"),
        pytest.param(300, 2, 1, 0.2, -0.1, id="many"),
    ],
)
def test_E7_intervals_over_clusters_cover_what_they_claim(
    clusters: int, size: int, epochs: int, discordance: float, difference: float
) -> None:
    rng = np.random.default_rng(13)
    # With one epoch a case changes wholly nine times of ten at either end: 0.9 − 0.1 of the difference is seen.
    true = 0.8 * difference
    hits = 0
    for seed in range(COVERAGES):
        found = paired_difference(_draw(rng, clusters, size, epochs, discordance, difference), seed=seed, resamples=300)
        hits += found.low <= true <= found.high
    assert hits >= stats.binom.ppf(CHANCE, COVERAGES, 0.945)


@pytest.mark.parametrize(
    ("clusters", "size", "epochs", "discordance"),
    [pytest.param(60, 1, 3, 0.3, id="epochs"), pytest.param(100, 3, 1, 0.1, id="clusters")],
)
def test_E7_a_loss_of_just_the_margin_is_seldom_ruled_out(
    clusters: int, size: int, epochs: int, discordance: float
) -> None:
    rng = np.random.default_rng(19)
    margin = 0.8 * 0.08  # what is seen of a difference of 0.08
    wrong = 0
    for seed in range(COVERAGES):
        found = paired_difference(_draw(rng, clusters, size, epochs, discordance, -0.08), seed=seed, resamples=300)
        wrong += found.low > -margin
    assert wrong <= stats.binom.ppf(1 - CHANCE, COVERAGES, 0.035)  # 0.025 is meant; 0.037 was the worst ever seen


def test_E7_of_five_equal_arms_against_one_none_is_called_a_regression() -> None:
    rng = np.random.default_rng(23)
    alarms = unadjusted = 0
    for _ in range(600):
        wavers = rng.random(200) < 0.4
        right = rng.random((6, 200)) < np.where(wavers, 0.5, 1.0)
        found = [_single(int((arm & ~right[0]).sum()), int((~arm & right[0]).sum()), 200) for arm in right[1:]]
        adjusted = holm([one.p_value for one in found])
        verdicts = [judge(one.low, one.high, p, 0.0) for one, p in zip(found, adjusted, strict=True)]
        alarms += Verdict.REGRESSION in verdicts
        unadjusted += any(judge(one.low, one.high, one.p_value, 0.0) is Verdict.REGRESSION for one in found)
    assert alarms <= stats.binom.ppf(1 - CHANCE, 600, 0.025)  # 5% of either direction, half of them losses
    assert unadjusted > stats.binom.ppf(1 - CHANCE, 600, 0.025), "the test can tell"


def test_E7_a_real_loss_is_found() -> None:
    rng = np.random.default_rng(3)
    found = [paired_difference(_draw(rng, 200, 2, 2, 0.3, -0.2), resamples=300) for _ in range(50)]
    assert all(judge(one.low, one.high, one.p_value, 0.02) is Verdict.REGRESSION for one in found)
