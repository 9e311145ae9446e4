"""The difference between two arms that were asked the same cases (rule E7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.clusters import Clusters, Floats, Pairs, check_settings, read_clusters
from toolbelt.evals.statistics.distributions import chance_below_zero, mcnemar_p, student_quantile
from toolbelt.evals.statistics.intervals import tango_interval
from toolbelt.evals.statistics.resampling import ratio_intervals, sign_flip_p

RESAMPLES = 10_000
_DOUBT = 1.0
"""Weight of the assumption that a cluster that differs does so in all its cases and wholly, in clusters' worth: all
there is to go by where none differs, and nothing where many do."""
_DIGITS = 12
"""To which sums over a cluster are equal: thirds are rounded."""
_LEAST_CHANCE = 1e-15
_PRECISE = 1e-9
"""Standard errors to which a bound is found."""
_MOST_STEPS = 100
"""To a bound; ten or so are usual."""
_NORMAL = NormalDist()


class Method(StrEnum):
    """How an interval and its p value were found."""

    EXACT = "exact McNemar test, score interval (Tango)"
    BOOTSTRAP = "sign-flip test, cluster bootstrap bounded for unseen changes (Gaffke)"


@dataclass(frozen=True, slots=True)
class ShareContrast:
    """A difference between arms, new − old.

    Attributes:
        difference: Of the means over cases, in −1..1.
        low: Lower bound of its interval, in −1..1; below the upper bound always.
        high: Upper bound.
        p_value: Two-sided, of the hypothesis that the arms might as well be exchanged, 0..1; not adjusted.
        clusters: How many there were with cases.
        cases: How many cases.
        discordant: Clusters in which a case differs.
        method: Which of the two ways.
    """

    difference: float
    low: float
    high: float
    p_value: float
    clusters: int
    cases: int
    discordant: int
    method: Method


def paired_difference(pairs: Pairs, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> ShareContrast:
    """The difference in accuracy, or in another share, between two arms over the same cases.

    Where every cluster is a single case that is right or wrong: the exact McNemar test and Tango's score interval.
    Else, the cluster being the unit: a sign-flip test over clusters, which is the McNemar test of clusters, and the
    percentile interval of a cluster bootstrap, widened to a score interval (`cluster_score_interval`) and to bounds for
    what the sample lacks (`bounded_interval`) where those reach further. A bootstrap alone is of no width where nothing
    differed and too narrow where little did; of percentile, bias-corrected and studentised intervals the first needed
    the least widening to cover what it claims.

    Args:
        pairs: For each cluster the `(new, old)` of each of its cases, in 0..1, epochs averaged. Cases that were not
            scored in both arms are to be left out, and reported. The order of clusters, and of cases within one, does
            not matter.
        level: Coverage of the interval, a fraction between 0 and 1.
        seed: Of both.
        resamples: Of the bootstrap, and ways tried in the test where not all can be.

    Raises:
        ValueError: there are no cases, a value is outside 0..1, or a setting is out of range.
    """
    alike = Counter(tuple(sorted((new, old) for new, old in cluster)) for cluster in pairs)
    return paired_difference_of(alike, level, seed, resamples)


def paired_difference_of(
    alike: Mapping[tuple[tuple[float, float], ...], int],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> ShareContrast:
    """The same of clusters that are counted: of very many few differ.

    Args:
        alike: How many clusters have these `(new, old)` of their cases, which are sorted.
        level: As for `paired_difference`, and so are the others.
        seed: Likewise.
        resamples: Likewise.
    """
    check_settings(level, resamples)
    different = sorted(cluster for cluster in alike if cluster)
    if not all(0 <= value <= 1 for cluster in different for pair in cluster for value in pair):
        raise ValueError("Shares lie in 0..1; leave cases out that were not scored in both.")
    # In one order, so that sums of thirds are rounded alike, and chance is the same, in whatever order cases come.
    clusters, counts = read_clusters(different), np.array([alike[cluster] for cluster in different])
    if all(len(cluster) == 1 and set(cluster[0]) <= {0, 1} for cluster in different):
        return _exact(clusters.differences, counts, level)
    return _resampled(clusters.repeated(counts), level, seed, resamples)


def cluster_score_interval(clusters: Clusters, level: float = 0.95) -> tuple[float, float]:
    """Score interval of a mean difference of shares over cases in clusters, for as much as those that differ vary.

    Tango's interval of as many pairs as there are clusters, which are better, worse or alike by a step whose size is
    set so that mean and variance are those found (the linearised variance of the ratio, Kish 1965), with Student's
    quantile for the number of clusters. The step is the root mean square of the clusters that differ and one that
    differs wholly, so that 0 of 20 clusters is 0 of 20 (0.16 at 95%) whatever their size, and many small differences
    are small. For single cases that are right or wrong and many it is Tango's interval.

    Args:
        clusters: With differences of each case in −1..1.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, fractions in −1..1.
    """
    count, cases = len(clusters.sizes), clusters.sizes.sum()
    per_cluster = cases / count
    mean = float(clusters.differences.sum() / cases)
    residuals = (clusters.differences - mean * clusters.sizes) / per_cluster
    correction = count / (count - 1) if count > 1 else 1.0
    squares = float(count * mean * mean + correction * (residuals @ residuals))
    # The whole of the cluster that a case is likeliest to be in, relative to the mean cluster.
    whole = float(clusters.sizes @ clusters.sizes) / (cases * per_cluster)
    step = math.sqrt((squares + _DOUBT * whole**2) / (int(clusters.differ.sum()) + _DOUBT))
    surplus = count * mean / step
    differing = max(squares / step**2, abs(surplus))
    quantile = student_quantile(level, count - 1) if count > 1 else NormalDist().inv_cdf(0.5 + level / 2)
    better, worse = max(0.0, (differing + surplus) / 2), max(0.0, (differing - surplus) / 2)
    low, high = tango_interval(better, worse, max(count, better + worse), quantile)
    return max(-1.0, step * low), min(1.0, step * high)


def bounded_interval(clusters: Clusters, level: float = 0.95) -> tuple[float, float]:
    """Where a mean difference of shares over cases in clusters may lie, whatever the sample happens to lack.

    Each bound is Gaffke's for the mean of a bounded variable (Gaffke 2005, Mathematical Methods of Statistics 14,
    451-467; Learned-Miller and Thomas 2019, arXiv:1905.06208): a quantile of the mean under a Bayesian bootstrap, which
    weighs clusters by exponential variables (Rubin 1981), with one more cluster that nobody saw and that lost, or for
    the upper bound gained, all of its cases. Of clusters that are lost or not it is the Clopper-Pearson bound. What was
    seen does not lessen the weight of what was not: that epochs differ a little is no sign that no case is lost wholly.
    Each bound by itself fails with a chance of at most 1 − level, also of few clusters, where they are of one size.

    Nor is the interval ever narrower than that of as many clusters which all came out alike: Wilson's, of a change of
    the cluster that a case is likeliest to be in. So 0 of 20 clusters is 0 of 20 (0.161 at 95%) whatever their size.

    Args:
        clusters: With differences of each case in −1..1.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, fractions in −1..1; `low` is below `high`.
    """
    sizes = clusters.sizes
    rows = np.column_stack((clusters.differences, sizes))
    kinds, counts = np.unique(np.round(rows, _DIGITS), axis=0, return_counts=True)
    unseen = _unseen_size(sizes, 1 - level)
    low, turned = (
        _lower_bound(sign * kinds[:, 0], kinds[:, 1], counts.astype(float), unseen, 1 - level) for sign in (1, -1)
    )
    mean, square = float(rows[:, 0].sum() / sizes.sum()), _NORMAL.inv_cdf(0.5 + level / 2) ** 2
    least = float(sizes @ sizes / (sizes.sum() * sizes.mean())) * square / (len(sizes) + square)
    return max(-1.0, min(low, mean - least)), min(1.0, max(-turned, mean + least))


def _lower_bound(differences: Floats, sizes: Floats, counts: Floats, unseen: float, tail: float) -> float:
    """Below which the weighted mean lies with the chance of the tail, an unseen cluster of that size being lost."""
    shapes = np.append(counts, 1.0)
    wanted = _NORMAL.inv_cdf(tail)

    def excess(value: float) -> float:
        weights = np.append(differences - value * sizes, -(1 + value) * unseen)
        chance = min(max(chance_below_zero(weights, shapes), _LEAST_CHANCE), 1 - _LEAST_CHANCE)
        return _NORMAL.inv_cdf(chance) - wanted  # all but linear in the value, so that few steps lead to 0

    low, high = -1.0, float(counts @ differences / (counts @ sizes))
    below, above = excess(low), excess(high)
    if below >= 0 or above <= 0:  # all is lost already, or the level is next to 0
        return low if below >= 0 else high
    value, side = low, 0
    for _ in range(_MOST_STEPS):  # the Illinois method
        value = (low * above - high * below) / (above - below)
        found = excess(value)
        if found > 0:
            high, above, below, side = value, found, below / 2 if side > 0 else below, 1
        else:
            low, below, above, side = value, found, above / 2 if side < 0 else above, -1
        if abs(found) < _PRECISE:
            break
    return value


def _unseen_size(sizes: Floats, tail: float) -> float:
    """Cases of the cluster that is added to those seen.

    It leans to the large clusters, as a loss that hits only those shows in few: Σ size⁴ / Σ size³, the mean size of
    what is hit if the chance of that grows with the cube of the size. Where few clusters are much larger than all
    others that is more than can be: so it is at most the size with which, where nothing differs, the bound is the
    greatest loss that shows in no cluster with the chance of the tail, however it is spread over clusters of these
    sizes.
    """
    # Lagrange: at its greatest, a cluster is lost with the chance 1 − least / size; those smaller than that never.
    falling = np.sort(sizes)[::-1]
    logs = (np.cumsum(np.log(falling)) + math.log(tail)) / np.arange(1, len(falling) + 1)
    hit = int(np.flatnonzero(np.exp(logs) < falling)[-1]) + 1
    share = float(np.sum(falling[:hit] - np.exp(logs[hit - 1])) / sizes.sum())
    of_equals = 1 - math.pow(tail, 1 / len(sizes))  # Clopper and Pearson's bound of 0 of so many
    greatest = float(sizes.mean()) * share / (1 - share) * (1 - of_equals) / of_equals
    return min(float(np.sum(sizes**4) / np.sum(sizes**3)), greatest)


def _exact(differences: Floats, counts: NDArray[np.intp], level: float) -> ShareContrast:
    better, worse = (int(counts[sign * differences > 0].sum()) for sign in (1, -1))
    n = int(counts.sum())
    low, high = tango_interval(better, worse, n, NormalDist().inv_cdf(0.5 + level / 2))
    p_value = mcnemar_p(better, worse)
    return ShareContrast((better - worse) / n, low, high, p_value, n, n, better + worse, Method.EXACT)


def _resampled(clusters: Clusters, level: float, seed: int, resamples: int) -> ShareContrast:
    rng = np.random.default_rng(seed)
    intervals = [cluster_score_interval(clusters, level), bounded_interval(clusters, level)]
    if len(clusters.sizes) > 1:
        columns = (clusters.differences, clusters.sizes)
        intervals += [drawn for drawn in ratio_intervals(columns, [(0, 1)], level, resamples, rng) if drawn is not None]
    return ShareContrast(
        difference=float(clusters.differences.sum() / clusters.sizes.sum()),
        low=min(low for low, _ in intervals),
        high=max(high for _, high in intervals),
        p_value=sign_flip_p(clusters.differences, resamples, rng),
        clusters=len(clusters.sizes),
        cases=clusters.cases,
        discordant=int(clusters.differ.sum()),
        method=Method.BOOTSTRAP,
    )
