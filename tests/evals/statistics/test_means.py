"""Means of tokens, cost and latency over the same cases."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from tests.wording import naming
from toolbelt.evals.statistics.means import RESAMPLES, MeanContrast, paired_means


def means_of(
    clusters: Iterable[Sequence[tuple[float, float]]], level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> MeanContrast:
    """Of one amount: for each cluster, the `(new, old)` of each of its cases."""
    cases = [(number, *pair) for number, cluster in enumerate(clusters) for pair in cluster]
    labels, new, old = zip(*cases, strict=True) if cases else ((), (), ())
    return paired_means({"": (new, old)}, labels, level, seed, resamples)[""]


def test_means_by_hand() -> None:
    means = means_of([[(80, 100), (90, 100)], [(100, 100)], [(70, 100)]])
    assert (means.new, means.old, means.difference) == (85, 100, -15)
    assert means.ratio == pytest.approx(0.85)
    assert means.low <= -15 <= means.high
    assert (means.clusters, means.cases) == (3, 4)
    assert means.p_value == 0.5  # both of the clusters that differ go one way: two of four ways of turning them


def test_tokens_that_differ_by_the_same_everywhere_are_certain() -> None:
    means = means_of([[(900, 1000)]] * 30)
    assert (means.low, means.high) == (-100, -100)
    assert (means.ratio_low, means.ratio_high) == pytest.approx((0.9, 0.9))


@pytest.mark.parametrize("pairs", [[[(1, 0)], [(2, 0)]], [[(0, 1)], [(0, 2)]], [[(1, 0)], [(2, 0)], [(1, 5)]]])
def test_there_is_no_ratio_to_nothing(pairs: list[list[tuple[float, float]]]) -> None:
    means = means_of(pairs)
    assert (means.ratio, means.ratio_low, means.ratio_high) == (None, None, None)
    assert means.low <= means.difference <= means.high


def test_a_ratio_is_never_below_that_of_every_case() -> None:
    amounts = [(0.78, 2.64), (69.11, 2.7), (0.11, 0.46), (0.47, 0.08), (59.47, 1.29)]  # no more than noise
    assert means_of([[pair] for pair in amounts]).ratio_low == pytest.approx(0.11 / 0.46)


@pytest.mark.parametrize("cases", [30, 20_000])
def test_a_case_that_cost_nothing_leaves_the_others_their_ratio(cases: int) -> None:
    old, new = np.full(cases, 2.0), np.full(cases, 3.0)
    old[0], new[1] = 0, 2.5
    found = paired_means({"cost": (new, old)}, range(cases), resamples=2_000)["cost"]
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert 1.5 - 6 / cases < found.ratio_low <= 1.5
    assert 1.5 < found.ratio_high < 1.5 * (1 + 6 / cases)


@pytest.mark.parametrize("pairs", [[], [[(1, 2)]], [[(1, 2)], [(float("inf"), 2)]], [[], [(1, 2)]]])
def test_what_cannot_be_compared_is_refused(pairs: list[list[tuple[float, float]]]) -> None:
    with pytest.raises(ValueError):
        means_of(pairs)


@pytest.mark.parametrize(
    ("level", "resamples", "message"),
    [pytest.param(1.0, 1000, "level", id="no-level"), pytest.param(0.95, 10, "resamples", id="too-few-resamples")],
)
def test_settings_out_of_range_are_refused(level: float, resamples: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        means_of([[(1, 2)], [(2, 3)]], level, resamples=resamples)
    with pytest.raises(ValueError, match=message):
        paired_means({"cost": ([1, 2], [2, 3])}, [1, 2], level, resamples=resamples)


def test_several_amounts_are_each_what_they_are_alone() -> None:
    rng = np.random.default_rng(21)
    labels = [f"task-{task}" for task in rng.integers(0, 60, 150).tolist()]
    tokens, cost = rng.lognormal(6, 0.5, (2, 150)), rng.lognormal(-6, 1, (2, 150))
    found = paired_means({"tokens": (tokens[0], tokens[1]), "cost": (cost[0].tolist(), cost[1].tolist())}, labels)
    assert list(found) == ["tokens", "cost"]
    for name, (new, old) in (("tokens", tokens), ("cost", cost)):
        clusters: dict[str, list[tuple[float, float]]] = {}
        for label, *pair in zip(labels, new.tolist(), old.tolist(), strict=True):
            clusters.setdefault(label, []).append((pair[0], pair[1]))
        alone, together = means_of(clusters.values()), found[name]
        assert (together.new, together.old) == pytest.approx((alone.new, alone.old))
        assert (together.clusters, together.cases) == (alone.clusters, 150)
        width = alone.high - alone.low
        assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=0.05 * width)
        assert together.p_value == pytest.approx(alone.p_value, abs=0.02)


def test_one_seed_gives_one_answer_and_what_is_alike_is_certain() -> None:
    columns: dict[str, tuple[ArrayLike, ArrayLike]] = {
        "a": ([5.0] * 40, [7.0] * 40),
        "b": (np.arange(40.0), np.arange(40.0)[::-1]),
        "c": ([0] * 40, [0] * 40),
    }
    found = paired_means(columns, range(40), seed=3, resamples=300)
    assert paired_means(columns, range(40), seed=3, resamples=300) == found
    assert (found["a"].low, found["a"].high) == (-2, -2)
    assert found["a"].ratio == pytest.approx(5 / 7)
    assert (found["c"].difference, found["c"].ratio, found["c"].p_value) == (0, None, 1)
    assert found["b"].low < 0 < found["b"].high
    assert paired_means({}, range(40)) == {}


def test_very_many_clusters_take_a_moment_and_little_memory() -> None:
    rng = np.random.default_rng(5)
    old = rng.lognormal(0, 1, 200_000)
    new = old * rng.lognormal(-0.1, 0.5, 200_000)
    tracemalloc.start()
    found = paired_means({"tokens": (new, old)}, range(200_000))["tokens"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    # So many are as good as normal: the plain interval of a mean.
    difference = new - old
    reach = 1.96 * difference.std() / np.sqrt(200_000)
    assert (found.low, found.high) == pytest.approx(
        (difference.mean() - reach, difference.mean() + reach), abs=0.02 * reach
    )


@pytest.mark.parametrize(
    ("columns", "clusters", "named"),
    [
        pytest.param({"cost": ([1, 2], [1, 2])}, [1, 1], "single cluster", id="one-cluster"),
        pytest.param({"cost": ([1, 2], [1])}, [1, 2], ("cost", "2 new", "1 old"), id="a-value-is-missing"),
        pytest.param({"cost": ([1, np.nan], [1, 2])}, [1, 2], "cost is no number", id="not-known"),
        pytest.param({"cost": ([], [])}, [], "no cases", id="no-case"),
    ],
)
def test_columns_that_cannot_be_compared_are_refused(
    columns: dict[str, tuple[list[float], list[float]]], clusters: list[int], named: object
) -> None:
    with pytest.raises(ValueError, match=naming(named)):
        paired_means(columns, clusters)


def test_it_reaches_as_far_as_scipys_percentiles_and_a_bootstrap_t_done_by_hand() -> None:
    rng = np.random.default_rng(2)
    old = rng.lognormal(0, 1, 200)
    new = old * rng.lognormal(-0.2, 0.4, 200)
    means = means_of([[pair] for pair in zip(new.tolist(), old.tolist(), strict=True)])
    drawn = rng.integers(200, size=(8_000, 200))
    for low, high, below in ((means.low, means.high, np.ones(200)), (means.ratio_low, means.ratio_high, old)):
        above = new - old if below[0] == 1 else new
        theirs = stats.bootstrap(
            (above, below),
            lambda a, b, axis: a.sum(axis) / b.sum(axis),
            paired=True,
            n_resamples=8_000,
            method="percentile",
            rng=rng,
        ).confidence_interval
        ratio = above.mean() / below.mean()
        error = np.std(above - ratio * below) / below.mean()
        ratios = above[drawn].mean(axis=1) / below[drawn].mean(axis=1)
        errors = np.std(above[drawn] - ratios[:, None] * below[drawn], axis=1) / below[drawn].mean(axis=1)
        least, most = np.quantile((ratios - ratio) / errors, (0.025, 0.975))
        expected = (min(theirs.low, ratio - most * error), max(theirs.high, ratio - least * error))
        assert (low, high) == pytest.approx(expected, abs=0.05 * (expected[1] - expected[0]))


@pytest.mark.parametrize(
    "values", [[(1, 2)] * 19 + [(3, 7)], [(0.1, 0.3)] * 20, [(1, 1)] * 19 + [(1, 2)], [(1, 1), (9, 5)]]
)
def test_bounds_are_numbers_even_where_hardly_a_cluster_differs(values: list[tuple[float, float]]) -> None:
    means = means_of([[pair] for pair in values])
    assert means.ratio_low is not None
    assert means.ratio_high is not None
    assert np.isfinite([means.low, means.high, means.ratio_low, means.ratio_high]).all()
    assert means.low <= means.difference + 1e-12
    assert means.difference <= means.high + 1e-12


RARE = [
    pytest.param(few, size, rest, id=f"{few}-times-{size}-others-{rest}")
    for few in (1, 2, 3, 4, 6, 10)
    for size, rest in ((2.0, 0.9), (2.0, 1.009), (0.5, 1.1), (5.0, 1.0))
]


@pytest.mark.parametrize("cases", [40, 724, 20_000])
@pytest.mark.parametrize(("few", "size", "rest"), RARE)
def test_E7_a_few_cases_that_change_unlike_the_others_move_bounds_by_no_more_than_such_cases_can(
    few: int, size: float, rest: float, cases: int
) -> None:
    old = 46_500 + np.random.default_rng(3).integers(0, 40, cases)
    new = np.round(rest * old)
    new[:few] = size * old[:few]
    found = paired_means({"tokens": (new, old)}, range(cases), resamples=2_000)["tokens"]
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    one = (size - rest) / cases  # what one such case does to the ratio
    fewest, most = sorted(((found.ratio_low - rest) / one, (found.ratio_high - rest) / one))
    # How many such cases there might be on average, of which so few were seen: exact, by the Poisson distribution.
    exact = stats.chi2.ppf(0.025, 2 * few) / 2, stats.chi2.ppf(0.975, 2 * few + 2) / 2
    assert fewest <= few
    assert fewest == pytest.approx(exact[0], abs=1.5)
    assert 0.6 * exact[1] <= most <= 1.3 * exact[1]
    per_case = 46_520 * one
    bounds = sorted(((found.low - (rest - 1) * 46_520) / per_case, (found.high - (rest - 1) * 46_520) / per_case))
    assert bounds == pytest.approx([fewest, most], abs=0.5)


def test_E7_no_bound_lies_on_the_side_to_which_no_case_moved() -> None:
    """Of 40 cases all cost less, most of them by two thirds and a few by little: fewer tokens, and not by chance."""
    rng = np.random.default_rng(6)
    old = rng.normal(63_000, 400, 40)
    new = np.where(np.arange(40) < 3, 0.97, 0.45) * old
    found = paired_means({"tokens": (new, old)}, range(40), resamples=2_000)["tokens"]
    assert found.p_value < 0.001
    assert found.high < 0
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert (new / old).min() <= found.ratio_low < found.ratio_high < 0.8


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 1.001, 2.0, 500.0]), st.sampled_from([1.0, 1.002, 3.0, 900.0])),
        min_size=2,
        max_size=30,
    )
)
def test_E7_bounds_lie_among_what_was_seen_and_the_figure_within_them(pairs: list[tuple[float, float]]) -> None:
    means = means_of([[pair] for pair in pairs], resamples=100)
    each = [new - old for new, old in pairs]
    assert min(each) - 1e-9 <= means.low <= means.difference + 1e-9
    assert means.difference - 1e-9 <= means.high <= max(each) + 1e-9
    if means.ratio is not None:
        ratios = [new / old for new, old in pairs]
        assert means.ratio_low is not None
        assert means.ratio_high is not None
        assert min(ratios) - 1e-9 <= means.ratio_low <= means.ratio + 1e-9
        assert means.ratio - 1e-9 <= means.ratio_high <= max(ratios) + 1e-9


@pytest.mark.parametrize(("clusters", "least"), [(30, 0.92), (100, 0.935)])
def test_intervals_cover_about_what_they_claim(clusters: int, least: float) -> None:
    rng = np.random.default_rng(4)
    difference = ratio = 0
    for seed in range(400):
        old = rng.lognormal(0, 0.8, clusters)
        new = 0.7 * old * np.exp(rng.normal(0, 0.4, clusters) - 0.08)
        means = means_of([[pair] for pair in zip(new.tolist(), old.tolist(), strict=True)], seed=seed, resamples=300)
        assert means.ratio_low is not None
        assert means.ratio_high is not None
        difference += means.low <= -0.3 * np.exp(0.32) <= means.high
        ratio += means.ratio_low <= 0.7 <= means.ratio_high
    assert min(difference, ratio) >= stats.binom.ppf(1e-4, 400, least)
