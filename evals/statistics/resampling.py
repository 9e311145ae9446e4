"""Bootstrap intervals of ratios over clusters, their limit for very many clusters, and the sign-flip test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.clusters import count_different
from toolbelt.evals.statistics.distributions import student_quantile

Floats = NDArray[np.float64]

MOST_DRAWN = 20_000_000
"""Clusters drawn in all, half a second's work: 2,000 clusters that are all unlike, 10,000 times. Beyond, what the draws
would tend to is computed."""
_HELD = 500_000
"""Numbers held at once while clusters are drawn: 4 MB, which stays in a processor's cache."""
_PART = 1 << 16
"""Clusters that are numbered at once, so that little is held beside the numbers."""
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
    columns: Sequence[Floats],
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
    `MOST_DRAWN` draws, what they tend to is computed (`resampled_quantile`): within 2% of the interval's
    width of drawn ones, which are 1% from each other.

    Args:
        columns: Figures of two clusters or more, each of shape (clusters,). The order of clusters does not matter.
        figures: Of each ratio, the column of its numerator and that of its denominator.
        level: Coverage, a fraction between 0 and 1.
        resamples: Samples drawn.
        rng: The source of chance.
        studentised: Whether to look at the bootstrap-t interval, too.

    Returns:
        For each figure `(low, high)`; `None` where its denominator is not more than 0 in all samples.
    """
    clusters, width = len(columns[0]), len(columns)
    tail = expanded_tail(clusters, level)
    counted = _count_kinds(columns, MOST_DRAWN // resamples)
    is_drawn_by_kind = counted is not None and len(counted[0]) * _ALIKE <= clusters
    if counted is None or (not is_drawn_by_kind and clusters * resamples > MOST_DRAWN):
        # No chance is in it, and no two figures need be in memory together.
        return [_computed(columns[a], columns[b], tail, level if studentised else None) for a, b in figures]
    firsts, counts = counted
    kinds = np.column_stack([column[firsts] for column in columns])
    if not is_drawn_by_kind:
        kinds, counts = np.repeat(kinds, counts, axis=0), np.ones(clusters, dtype=np.intp)
    intervals: list[tuple[float, float] | None] = []
    if studentised:
        pairs = [kinds[:, [x, y]].prod(axis=1) for a, b in figures for x, y in ((a, a), (a, b), (b, b))]
        kinds = np.column_stack([kinds, *pairs])
    sums = _drawn_sums(kinds, counts, resamples, rng)
    totals = counts @ kinds
    for place, (a, b) in enumerate(figures):
        interval = _percentiles(sums[:, a], sums[:, b], tail)
        if studentised and interval is not None:
            chosen = [a, b, *range(width + 3 * place, width + 3 * place + 3)]
            reach = _studentised(sums[:, chosen], totals[chosen], level)
            interval = _widened(interval, _among(columns[a], columns[b], reach))
        intervals.append(interval)
    return intervals


def _count_kinds(columns: Sequence[Floats], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Clusters that are alike in all columns: the first of each kind, in the order of their figures, and how many
    there are; `None` once there are more kinds than `most`.
    """
    codes = np.zeros(len(columns[0]), dtype=np.min_scalar_type(-((most + 1) ** 2)))
    for place in range(len(columns)):  # not by a name, which would hold a column while the next is made
        if not _divide_kinds(codes, columns[place], most):
            return None
    counts = np.bincount(codes)
    firsts = np.empty(len(counts), dtype=np.intp)
    for start in reversed(range(0, len(codes), _HELD)):  # of equals, the first is written last
        part = codes[start : start + _HELD]
        firsts[part[::-1]] = np.arange(start + len(part) - 1, start - 1, -1)
    return firsts, counts


def _divide_kinds(codes: NDArray[Any], column: Floats, most: int) -> bool:
    """Number the kinds anew with one more column; whether they are not more than `most`."""
    numbered = _number_values(column, most)
    if numbered is None:
        return False
    codes *= numbered.max() + 1
    codes += numbered
    numbered = _number_values(codes, most)
    if numbered is None:
        return False
    codes[:] = numbered
    return True


def _number_values(column: NDArray[Any], most: int) -> NDArray[np.int32] | None:
    """Of each value, its place among the different ones in their order; `None` where those are more than `most`."""
    parts = [column[start : start + _PART] for start in range(0, len(column), _PART)]
    values = np.unique(parts[0])
    for part in parts[1:]:
        if len(values) > most:
            break
        values = np.unique(np.concatenate([values, part]))
    if len(values) > most:
        return None
    numbers = np.empty(len(column), dtype=np.int32)
    for place, part in enumerate(parts):
        numbers[place * _PART : place * _PART + len(part)] = np.searchsorted(values, part)
    return numbers


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
    rest = 0.0
    is_drawn = count_different(sizes) * draws <= MOST_DRAWN
    kinds, counts = np.unique(sizes if is_drawn else np.sort(sizes)[-_LARGEST:], return_counts=True)
    if not is_drawn:
        rest = math.sqrt(max(0.0, float(sizes @ sizes - counts @ kinds**2)))
    del sizes
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
            each = rng.integers(clusters, size=(drawn, clusters))
            each += clusters * np.arange(drawn)[:, None]
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
    below = np.ascontiguousarray(below)
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
    each = np.abs(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(above, each, out=each)
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
        kept *= 2
        kept -= counts
        signs: Floats = kept.astype(float)
    else:
        signs = (2 * rng.integers(0, 2, size=(draws, len(kinds)), dtype=np.int8) - 1).astype(float)
    sums: Floats = signs @ kinds
    return sums


_HALVINGS = 60
"""Of twenty standard errors: to less than a float can tell apart."""
_REACH = 10.0
"""Standard errors either side, within which a percentile lies."""
_ENOUGH = 100
"""Parts of a sum that are more than 0, so that hardly any sample has none of them."""


def resampled_quantile(above: Floats, below: Floats, share: float) -> float | None:
    """A quantile of the bootstrapped ratio of two sums over clusters, by the expansion of its distribution (Hall 1992,
    The Bootstrap and Edgeworth Expansion, chapter 2), skewness included: what is left out is of the order of one by
    the number of clusters.

    A resampled ratio is at most t where the resampled sum of `above − t × below` is at most 0. The moments of that
    sum are known, and the t sought is the one where its probability is the share.

    Args:
        above: The numerator's part of each cluster, of shape (clusters,).
        below: The denominator's part.
        share: Of the distribution, a fraction between 0 and 1.

    Returns:
        The quantile; `None` where the resampled denominator may be 0 or less.
    """
    count, total = len(above), float(below.sum())
    spread = math.sqrt(float(np.square(below - below.mean()).sum()))
    is_positive = float(below.min()) >= 0 and np.count_nonzero(below) >= _ENOUGH
    if not (is_positive or total > _REACH * spread):
        return None
    ratio = float(above.sum()) / total
    rest = _rest(above, ratio, below)  # its sum is 0
    centred = below - total / count
    squares = float(rest @ rest), float(rest @ centred), float(centred @ centred)
    if not squares[0] > 0:
        return ratio
    cubes = tuple(_sum_of_cubes(rest, power, centred, 3 - power) for power in (3, 2, 1, 0))
    error = math.sqrt(squares[0]) / total
    wanted = NormalDist().inv_cdf(share)

    def too_low(step: float) -> bool:
        # Of rest − step × below: the variance, the skewness, and how many standard errors its sum is from 0.
        variance = squares[0] - 2 * step * squares[1] + step * step * squares[2]
        third = cubes[0] - 3 * step * cubes[1] + 3 * step * step * cubes[2] - step**3 * cubes[3]
        skewness = third / math.pow(variance, 1.5)
        return step * total / math.sqrt(variance) < wanted + skewness * (wanted * wanted - 1) / 6

    low, high = -_REACH * error, _REACH * error
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return ratio + (low + high) / 2


def _rest(above: Floats, ratio: float, below: Floats) -> Floats:
    expected = ratio * below
    return np.subtract(above, expected, out=expected)


def _sum_of_cubes(first: Floats, power: int, second: Floats, other: int) -> float:
    if not power or not other:
        return float(np.sum(first**power if power else second**other))
    squared, single = (first, second) if power > other else (second, first)
    product = squared**2
    product *= single
    return float(np.sum(product))


def studentised_interval(above: Floats, below: Floats, level: float) -> tuple[float, float]:
    """The bootstrap-t interval of a ratio of two sums over clusters, by the expansion of the distribution of a mean in
    its own standard errors (Hall 1992, section 2.6): skewness counts for (2z² + 1)/6 of a standard error there.

    The skewness of a mean is at most 1, that of a single cluster that differs from all others: 1.4 standard errors at a
    level of 95%. So the interval does not run off where few do, as one that is drawn would.

    Args:
        above: The numerator's part of each cluster, of shape (clusters,).
        below: The denominator's part; its sum is more than 0.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`; both are the ratio where nothing differs.
    """
    total = float(below.sum())
    ratio = float(above.sum()) / total
    rest = _rest(above, ratio, below)
    squares = float(rest @ rest)
    if not squares > 0:
        return ratio, ratio
    error = math.sqrt(squares) / total
    skewness = float(np.sum(rest**3)) / math.pow(squares, 1.5)
    # The error goes by the ratio found, and so moves with it.
    moves = float(rest @ below) / total / math.sqrt(squares)
    reach = NormalDist().inv_cdf(0.5 + level / 2)

    def quantile(z: float) -> float:
        return z - skewness * (2 * z * z + 1) / 6 + moves * z * z

    return ratio - error * quantile(reach), ratio - error * quantile(-reach)
