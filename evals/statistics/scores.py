"""The score interval of a difference between paired shares (rule E7)."""

from __future__ import annotations

import math
from collections.abc import Callable

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
