"""The one way to scipy: probabilities and quantiles.

`scipy.special` is a third of a second of import, `scipy.stats`, which asks it, almost a whole one. So the tests hold
these functions against `scipy.stats`, and the commands do without it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]


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
