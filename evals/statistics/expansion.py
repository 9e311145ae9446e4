"""The limit of a bootstrap over very many clusters, computed by expansion instead of drawn."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
    rest = above - ratio * below  # its sum is 0
    centred = below - total / count
    squares = float(rest @ rest), float(rest @ centred), float(centred @ centred)
    if not squares[0] > 0:
        return ratio
    cubes = tuple(float(np.sum(rest**power * centred ** (3 - power))) for power in (3, 2, 1, 0))
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
    rest = above - ratio * below
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
