"""Differences and ratios of means over the same cases: tokens, cost, latency (rule E6, compared as E7 has it)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolbelt.evals.statistics.clusters import Pairs, check_settings, read_clusters
from toolbelt.evals.statistics.resampling import percentile_bounds, resampled_sums, sign_flip_p

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class MeanContrast:
    """Two means over the same cases, in the unit of the values.

    Attributes:
        new: Mean of the new values over cases.
        old: Mean of the old values.
        difference: New − old.
        low: Lower bound of the difference's interval; equal to the upper one where all clusters differ by the same,
            as tokens may.
        high: Upper bound.
        ratio: New over old; `None` where that is not a positive number over another.
        ratio_low: Lower bound of the ratio's interval; `None` where the ratio is.
        ratio_high: Upper bound; `None` where the ratio is.
        p_value: Two-sided, of the hypothesis that the arms might as well be exchanged, 0..1; not adjusted.
        clusters: How many there were with cases.
        cases: How many cases.
    """

    new: float
    old: float
    difference: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p_value: float
    clusters: int
    cases: int


def paired_means(pairs: Pairs, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> MeanContrast:
    """Compare the means of two arms over the same cases by a cluster bootstrap.

    Expanded percentile intervals (Hesterberg 2015): those of the resampled means, at levels that make up for the few
    degrees of freedom of few clusters. Where single cases cost many times the mean, 30 clusters are too few for any
    interval of a mean: it covers nine times of ten then, and from 100 on about what it claims.

    Args:
        pairs: For each cluster the `(new, old)` of each of its cases, epochs averaged; finite, in any one unit.
        level: Coverage of the intervals, a fraction between 0 and 1.
        seed: Of both.
        resamples: Of the bootstrap, and ways tried in the test where not all can be.

    Raises:
        ValueError: there are fewer than two clusters with cases, a value is not finite, or a setting is out of range.
    """
    check_settings(level, resamples)
    clusters = read_clusters(pairs)
    count, cases = len(clusters.sizes), clusters.cases
    if count < 2:
        raise ValueError("A single cluster says nothing about how much clusters differ.")
    rng = np.random.default_rng(seed)
    columns = (clusters.new, clusters.old, clusters.differences, clusters.sizes)
    sums = resampled_sums(np.column_stack(columns), resamples, rng)
    low, high = percentile_bounds(sums[:, 2] / sums[:, 3], count, level)
    new, old = float(clusters.new.sum()), float(clusters.old.sum())
    ratio = ratio_low = ratio_high = None
    if new > 0 and old > 0 and (sums[:, 1] > 0).all():
        ratio = new / old
        ratio_low, ratio_high = percentile_bounds(sums[:, 0] / sums[:, 1], count, level)
    return MeanContrast(
        new=new / cases,
        old=old / cases,
        difference=float(clusters.differences.sum()) / cases,
        low=low,
        high=high,
        ratio=ratio,
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        p_value=sign_flip_p(clusters.differences, resamples, rng),
        clusters=count,
        cases=cases,
    )
