"""Intervals, against published values and by simulation."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from toolbelt.evals.statistics.intervals import (
    _effective,
    _student_t,
    clustered_interval,
    mean_interval,
    tango_interval,
    wilson_interval,
)

CLUSTERS = st.lists(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        pytest.param(81, 263, 0.2553, 0.3662, id="81-of-263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="15-of-148"),
        pytest.param(0, 20, 0.0000, 0.1611, id="0-of-20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="1-of-29"),
        pytest.param(20, 20, 0.8389, 1.0000, id="20-of-20"),
    ],
)
def test_E7_wilson_agrees_with_published_values(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_E7_wilson_and_student_agree_with_scipy(level: float) -> None:
    for n in (1, 2, 5, 20, 57, 300, 10_000):
        for successes in {0, 1, n // 3, n // 2, n - 1, n}:
            theirs = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
            assert wilson_interval(successes, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    for degrees in (*range(1, 130), 1_000, 10**6):
        assert _student_t(level, degrees) == pytest.approx(stats.t.ppf(0.5 + level / 2, degrees), rel=1e-7)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (3, 7), (50, 100), (999, 1000)])
def test_E7_a_bound_is_where_the_score_test_just_rejects(successes: int, n: int, level: float) -> None:
    for bound in wilson_interval(successes, n, level):
        if 0 < bound < 1:
            z = abs(successes / n - bound) / math.sqrt(bound * (1 - bound) / n)
            assert math.erf(z / math.sqrt(2)) == pytest.approx(level)


@pytest.mark.parametrize(
    ("successes", "n", "level"),
    [(1, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 5, 0.0), (1, 5, 1.0), (1, math.inf, 0.95), (math.nan, 5, 0.95)],
)
def test_E7_wilson_refuses_what_is_no_proportion(successes: float, n: float, level: float) -> None:
    with pytest.raises(ValueError):
        wilson_interval(successes, n, level)


@pytest.mark.parametrize("counts", [[], [(0, 0)], [(2, 1)], [(-1, 3)], [(1, 0)]])
def test_E7_clusters_must_be_counts(counts: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError):
        clustered_interval(counts)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=200))
def test_E7_clusters_of_one_are_wilson(successes: list[int]) -> None:
    found = clustered_interval([(success, 1) for success in successes])
    assert found == wilson_interval(sum(successes), len(successes))


@given(st.lists(st.integers(0, 1), min_size=1, max_size=200))
def test_S3_a_mean_of_zeros_and_ones_has_wilsons_interval(values: list[int]) -> None:
    found = mean_interval([(value, 1) for value in values])
    assert found == pytest.approx(wilson_interval(sum(values), len(values)), abs=1e-12)


@given(CLUSTERS, st.floats(0, 1))
def test_S3_the_interval_of_a_mean_holds_it_and_is_never_of_zero_width(
    counts: list[tuple[int, int]], part: float
) -> None:
    sums = [(part * total, size) for total, size in counts]
    mean = sum(total for total, _ in sums) / sum(size for _, size in sums)
    low, high = mean_interval(sums)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    assert high > low


@pytest.mark.parametrize("clusters", [10, 40, 150])
@pytest.mark.parametrize("size", [1, 3])
def test_S3_the_interval_of_mean_reciprocal_ranks_covers_it(clusters: int, size: int) -> None:
    """Ranks are geometric, those of a cluster alike in a third of the cases; 95% is meant, 800 draws are 0.8 off."""
    draw = np.random.default_rng(clusters + size)
    chance = 0.6
    mean = -chance / (1 - chance) * math.log(chance)
    hits = 0
    for _ in range(800):
        alike = draw.geometric(chance, clusters)[:, None]
        ranks = np.where(draw.random((clusters, size)) < 1 / 3, alike, draw.geometric(chance, (clusters, size)))
        low, high = mean_interval([(float(each.sum()), size) for each in 1 / ranks])
        hits += low <= mean <= high
    assert 0.93 <= hits / 800 <= 0.995


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.integers(2, 12))
def test_E7_clusters_that_go_all_alike_count_once_each(outcomes: list[bool], size: int) -> None:
    found = clustered_interval([(size * right, size) for right in outcomes])
    assert found == pytest.approx(wilson_interval(sum(outcomes), len(outcomes)), abs=1e-9)


@given(CLUSTERS)
def test_E7_the_interval_holds_the_share_and_is_never_of_zero_width(counts: list[tuple[int, int]]) -> None:
    low, high = clustered_interval(counts)
    share = sum(successes for successes, _ in counts) / sum(n for _, n in counts)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    assert high - low > 0.01


@given(CLUSTERS)
def test_E7_clusters_are_never_worth_more_than_their_trials(counts: list[tuple[int, int]]) -> None:
    n = sum(size for _, size in counts)
    assert 0 < _effective(counts, 0.95)[2] <= n
    low, high = clustered_interval(counts)
    plain_low, plain_high = wilson_interval(sum(successes for successes, _ in counts), n)
    assert high - low >= plain_high - plain_low - 1e-12


@given(CLUSTERS, st.randoms())
def test_E7_the_order_of_clusters_and_empty_ones_do_not_matter(
    counts: list[tuple[int, int]], shuffler: random.Random
) -> None:
    shuffled = [*counts, (0, 0)]
    shuffler.shuffle(shuffled)
    assert clustered_interval(shuffled) == pytest.approx(clustered_interval(counts))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_E7_a_higher_level_is_wider(level: float) -> None:
    counts = [(1, 3), (3, 3), (0, 3), (2, 3), (3, 4)]
    low, high = clustered_interval(counts, level)
    wider_low, wider_high = clustered_interval(counts, level + 0.009)
    assert wider_low < low < high < wider_high


def test_E7_nothing_that_differs_says_little_however_often_it_is_repeated() -> None:
    assert clustered_interval([(0, 50)] * 20) == pytest.approx(wilson_interval(0, 20))
    assert clustered_interval([(60, 100)])[1] - clustered_interval([(60, 100)])[0] > 0.8


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        pytest.param([(0, 3)] * 20, 20, 20, id="none-differs"),
        pytest.param([(1, 3)] + [(0, 3)] * 19, 20, 35, id="one-trial-differs"),
        pytest.param([(1, 3)] * 100 + [(2, 3)] * 100, 560, 600, id="many-differ-and-clusters-are-unlike"),
        pytest.param([(50, 100)] * 2, 2, 3, id="two-large-clusters-happen-to-agree"),
        pytest.param([(50, 100)] * 100, 9000, 10_000, id="a-hundred-large-clusters-agree"),
    ],
)
def test_E7_few_clusters_and_few_differences_prove_little(
    counts: list[tuple[int, int]], low: float, high: float
) -> None:
    assert low - 1e-9 <= _effective(counts, 0.95)[2] <= high + 1e-9


@pytest.mark.parametrize("alike", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize(("clusters", "size", "share"), [(12, 3, 0.5), (30, 3, 0.8), (30, 10, 0.5), (60, 5, 0.9)])
def test_E7_coverage_is_about_nominal_however_alike_a_clusters_trials_are(
    clusters: int, size: int, share: float, alike: float
) -> None:
    """Beta-binomial clusters, `alike` being the correlation within; 95% is meant, and 600 draws are 0.9 points off."""
    draw = random.Random(f"{clusters} {size} {share} {alike}")

    def cluster() -> tuple[int, int]:
        own = share
        if alike == 1:
            own = float(draw.random() < share)
        elif alike:
            spread = 1 / alike - 1
            own = draw.betavariate(share * spread, (1 - share) * spread)
        return sum(draw.random() < own for _ in range(size)), size

    held = plain = 0
    for _ in range(600):
        counts = [cluster() for _ in range(clusters)]
        low, high = clustered_interval(counts)
        held += low <= share <= high
        low, high = wilson_interval(sum(successes for successes, _ in counts), clusters * size)
        plain += low <= share <= high
    assert 0.925 <= held / 600 <= 1
    if alike >= 0.7:
        assert plain / 600 < 0.9, "the plain interval is too narrow: the test can tell"


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
def test_E7_a_bound_of_the_difference_is_where_the_score_test_just_rejects(better: int, worse: int, n: int) -> None:
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
