"""Intervals of a share (rule E7): Wilson's, one for trials in clusters, and Tango's for a difference.

Nothing but the standard library: `eval show` and the lines of a run under way ask for these at once, and scipy's
import would cost them a third of a second. That is why Student's quantile is found here a second time; the tests hold
it, and Wilson's interval, against scipy.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from statistics import NormalDist

_DOUBT = 1.0
"""Weight of the assumption that a cluster's trials all go alike, in trials' worth of variance: it settles the matter
where hardly any trial differs from the others, and is nothing where many do."""
_MOST_SUMMED = 60
"""Degrees of freedom for which Student's probability is summed up."""
_MOST_STEPS = 200
"""Of Newton, who takes ten or so, and more where the level is all but 1."""


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
    return _interval(*_effective(counts, level), level)


def mean_interval(sums: Iterable[tuple[float, int]], level: float = 0.95) -> tuple[float, float]:
    """Score interval of a mean of values in 0..1 that come in clusters, such as the recall of cases.

    It is `clustered_interval` for values that may be fractions: these vary less than trials that are right or wrong, so
    that fewer of them are as good as many trials. Where all are 0 or 1 and stand alone it is Wilson's interval.

    Args:
        sums: For each cluster, the sum of its values and how many there are.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, both fractions in 0..1; never of zero width.

    Raises:
        ValueError: a sum or the level is out of range, or there are no values.
    """
    return _interval(*_effective(sums, level, least_effect=0.0), level)


def _interval(total: float, n: int, size: float, level: float) -> tuple[float, float]:
    share = min(1.0, total / n)
    return wilson_interval(share * size, size, level)


def _effective(
    counts: Iterable[tuple[float, int]], level: float, *, least_effect: float = 1.0
) -> tuple[float, int, float]:
    """Successes, trials, and how many independent trials would say as much: at least the clusters.

    The design effect is at least `least_effect`, so that with 1 they are at most all trials.
    """
    right, sizes = array("d"), array("q")  # a list of pairs would take six times as much memory
    for successes, n in counts:
        if successes or n:
            right.append(successes)
            sizes.append(n)
    if not sizes or any(not 0 <= successes <= n for successes, n in zip(right, sizes, strict=True)):
        raise ValueError("Each cluster has 0 successes or more, and no more than it has trials; one trial at least.")
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1; {level} does not.")
    successes, n = sum(right), sum(sizes)
    if len(sizes) == n and least_effect == 1:
        return successes, n, float(n)
    share = successes / n
    greatest = sum(size * size for size in sizes) / n  # design effect if every cluster's trials go all alike
    scatter = sum((s - share * size) ** 2 for s, size in zip(right, sizes, strict=True))
    effect = (scatter + _DOUBT * greatest) / (n * share * (1 - share) + _DOUBT)
    size = n / max(least_effect, effect)
    if len(sizes) == 1:
        return successes, n, min(size, n / greatest)
    narrowed = size * (_student_t(level, n - 1) / _student_t(level, len(sizes) - 1)) ** 2
    return successes, n, max(narrowed, min(size, n / greatest))


def _student_t(level: float, degrees: int) -> float:
    """The two-sided quantile of Student's distribution, to nine digits: how many standard errors reach so far.

    Up to 60 degrees of freedom it is where the sum that the probability is for whole degrees (Abramowitz and Stegun
    1964, 26.7.3 and 26.7.4) comes to the level; beyond, the expansion about the normal quantile (26.7.5).
    """
    x = NormalDist().inv_cdf(0.5 + level / 2)
    if degrees > _MOST_SUMMED:
        return (
            x
            + (x**3 + x) / (4 * degrees)
            + (5 * x**5 + 16 * x**3 + 3 * x) / (96 * degrees**2)
            + (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / (384 * degrees**3)
            + (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / (92160 * degrees**4)
        )
    if degrees == 1:
        return math.tan(level * math.pi / 2)
    # The probability within t rises ever less steeply, so that Newton's steps from below, where the normal quantile
    # is, never go too far.
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    t = x
    for _ in range(_MOST_STEPS):
        density = 2 * scale * (1 + t * t / degrees) ** (-(degrees + 1) / 2)
        step = (level - _student_within(t, degrees)) / density
        t += step
        if abs(step) < 1e-12 * t:
            break
    return t


def _student_within(t: float, degrees: int) -> float:
    """The probability that Student's figure of 2 degrees of freedom or more lies in −t..t."""
    angle = math.atan(t / math.sqrt(degrees))
    term = math.cos(angle) if degrees % 2 else 1.0
    total = term
    for place in range(3 if degrees % 2 else 2, degrees - 1, 2):
        term *= (place - 1) / place * math.cos(angle) ** 2
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if degrees % 2 else total


_HALVINGS = 60
"""Of an interval no wider than 2: to less than a float can tell apart."""


def tango_interval(better: float, worse: float, n: float, quantile: float) -> tuple[float, float]:
    """Score interval of the difference between paired proportions (Tango 1998, Statistics in Medicine 17, 891-908).

    It holds every difference that the score test does not reject, and is never of zero width: with no pair that
    differs it is Wilson's interval of 0 of n, on either side. Newcombe's method 10 is narrower there, the more so the
    better the shares of the two agree, and covers too seldom where all differences go one way and are rare.

    Args:
        better: Pairs where the new value is right and the old is not, 0 or more; a fraction where `n` is an effective
            number.
        worse: Pairs the other way round.
        n: Pairs, those that agree included; more than 0.
        quantile: Of the reference distribution, in standard errors: 1.96 for 95%.

    Returns:
        `(low, high)` of new − old, fractions in −1..1.

    Raises:
        ValueError: the counts are no counts of n pairs.
    """
    if not (better >= 0 and worse >= 0 and 0 < n < math.inf and better + worse <= n * (1 + 1e-9)):
        raise ValueError(f"{better} better and {worse} worse of {n} pairs cannot be.")
    difference = max(-1.0, min(1.0, (better - worse) / n))

    def rejected(value: float, sign: int) -> bool:
        return sign * (better - worse - n * value) > quantile * math.sqrt(n * _variance(better, worse, n, value))

    return (
        _last_kept(lambda value: rejected(value, 1), difference, -1.0),
        _last_kept(lambda value: rejected(value, -1), difference, 1.0),
    )


def area_interval(area: float, positives: int, negatives: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of the area under a ROC curve (Newcombe 2006, Statistics in Medicine 25, 559-573, method 5).

    It holds every area that is no further from the one found than a normal quantile times the standard error there,
    by Hanley and McNeil (1982) for equally skewed groups; so it is never of zero width.

    Args:
        area: As found, 0..1.
        positives: Independent scores of the one group, 1 or more.
        negatives: Of the other.
        level: Coverage, a fraction between 0 and 1.

    Returns:
        `(low, high)`, both fractions in 0..1.

    Raises:
        ValueError: the area, a count or the level is out of range.
    """
    if not (0 <= area <= 1 and positives >= 1 and negatives >= 1 and 0 < level < 1):
        raise ValueError(f"An area of {area} over {positives} and {negatives} scores at level {level} cannot be.")
    quantile = NormalDist().inv_cdf(0.5 + level / 2)
    others = (positives + negatives) / 2 - 1

    def rejected(value: float) -> bool:
        shared = others * ((1 - value) / (2 - value) + value / (1 + value))
        variance = value * (1 - value) * (1 + shared) / (positives * negatives)
        return abs(area - value) > quantile * math.sqrt(variance)

    return _last_kept(rejected, area, 0.0), _last_kept(rejected, area, 1.0)


def _variance(better: float, worse: float, n: float, difference: float) -> float:
    """Of one pair's difference, where the difference is that one and the share of worse pairs is the likeliest then."""
    linear = (2 * n - better + worse) * difference - better - worse
    constant = -worse * difference * (1 - difference)
    share = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    return max(0.0, 2 * share + difference * (1 - difference))


def _last_kept(rejected: Callable[[float], bool], inner: float, outer: float) -> float:
    """The value furthest from `inner`, which is kept, towards `outer` that is not rejected."""
    if not rejected(outer):
        return outer
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        if rejected(middle):
            outer = middle
        else:
            inner = middle
    return inner
