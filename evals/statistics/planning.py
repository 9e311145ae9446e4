"""How many cases a comparison takes, and what so many can show.

Two arms are asked the same cases, each once, and each case stands alone; of cases in clusters, `design_effect` says how
many count for one. What matters is how often the arms differ at all: of the cases where both are right or both are
wrong nothing is learnt. Power is computed from the very tests that `paired` decides by, summed over all counts of cases
that differ; no formula's approximation is left in a figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.distributions import binomial_cdf, binomial_pmf, last_in_tail

LEVEL = 0.95
POWER = 0.8
MOST_CASES = 10_000_000
"""Beyond which no number of cases is given."""
_REACH = 7.5
"""Standard deviations of the number of cases that differ, beyond which less is left than a billionth."""
_FINENESS = 1e-4
"""To which the smallest effect is found, as a share of what separates 0 from the discordance."""
Floats = NDArray[np.float64]


def power_of_difference(cases: int, effect: float, discordance: float, level: float = LEVEL) -> float:
    """The chance that the exact McNemar test calls a true difference one, in its direction.

    Args:
        cases: Asked of both arms, 1 or more.
        effect: The true difference of accuracy, more than 0 and at most the discordance; either direction.
        discordance: Share of cases that just one of the two answers rightly, a fraction in 0..1.
        level: 1 less the chance of a false alarm, a fraction between 0 and 1.

    Returns:
        The power, a fraction in 0..1.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(discordance, level, cases=cases)
    effect = _checked_effect(effect, discordance)
    differing, weights = _differing(cases, discordance)
    most_worse = last_in_tail(differing, (1 - level) / 2)
    won = (1 + effect / discordance) / 2
    return float(weights @ binomial_cdf(most_worse, differing, 1 - won))


def power_of_margin(cases: int, margin: float, discordance: float, effect: float = 0.0, level: float = LEVEL) -> float:
    """The chance that a loss of more than the margin is ruled out (`no_regression`): that the lower bound of the score
    interval (Tango 1998) lies above −margin.

    Args:
        cases: Asked of both arms, 1 or more.
        margin: What may be lost, more than 0 and below 1.
        discordance: Share of cases that just one of the two answers rightly, more than 0, a fraction.
        effect: The true difference, new − old, more than −margin; at most the discordance either way.
        level: Of the interval, a fraction between 0 and 1.

    Returns:
        The power, a fraction in 0..1.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(discordance, level, cases=cases)
    _check_margin(margin, effect, discordance)
    differing, weights = _differing(cases, discordance)
    quantile = NormalDist().inv_cdf(0.5 + level / 2)

    def ruled_out(worse: Floats) -> NDArray[np.bool_]:
        better = differing - worse
        # Tango's score test of a difference of −margin.
        linear = -(2 * cases - better + worse) * margin - differing
        constant = worse * margin * (1 + margin)
        share = (np.sqrt(np.maximum(linear * linear - 8 * cases * constant, 0)) - linear) / (4 * cases)
        spread = np.maximum(2 * share - margin * (1 + margin), 0)
        return np.asarray(better - worse + cases * margin > quantile * np.sqrt(cases * spread))

    most_worse = _last(ruled_out, differing)
    lost = (1 - effect / discordance) / 2
    return float(weights @ binomial_cdf(most_worse, differing, lost))


def cases_for_difference(effect: float, discordance: float, power: float = POWER, level: float = LEVEL) -> int | None:
    """The least number of cases at which a difference of that size is seen with that power, and with any more cases.

    Near what Connor (1987, Biometrics 43, 207-211) approximates, somewhat above, as the exact test is careful.

    Args:
        effect: The true difference of accuracy, more than 0 and at most the discordance; either direction.
        discordance: Share of cases that just one of the two answers rightly.
        power: Wanted, a fraction between 0 and 1.
        level: 1 less the chance of a false alarm.

    Returns:
        The number; `None` if it is over ten million.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(discordance, level, power=power)
    effect = _checked_effect(effect, discordance)
    near = (
        _normal(level) * math.sqrt(discordance)
        + NormalDist().inv_cdf(power) * math.sqrt(max(0.0, discordance - effect * effect))
    ) ** 2 / effect**2
    return _least(lambda cases: power_of_difference(cases, effect, discordance, level) >= power, near)


def cases_for_margin(
    margin: float, discordance: float, effect: float = 0.0, power: float = POWER, level: float = LEVEL
) -> int | None:
    """The least number of cases at which a loss of more than the margin is ruled out with that power.

    Args:
        margin: What may be lost, more than 0 and below 1.
        discordance: Share of cases that just one of the two answers rightly.
        effect: The true difference, new − old, more than −margin.
        power: Wanted, a fraction between 0 and 1.
        level: Of the interval.

    Returns:
        The number; `None` if it is over ten million.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(discordance, level, power=power)
    _check_margin(margin, effect, discordance)
    spread = math.sqrt(max(0.0, discordance - effect * effect))
    near = ((_normal(level) + NormalDist().inv_cdf(power)) * spread / (margin + effect)) ** 2
    return _least(lambda cases: power_of_margin(cases, margin, discordance, effect, level) >= power, near)


def least_difference(cases: int, discordance: float, power: float = POWER, level: float = LEVEL) -> float | None:
    """The smallest difference that so many cases show with that power.

    Args:
        cases: Asked of both arms, 1 or more.
        discordance: Share of cases that just one of the two answers rightly, more than 0.
        power: Wanted, a fraction between 0 and 1.
        level: 1 less the chance of a false alarm.

    Returns:
        A fraction, at most the discordance, to four digits or better; `None` if even a difference as large as the
        discordance is seen too seldom.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(discordance, level, power=power, cases=cases)
    if power_of_difference(cases, discordance, discordance, level) < power:
        return None
    low, high = 0.0, discordance
    while high - low > _FINENESS * discordance:
        middle = (low + high) / 2
        if power_of_difference(cases, middle, discordance, level) >= power:
            high = middle
        else:
            low = middle
    return high


def least_margin(cases: int, discordance: float, power: float = POWER, level: float = LEVEL) -> float | None:
    """The smallest margin that so many cases keep with that power, where the arms are equally good.

    Arguments and errors are those of `least_difference`.

    Returns:
        A fraction below 1, to four digits or better; `None` if so few cases rule nothing out.
    """
    _check(discordance, level, power=power, cases=cases)
    low, high = 0.0, 1 - _FINENESS
    if power_of_margin(cases, high, discordance, 0.0, level) < power:
        return None
    while high - low > _FINENESS * discordance:
        middle = (low + high) / 2
        if power_of_margin(cases, middle, discordance, 0.0, level) >= power:
            high = middle
        else:
            low = middle
    return high


def design_effect(cluster_size: float, correlation: float) -> float:
    """How many cases in clusters say as much as one that stands alone (Kish 1965): 1 + (size − 1) × correlation.

    Exact where clusters are of one size and their cases change all together (correlation 1) or each by itself (0);
    between, the power that follows is what it should be to about three points.

    Args:
        cluster_size: Cases of a cluster, 1 or more: the mean over cases of the size of their own cluster.
        correlation: Between the changes of two cases of a cluster, a fraction in 0..1.

    Raises:
        ValueError: an argument is out of range.
    """
    if not (1 <= cluster_size < math.inf and 0 <= correlation <= 1):
        raise ValueError(f"Clusters of {cluster_size} cases correlated by {correlation} cannot be.")
    return 1 + (cluster_size - 1) * correlation


def _differing(cases: int, discordance: float) -> tuple[Floats, Floats]:
    """How many cases may differ, and the chance of each."""
    middle, spread = cases * discordance, math.sqrt(cases * discordance * (1 - discordance))
    first = max(0, math.floor(middle - _REACH * spread - 30))
    last = min(cases, math.ceil(middle + _REACH * spread + 30))
    counts = np.arange(first, last + 1, dtype=float)
    weights = binomial_pmf(counts, cases, discordance)
    return counts, weights / weights.sum()


def _last(holds: Callable[[Floats], NDArray[np.bool_]], differing: Floats) -> Floats:
    """The greatest number of worse cases, of those that differ, for which that holds; −1 where it never does.

    What holds for a number holds for each smaller one.
    """
    low, high = np.full_like(differing, -1.0), differing + 1
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        inside = (middle > low) & (middle < high)
        kept = holds(middle)
        low = np.where(inside & kept, middle, low)
        high = np.where(inside & ~kept, middle, high)
    return low


def _least(enough: Callable[[int], bool], near: float) -> int | None:
    """The least number of cases that are enough, from near which it is expected; power rises by and large with them."""
    low, high = 0, max(1, math.ceil(near))
    while high > MOST_CASES or not enough(high):
        if high > MOST_CASES:
            return None
        low, high = high, high + max(8, high // 100)
    if not low:
        low = high - max(8, high // 100)
        while low > 0 and enough(low):
            low, high = low - max(8, low // 100), low
        low = max(0, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _normal(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _check(discordance: float, level: float, *, power: float = POWER, cases: int = 1) -> None:
    if not 0 < discordance <= 1:
        raise ValueError(f"A discordance is more than 0 and at most 1; {discordance} is not.")
    for name, share in (("level", level), ("power", power)):
        if not 0 < share < 1:
            raise ValueError(f"A {name} lies between 0 and 1; {share} does not.")
    if not 1 <= cases <= MOST_CASES:
        raise ValueError(f"Cases are 1 to {MOST_CASES:,}; not {cases}.")


def _checked_effect(effect: float, discordance: float) -> float:
    if not 0 < abs(effect) <= discordance:
        raise ValueError(f"A difference of {effect} cannot be where the arms differ in {discordance} of the cases.")
    return abs(effect)


def _check_margin(margin: float, effect: float, discordance: float) -> None:
    if not 0 < margin < 1:
        raise ValueError(f"A margin to be kept is more than 0 and below 1; {margin} is not.")
    if not (-margin < effect and abs(effect) <= discordance):
        raise ValueError(f"A true difference of {effect} is beyond the margin or the discordance.")
