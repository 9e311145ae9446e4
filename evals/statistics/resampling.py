"""Clusters drawn anew: bootstrap sums, and the test that turns the arms of a cluster round."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.distributions import student_quantile

Floats = NDArray[np.float64]

_HELD = 4_000_000
"""Numbers held at once while clusters are drawn: 32 MB."""
_ALL_SIGNS = 12
"""Differences whose signs are tried in all ways, 4,096 of them."""
_SLACK = 1e-9
"""By which sums that are equal may differ in rounding, relative to the largest there can be."""


def resampled_sums(rows: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums over bootstrap samples of clusters (Efron 1979): as many as there are, drawn with replacement.

    Clusters that are alike are drawn together, as counts, so that accuracy over thousands of clusters costs no more
    than over a few.

    Args:
        rows: A row for each cluster, of shape (clusters, columns).
        resamples: Samples drawn.
        rng: The source of chance.

    Returns:
        The sums of the columns, of shape (resamples, columns).
    """
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    shares = counts / counts.sum()
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, _HELD // len(kinds))
    for start in range(0, resamples, step):
        end = min(resamples, start + step)
        sums[start:end] = rng.multinomial(len(rows), shares, size=end - start) @ kinds
    return sums


def percentile_bounds(drawn: Floats, clusters: int, level: float) -> tuple[float, float]:
    """The expanded percentile interval (Hesterberg 2015, The American Statistician 69, 371-386): of the level that
    makes it as wide as Student's interval where the distribution is normal.

    Args:
        drawn: The figure in each bootstrap sample, of shape (resamples,).
        clusters: How many were drawn from, 2 or more.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)` in the figure's unit.
    """
    reach = student_quantile(level, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return float(low), float(high)


def sign_flip_p(differences: Floats, draws: int, rng: np.random.Generator) -> float:
    """The two-sided randomisation test that the two arms of each cluster might as well be exchanged (Fisher 1935).

    Under that hypothesis each cluster's difference is as likely with the other sign. Of single cases that are right or
    wrong it is the exact McNemar test. Up to 12 differences all signs are tried; of more some ways are drawn, the one
    found counted among them (Phipson and Smyth 2010), so that the level is kept either way.

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
    found = abs(float(differences.sum())) - _SLACK * float(sizes.sum())
    if len(sizes) <= _ALL_SIGNS:
        ways = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        return float(np.mean(np.abs((2 * ways - 1) @ sizes) >= found))
    as_large = 0
    # Differences of one size are turned together: how many of them stay as they are is binomial.
    kinds, counts = np.unique(sizes, return_counts=True)
    step = max(1, _HELD // len(kinds))
    for start in range(0, draws, step):
        drawn = min(step, draws - start)
        kept = rng.binomial(counts, 0.5, size=(drawn, len(kinds)))
        as_large += int(np.count_nonzero(np.abs((2 * kept - counts) @ kinds) >= found))
    return (as_large + 1) / (draws + 1)
