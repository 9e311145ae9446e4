"""Intervals of a share (rule E7): of trials that stand alone, and of trials that come in clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

_DOUBT = 1.0
"""Weight of the assumption that a cluster's trials all go alike, in trials' worth of variance: it settles the matter
where hardly any trial differs from the others, and is nothing where many do."""


def wilson_interval(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Score interval of a proportion (Wilson 1927), without correction for continuity.

    Args:
        successes: Trials that succeeded, 0..n; a fraction where `n` is an effective number.
        n: Trials, more than 0.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, both fractions in 0..1; never of zero width.

    Raises:
        ValueError: a count or the level is out of range.
    """
    if not (n > 0 and 0 <= successes <= n and math.isfinite(n)):
        raise ValueError(f"{successes} successes of {n} is no proportion.")
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1; {level} does not.")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, weight = successes / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    # At the ends the bounds are 0 and 1 exactly, which rounding would miss.
    return (
        0.0 if successes == 0 else max(0.0, middle - half),
        1.0 if successes == n else min(1.0, middle + half),
    )


def clustered_interval(counts: Iterable[tuple[int, int]], level: float = 0.95) -> tuple[float, float]:
    """Score interval of a share of trials that come in clusters, such as the epochs and paraphrases of a case.

    It is Wilson's on the effective sample size, as Korn and Graubard (1998) have it for surveys: the trials, divided
    by the design effect of the ratio estimator (Kish 1965: linearised variance over that of independent trials), and
    lowered for the few degrees of freedom of few clusters. With clusters of one trial each it is Wilson's interval.
    Where hardly any trial differs from the others, which says nothing about how alike a cluster's trials are, the
    design effect leans towards the greatest there is; so that 0 of 20 clusters is 0 of 20, however large they are.

    Args:
        counts: For each cluster, `(successes, n)`: trials that succeeded, and trials. Those without trials count
            for nothing.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, both fractions in 0..1; never of zero width.

    Raises:
        ValueError: a count or the level is out of range, or there are no trials.
    """
    successes, n, size = _effective(counts, level)
    share = min(1.0, successes / n)
    return wilson_interval(share * size, size, level)


def effective_size(counts: Iterable[tuple[int, int]], level: float = 0.95) -> float:
    """How many independent trials would say as much as these, which come in clusters, for an interval of that level.

    At least about the number of clusters, at most the number of trials. Arguments and errors are those of
    `clustered_interval`.
    """
    return _effective(counts, level)[2]


def _effective(counts: Iterable[tuple[int, int]], level: float) -> tuple[int, int, float]:
    """Successes, trials, and the effective number of trials."""
    clusters = [(successes, n) for successes, n in counts if successes or n]
    if not clusters or any(not 0 <= successes <= n for successes, n in clusters):
        raise ValueError("Each cluster has 0 successes or more, and no more than it has trials; one trial at least.")
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1; {level} does not.")
    successes, n = sum(s for s, _ in clusters), sum(size for _, size in clusters)
    if len(clusters) == n:
        return successes, n, float(n)
    share = successes / n
    greatest = sum(size * size for _, size in clusters) / n  # design effect if every cluster's trials go all alike
    scatter = sum((s - share * size) ** 2 for s, size in clusters)
    effect = (scatter + _DOUBT * greatest) / (n * share * (1 - share) + _DOUBT)
    size = n / max(1.0, effect)
    if len(clusters) == 1:
        return successes, n, min(size, n / greatest)
    narrowed = size * (_student_t(level, n - 1) / _student_t(level, len(clusters) - 1)) ** 2
    return successes, n, max(narrowed, min(size, n / greatest))


def _student_t(level: float, degrees: int) -> float:
    """The two-sided quantile of Student's distribution (Hill 1970, Algorithm 396): exact for 1 and 2 degrees of
    freedom, to six digits or so beyond.
    """
    tail = 1 - level
    if degrees == 1:
        return 1 / math.tan(tail * math.pi / 2)
    if degrees == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (degrees - 0.5)
    b = (48 / a) / a
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * degrees
    y = (d * tail) ** (2 / degrees)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(tail / 2)
        y = x * x
        if degrees < 5:
            c += 0.3 * (degrees - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        y = (
            (1 / (((degrees + 6) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2) * 3) + 0.5 / (degrees + 4)) * y
            - 1
        ) * (degrees + 1) / (degrees + 2) + 1 / y
    return math.sqrt(degrees * y)
