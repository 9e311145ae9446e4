"""Bootstrap intervals of ratios over clusters, and the sign-flip test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.distributions import student_quantile
from toolbelt.evals.statistics.expansion import resampled_quantile, studentised_interval

Floats = NDArray[np.float64]

MOST_DRAWN = 20_000_000
"""Clusters drawn in all, half a second's work: 2,000 clusters that are all unlike, 10,000 times. Beyond, what the draws
would tend to is computed."""
_HELD = 500_000
"""Numbers held at once while clusters are drawn: 4 MB, which stays in a processor's cache."""
_ALIKE = 10
"""Clusters to a kind, from which on drawing how many there are of each kind is quicker than drawing clusters."""
_ALL_SIGNS = 12
"""Differences whose signs are tried in all ways, 4,096 of them."""
_LARGEST = 2_000
"""Differences that are turned one by one where there are too many for all."""
_SLACK = 1e-9
"""By which sums that are equal may differ in rounding, relative to the largest there can be."""
_LEAST_ERROR = 0.4
"""Of the standard error found: the least that a sample's counts as. So a bound of the bootstrap-t interval is at most
2.5 times as far as the samples reach to the other side: where 1, 2, 3 or 4 clusters changed alike and all others did
not, up to 3.5, 7, 10.5 or 10 might have. By the Poisson distribution that is 5.6, 7.2, 8.8 and 10.2."""
_ROUNDING = 1e-12
"""Of a sum of squares, what subtracting may leave where nothing is left."""


def ratio_intervals(
    rows: Floats,
    figures: Sequence[tuple[int, int]],
    level: float,
    resamples: int,
    rng: np.random.Generator,
    *,
    studentised: bool = False,
) -> list[tuple[float, float] | None]:
    """Intervals of ratios of sums over clusters, by a bootstrap that draws clusters (Efron 1979).

    They are expanded percentile intervals (`expanded_tail`), and `studentised`, what of the bootstrap-t interval
    (Efron 1982, chapter 10) reaches further: it sees what a skewed sample lacks. Where a few clusters differ from all
    others, a sample that holds none of those has next to no standard error, and that interval would run off. So a
    sample's error counts as `_LEAST_ERROR` of the one found or more, and where no denominator is below 0, no bound is
    outside of the clusters' own ratios. All figures come from the same samples. Where those would take over
    `MOST_DRAWN` draws, what they tend to is computed (`expansion`): within 2% of the interval's width of drawn ones,
    which are 1% from each other.

    Args:
        rows: A row for each of two clusters or more, of shape (clusters, columns). Their order does not matter.
        figures: Of each ratio, the column of its numerator and that of its denominator.
        level: Coverage, a fraction between 0 and 1.
        resamples: Samples drawn.
        rng: The source of chance.
        studentised: Whether to look at the bootstrap-t interval, too.

    Returns:
        For each figure `(low, high)`; `None` where its denominator is not more than 0 in all samples.
    """
    tail = expanded_tail(len(rows), level)
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    if len(kinds) * _ALIKE > len(rows):
        kinds, counts = np.repeat(kinds, counts, axis=0), np.ones(len(rows), dtype=np.intp)
    if len(kinds) * resamples > MOST_DRAWN:
        return [_computed(rows[:, a], rows[:, b], tail, level if studentised else None) for a, b in figures]
    intervals: list[tuple[float, float] | None] = []
    if studentised:
        pairs = [kinds[:, [x, y]].prod(axis=1) for a, b in figures for x, y in ((a, a), (a, b), (b, b))]
        kinds = np.column_stack([kinds, *pairs])
    sums = _drawn_sums(kinds, counts, resamples, rng)
    totals = counts @ kinds
    for place, (a, b) in enumerate(figures):
        interval = _percentiles(sums[:, a], sums[:, b], tail)
        if studentised and interval is not None:
            columns = [a, b, *range(rows.shape[1] + 3 * place, rows.shape[1] + 3 * place + 3)]
            reach = _studentised(sums[:, columns], totals[columns], level)
            interval = _widened(interval, _among(rows[:, a], rows[:, b], reach))
        intervals.append(interval)
    return intervals


def expanded_tail(clusters: int, level: float) -> float:
    """The share to leave out at either end of bootstrapped means: that of the expanded percentile interval (Hesterberg
    2015, The American Statistician 69, 371-386), which is as wide as Student's interval where the distribution is
    normal.

    Args:
        clusters: How many were drawn from, 2 or more.
        level: Coverage, a fraction between 0 and 1.
    """
    reach = student_quantile(level, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    return NormalDist().cdf(-reach)


def sign_flip_p(differences: Floats, draws: int, rng: np.random.Generator) -> float:
    """The two-sided randomisation test that the two arms of each cluster might as well be exchanged (Fisher 1935).

    Under that hypothesis each cluster's difference is as likely with the other sign. Of single cases that are right or
    wrong it is the exact McNemar test. Up to 12 differences all signs are tried; of more some ways are drawn, the one
    found counted among them (Phipson and Smyth 2010), so that the level is kept either way. Where that would take over
    `MOST_DRAWN` signs, only those of the 2,000 largest are drawn, and the sum of all the others as the normal figure
    that it is then.

    Args:
        differences: Of each cluster, new − old, in any unit.
        draws: Ways drawn, where not all are tried; no p value is below one of so many.
        rng: The source of chance.

    Returns:
        The p value, more than 0 and at most 1; 1 where nothing differs.
    """
    sizes = np.abs(differences[differences != 0])
    if not len(sizes):
        return 1.0
    observed = abs(float(differences.sum())) - _SLACK * float(sizes.sum())
    if len(sizes) <= _ALL_SIGNS:
        ways = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        return float(np.mean(np.abs((2 * ways - 1) @ sizes) >= observed))
    kinds, counts = np.unique(sizes, return_counts=True)
    rest = 0.0
    if len(kinds) * draws > MOST_DRAWN:
        kinds, counts = np.unique(np.sort(sizes)[-_LARGEST:], return_counts=True)
        rest = math.sqrt(max(0.0, float(sizes @ sizes - counts @ kinds**2)))
    as_large = 0
    step = max(1, _HELD // len(kinds))
    for start in range(0, draws, step):
        drawn = min(step, draws - start)
        sums = _signed_sums(kinds, counts, drawn, rng)
        if rest:
            sums = sums + rng.normal(0.0, rest, drawn)
        as_large += int(np.count_nonzero(np.abs(sums) >= observed))
    return (as_large + 1) / (draws + 1)


def _drawn_sums(kinds: Floats, counts: NDArray[np.intp], resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of the columns over as many clusters as there are, drawn with replacement; of shape (resamples, columns)."""
    clusters = int(counts.sum())
    sums = np.empty((resamples, kinds.shape[1]))
    step = max(1, _HELD // len(kinds))
    for start in range(0, resamples, step):
        drawn = min(step, resamples - start)
        if len(kinds) == clusters:
            each = rng.integers(clusters, size=(drawn, clusters)) + clusters * np.arange(drawn)[:, None]
            times = np.bincount(each.ravel(), minlength=drawn * clusters).reshape(drawn, clusters)
        else:
            times = rng.multinomial(clusters, counts / clusters, size=drawn)
        sums[start : start + drawn] = times.astype(float) @ kinds
    return sums


def _percentiles(above: Floats, below: Floats, tail: float) -> tuple[float, float] | None:
    if not (below > 0).all():
        return None
    low, high = np.quantile(above / below, (tail, 1 - tail))
    return float(low), float(high)


def _computed(above: Floats, below: Floats, tail: float, level: float | None) -> tuple[float, float] | None:
    low, high = (resampled_quantile(above, below, share) for share in (tail, 1 - tail))
    if low is None or high is None:
        return None
    interval = _among(above, below, (low, high))
    if level is None:
        return interval
    return _widened(interval, _among(above, below, studentised_interval(above, below, level)))


def _studentised(sums: Floats, totals: Floats, level: float) -> tuple[float, float]:
    """The bootstrap-t interval of a ratio; columns are the sums of a, b, a², ab and b². The errors of samples are held
    above a share of the one found.
    """
    ratios, errors = _ratio_and_error(sums)
    ratio, error = (float(figure[0]) for figure in _ratio_and_error(totals[None, :]))
    if not error > 0:
        return ratio, ratio
    scaled = (ratios - ratio) / np.maximum(errors, _LEAST_ERROR * error)
    low, high = np.quantile(scaled, (0.5 - level / 2, 0.5 + level / 2))
    return ratio - float(high) * error, ratio - float(low) * error


def _ratio_and_error(sums: Floats) -> tuple[Floats, Floats]:
    """Ratios and their linearised standard errors, but for a factor that is the same for all samples."""
    ratios = sums[:, 0] / sums[:, 1]
    squares = sums[:, 2] - 2 * ratios * sums[:, 3] + ratios**2 * sums[:, 4]
    return ratios, np.sqrt(np.where(squares > _ROUNDING * sums[:, 2], squares, 0.0)) / sums[:, 1]


def _among(above: Floats, below: Floats, interval: tuple[float, float]) -> tuple[float, float]:
    """The interval as far as it lies among the clusters' own ratios, as each ratio of sums over some of them does."""
    if below.min() < 0:
        return interval
    ratio = float(above.sum() / below.sum())  # which rounding may put beside them
    with np.errstate(divide="ignore", invalid="ignore"):
        each = above / np.abs(below)
    least, most = min(ratio, float(np.nanmin(each))), max(ratio, float(np.nanmax(each)))
    return max(least, interval[0]), min(most, interval[1])


def _widened(interval: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(interval[0], other[0]), max(interval[1], other[1])


def _signed_sums(kinds: Floats, counts: NDArray[np.intp], draws: int, rng: np.random.Generator) -> Floats:
    """Sums of the differences with signs by chance, one a draw."""
    if len(kinds) * _ALIKE > counts.sum():
        kinds, counts = np.repeat(kinds, counts), np.ones(counts.sum(), dtype=np.intp)
    if len(kinds) < counts.sum():
        # Differences of one size are turned together: how many of them stay as they are is binomial.
        kept = rng.binomial(counts, 0.5, size=(draws, len(kinds)))
        signs: Floats = (2 * kept - counts).astype(float)
    else:
        signs = (2 * rng.integers(0, 2, size=(draws, len(kinds)), dtype=np.int8) - 1).astype(float)
    sums: Floats = signs @ kinds
    return sums
