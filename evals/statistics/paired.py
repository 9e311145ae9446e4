"""The difference between two arms that were asked the same cases (rule E7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np

from toolbelt.evals.statistics.clusters import Clusters, Pairs, check_settings, read_clusters
from toolbelt.evals.statistics.distributions import mcnemar_p, student_quantile
from toolbelt.evals.statistics.intervals import tango_interval
from toolbelt.evals.statistics.resampling import ratio_intervals, sign_flip_p

RESAMPLES = 10_000
_DOUBT = 1.0
"""Weight of the assumption that a cluster that differs does so in all its cases and wholly, in clusters' worth: all
there is to go by where none differs, and nothing where many do."""


class Method(StrEnum):
    """How an interval and its p value were found."""

    EXACT = "exact McNemar test, score interval (Tango)"
    BOOTSTRAP = "sign-flip test, cluster bootstrap bounded by a score interval"


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
    percentile interval of a cluster bootstrap, widened to a score interval (`cluster_score_interval`) where that is
    wider. A bootstrap alone is of no width where nothing differed and too narrow where little did; of percentile,
    bias-corrected and studentised intervals the first needed the least widening to cover what it claims.

    Args:
        pairs: For each cluster the `(new, old)` of each of its cases, in 0..1, epochs averaged. Cases that were not
            scored in both arms are to be left out, and told. The order of clusters, and of cases within one, does
            not matter.
        level: Coverage of the interval, a fraction between 0 and 1.
        seed: Of both.
        resamples: Of the bootstrap, and ways tried in the test where not all can be.

    Raises:
        ValueError: there are no cases, a value is outside 0..1, or a setting is out of range.
    """
    check_settings(level, resamples)
    clusters = [cluster for cluster in pairs if len(cluster)]
    if not all(0 <= value <= 1 for cluster in clusters for pair in cluster for value in pair):
        raise ValueError("Shares lie in 0..1; leave cases out that were not scored in both.")
    if all(len(cluster) == 1 and set(cluster[0]) <= {0, 1} for cluster in clusters):
        return _exact(read_clusters(clusters), level)
    # In one order, so that sums of thirds are rounded alike, and chance is the same, in whatever order cases come.
    return _resampled(read_clusters(sorted(sorted(cluster) for cluster in clusters)), level, seed, resamples)


def cluster_score_interval(clusters: Clusters, level: float = 0.95) -> tuple[float, float]:
    """Score interval of a mean difference of shares over cases in clusters; never of zero width.

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


def _exact(clusters: Clusters, level: float) -> ShareContrast:
    better, worse = (int((sign * clusters.differences > 0).sum()) for sign in (1, -1))
    n = len(clusters.sizes)
    low, high = tango_interval(better, worse, n, NormalDist().inv_cdf(0.5 + level / 2))
    p_value = mcnemar_p(better, worse)
    return ShareContrast((better - worse) / n, low, high, p_value, n, n, better + worse, Method.EXACT)


def _resampled(clusters: Clusters, level: float, seed: int, resamples: int) -> ShareContrast:
    rng = np.random.default_rng(seed)
    low, high = cluster_score_interval(clusters, level)
    if len(clusters.sizes) > 1:
        rows = np.column_stack((clusters.differences, clusters.sizes))
        (drawn,) = ratio_intervals(rows, [(0, 1)], level, resamples, rng)
        if drawn is not None:
            low, high = min(low, drawn[0]), max(high, drawn[1])
    return ShareContrast(
        difference=float(clusters.differences.sum() / clusters.sizes.sum()),
        low=low,
        high=high,
        p_value=sign_flip_p(clusters.differences, resamples, rng),
        clusters=len(clusters.sizes),
        cases=clusters.cases,
        discordant=int(clusters.differ.sum()),
        method=Method.BOOTSTRAP,
    )
