"""Group-sequential designs: looks at the data while they come in, with error rates as of a single look (rule X6).

A test that is repeated at its usual level errs more often: looks at 35, 50, 65 and 100% of the cases call 6% of equal
arms a regression, not 2.5%. So each look has a stricter bound, from the error that may have been spent by then (Lan and
DeMets 1983, Biometrika 70, 659-663). It is spent as by Hwang, Shih and DeCani (1990, Statistics in Medicine 9,
1439-1445) with γ = −4, R's usual choice: next to O'Brien and Fleming's boundaries the first looks have more of it and
the last as much, so that more is saved for the same power. Pocock's bounds save more where much was lost, but leave 7
to 10% more of the comparisons of equal arms undecided, which is the usual case of a gate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise

import numpy as np

from toolbelt.evals.statistics.distributions import Floats, normal_tail

ALPHA = 0.025
"""Error of each of the two verdicts, over all looks."""
LOOKS = (0.35, 0.5, 0.65, 1.0)
"""Shares of the clusters after which the data are looked at. A look at 80% would save two to four points more, and cost
up to three points of power; one at 25% saves where much was lost alone."""
_GAMMA, _GAMMA_OF_FEW = -4.0, -5.0
"""How late the error is spent: at −1 nearly as Pocock does, further below 0 ever later. Of few clusters later: few of
them can have changed by the first looks, which then cost up to three points of power in place of two."""
_FEW = 400
"""Clusters; below."""
Spending = Callable[[float, float], float]
"""The error that may have been spent, by the share of the information that is there and the error over all looks."""
_POINTS = 801
"""Of the grid, odd for Simpson's rule; four digits of the bounds stand from 401 on."""
_REACH = 8.0
"""Standard deviations below 0 that the grid covers."""
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the data of a design.

    Attributes:
        clusters: How many are asked by then.
        level: Of the interval at this look, a fraction: a bound beyond a limit decides.
    """

    clusters: int
    level: float


def make_looks(clusters: int) -> tuple[Look, ...]:
    """The looks of a design.

    Args:
        clusters: How many there are in all, at least 1.

    Raises:
        ValueError: there are fewer.
    """
    if clusters < 1:
        raise ValueError(f"{clusters} clusters are none to look at.")
    counts = sorted({math.ceil(share * clusters) for share in LOOKS})
    spending = partial(spend, gamma=_GAMMA_OF_FEW) if clusters < _FEW else spend
    bounds = find_bounds([count / clusters for count in counts], ALPHA, spending)
    return tuple(Look(count, 1 - 2 * _tail(bound)) for count, bound in zip(counts, bounds, strict=True))


def spend(share: float, alpha: float = ALPHA, *, gamma: float = _GAMMA) -> float:
    """The error that may have been spent when a share of the information is there: α (1 − exp(−γt)) / (1 − exp(−γ))."""
    return alpha * math.expm1(-gamma * share) / math.expm1(-gamma)


def find_bounds(shares: Sequence[float], alpha: float = ALPHA, spending: Spending = spend) -> tuple[float, ...]:
    """The bounds of a one-sided test in standard errors, one for each look.

    By recursive integration over the sum of what came in, which is a Brownian motion at the looks (Armitage, McPherson
    and Rowe 1969, Journal of the Royal Statistical Society A 132, 235-244).

    Args:
        shares: Of the information, at each look; rising, above 0 and up to 1.
        alpha: Error over all looks, above 0 and below 1/2.
        spending: How much of it there is at each look.

    Raises:
        ValueError: a number is out of range, or the shares do not rise.
    """
    if not 0 < alpha < 0.5:
        raise ValueError(f"An error lies between 0 and 1/2; {alpha} does not.")
    if not shares or shares[0] <= 0 or shares[-1] > 1 or any(b <= a for a, b in pairwise(shares)):
        raise ValueError(f"Shares of looks rise, from above 0 to at most 1; {list(shares)} do not.")
    bounds: list[float] = []
    walk, spent = _Walk(), 0.0
    for share in shares:
        left = spending(share, alpha) - spent
        bounds.append(_bisect(partial(walk.crossing, share), left))
        walk, spent = walk.on(share, bounds[-1]), spending(share, alpha)
    return tuple(bounds)


@cache
def find_level(shares: tuple[float, ...]) -> float:
    """The level of the intervals at all looks, where it is the same at each (Pocock 1977, Biometrika 64, 191-199).

    Args:
        shares: Of the information, at each look; rising, above 0 and up to 1.
    """

    def crossing(bound: float) -> float:
        walk, crossed = _Walk(), 0.0
        for share in shares:
            crossed += walk.crossing(share, bound)
            walk = walk.on(share, bound)
        return crossed

    return 1 - 2 * _tail(_bisect(crossing, ALPHA, halvings=26))


@dataclass(frozen=True)
class _Walk:
    """A Brownian motion as far as no bound was crossed.

    Attributes:
        share: Of the information.
        sums: Where it may be by then, on a grid.
        density: There, times the grid's weights.
    """

    share: float = 0.0
    sums: Floats = field(default_factory=lambda: np.zeros(1))
    density: Floats = field(default_factory=lambda: np.ones(1))

    def crossing(self, share: float, bound: float) -> float:
        """The chance to be beyond a bound at the next look."""
        steps = (bound * math.sqrt(share) - self.sums) / math.sqrt(share - self.share)
        return float(normal_tail(steps) @ self.density)

    def on(self, share: float, bound: float) -> _Walk:
        """As it is after that look, where it did not cross."""
        grid = np.linspace(-_REACH * math.sqrt(share), bound * math.sqrt(share), _POINTS)
        step = math.sqrt(share - self.share)
        steps = (grid[:, None] - self.sums[None, :]) / step
        density = (np.exp(-0.5 * steps**2) / (step * math.sqrt(2 * math.pi))) @ self.density
        return _Walk(share, grid, density * _simpson(grid))


def _bisect(crossing: Callable[[float], float], wanted: float, halvings: int = _HALVINGS) -> float:
    """The bound that is crossed with the chance wanted."""
    low, high = 0.0, 40.0
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if crossing(middle) > wanted else (low, middle)
    return (low + high) / 2


def _simpson(grid: Floats) -> Floats:
    weights = np.full(len(grid), 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    weights *= (grid[1] - grid[0]) / 3
    return weights


def _tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2
