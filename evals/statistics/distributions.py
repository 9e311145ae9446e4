"""The one way to scipy: probabilities and quantiles.

`scipy.special` is a third of a second of import, `scipy.stats`, which asks it, almost a whole one. So the tests hold
these functions against `scipy.stats`, and the commands do without it.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

_NORMAL = NormalDist()
_MOST_STEPS = 100
"""Of Newton, who takes five or so."""
_PRECISE = 1e-9
"""Standard errors to which a saddlepoint is found."""
_AT_THE_MEAN = 1e-4
"""Standard errors from the mean, within which the saddlepoint formula is 0 by 0 and its limit is taken."""


def mcnemar_p(better: int, worse: int) -> float:
    """The exact two-sided test that as many pairs became better as worse (McNemar 1947): a sign test of the pairs that
    differ.

    Args:
        better: Pairs where the new value is right and the old is not, 0 or more.
        worse: Pairs the other way round, 0 or more.

    Returns:
        The p value, more than 0 and at most 1; 1 where nothing differs.

    Raises:
        ValueError: a count is negative.
    """
    if better < 0 or worse < 0:
        raise ValueError(f"{better} and {worse} are no counts.")
    return min(1.0, 2 * float(special.bdtr(min(better, worse), better + worse, 0.5)))


def student_quantile(level: float, degrees: float) -> float:
    """How many standard errors reach either side of a mean at that level, by Student's distribution.

    Args:
        level: Coverage, a fraction between 0 and 1.
        degrees: Of freedom, more than 0.
    """
    return float(special.stdtrit(degrees, 0.5 + level / 2))


def normal_tail(z: Floats) -> Floats:
    """P(a standard normal variable is above z), elementwise."""
    tail: Floats = special.ndtr(-z)
    return tail


def binomial_cdf(successes: ArrayLike, n: ArrayLike, share: float) -> Floats:
    """P(at most that many successes of n), elementwise; 0 where `successes` is negative."""
    successes, whole = np.asarray(successes, dtype=float), np.asarray(n, dtype=np.int_)  # as scipy wants them
    inside = special.bdtr(np.clip(successes, 0, whole), whole, share)
    return np.where(successes < 0, 0.0, inside)


def last_in_tail(n: ArrayLike, tail: float) -> Floats:
    """The greatest number of heads of n fair coins for which P(so many or fewer) is at most `tail`; −1 if even none
    is likelier. Elementwise.
    """
    n = np.asarray(n, dtype=float)
    near = np.floor(np.nan_to_num(special.bdtrik(tail, n, 0.5)))
    steps = np.stack([near - 1, near, near + 1])  # a root is found by rounding, and what is next to it is looked at
    last: Floats = np.where(binomial_cdf(steps, n, 0.5) <= tail, steps, -1.0).max(axis=0)
    return last


def binomial_pmf(successes: ArrayLike, n: int, share: float) -> Floats:
    """P(exactly that many successes of n), elementwise; counts within 0..n."""
    k = np.asarray(successes, dtype=float)
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    weights: Floats = np.exp(ways + special.xlogy(k, share) + special.xlog1py(n - k, -share))
    return weights


def chance_below_zero(weights: Floats, shapes: Floats) -> float:
    """P(a weighted sum of independent gamma variables ≤ 0), by the saddlepoint (Lugannani and Rice 1980, Advances in
    Applied Probability 12, 475-490).

    A gamma variable of shape k is the sum of k standard exponential ones. For chances of 2.5% or more the relative
    error is below 4% from three exponentials on, and below 6% for two.

    Args:
        weights: Of any sign.
        shapes: As many, more than 0.
    """
    least, most = float(weights.min()), float(weights.max())
    if least >= 0 or most <= 0:
        return 1.0 if most <= 0 else 0.0
    # The saddlepoint is where the slope of the cumulant generating function, −Σ shape × log(1 − weight × t), is 0.
    low, high, point = 1 / least, 1 / most, 0.0
    for _ in range(_MOST_STEPS):
        tilted = weights / (1 - weights * point)
        slope, curvature = float(shapes @ tilted), float(shapes @ tilted**2)
        low, high = (low, point) if slope > 0 else (point, high)
        step = slope / curvature
        point = point - step if low <= point - step <= high else (low + high) / 2
        if abs(step) * math.sqrt(curvature) < _PRECISE:
            break
    tilted = weights / (1 - weights * point)
    curvature = float(shapes @ tilted**2)
    cumulant = -float(shapes @ np.log1p(-weights * point))
    root = math.copysign(math.sqrt(max(0.0, -2 * cumulant)), point)
    if abs(root) < _AT_THE_MEAN:
        return 0.5 + float(shapes @ tilted**3) / (3 * math.sqrt(2 * math.pi) * math.pow(curvature, 1.5))
    return _NORMAL.cdf(root) + _NORMAL.pdf(root) * (1 / root - 1 / (point * math.sqrt(curvature)))
