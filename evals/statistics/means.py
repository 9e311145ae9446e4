"""Differences and ratios of means over the same cases: tokens, cost, latency (rule E6, compared as E7 has it)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolbelt.evals.statistics.clusters import (
    Clusters,
    ClusterSums,
    Floats,
    check_settings,
)
from toolbelt.evals.statistics.resampling import ratio_intervals, sign_flip_p

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


def paired_means(
    columns: Mapping[str, tuple[ArrayLike, ArrayLike]],
    clusters: Sequence[Hashable] | NDArray[Any],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, MeanContrast]:
    """Compare the means of two arms in several amounts over the same cases, by a cluster bootstrap.

    The intervals are expanded percentile intervals (Hesterberg 2015), those of the resampled means at levels that make
    up for the few degrees of freedom of few clusters, widened to the bootstrap-t interval (Efron 1982) where that
    reaches further: the first is too short for skewed amounts, and the second for few clusters. The second is kept from
    running off where few cases differ from all others (`ratio_intervals`), and never do bounds lie outside of what the
    clusters themselves show. At a level of 95% the ratio's covers 92% or more from 20 clusters on where the amounts
    of a case move together (30% apart), and 86% or more where they hardly do (2.7 times apart). The difference's covers
    about 94% or more where amounts are moderately skewed (lognormal with a sigma of 0.5) and move together; where
    single cases cost many times the median, no interval of a mean does, and it covers 83% to 94% with a sigma of 1.5.
    Where more than 20 million clusters would be drawn, what the bootstrap tends to is computed.

    The clusters are drawn once for all amounts, so that five cost little more than one. Each interval is as if the
    amount stood alone: nothing is adjusted for there being several.

    Args:
        columns: By name, the `(new, old)` values of the amount, each of shape (cases,): one a case, epochs averaged,
            finite, in any one unit. An amount that is not known for all cases is to be left out, or compared in a call
            of its own over those where it is.
        clusters: Of each case, the cluster it belongs to: any label, in the order of the values.
        level: Coverage of the intervals, a fraction between 0 and 1.
        seed: Of all.
        resamples: Of the bootstrap, and ways tried in the tests where not all can be.

    Returns:
        A contrast for each name, in the order given; empty where no column is.

    Raises:
        ValueError: there are fewer than two clusters, a column has not a value for each case, a value is not finite,
            or a setting is out of range.
    """
    check_settings(level, resamples)
    return _contrasts(ClusterSums(columns, clusters), level, seed, resamples)


def _contrasts(amounts: Mapping[str, Clusters], level: float, seed: int, resamples: int) -> dict[str, MeanContrast]:
    if not amounts:
        return {}
    columns = _Columns(amounts)
    count, cases = len(columns[0]), int(columns[0].sum())
    if count < 2:
        raise ValueError("A single cluster says nothing about how much clusters differ.")
    rng = np.random.default_rng(seed)
    # Of the difference and of the ratio.
    figures = [pair for place in range(1, 1 + 3 * len(amounts), 3) for pair in ((place + 2, 0), (place, place + 1))]
    bounds = iter(ratio_intervals(columns, figures, level, resamples, rng, studentised=True))
    del columns
    found = {}
    for name in amounts:
        amount = amounts[name]
        new, old, differences = float(amount.new.sum()), float(amount.old.sum()), amount.differences
        del amount  # as the test needs memory, and so does the next amount
        difference, p_value = float(differences.sum()) / cases, sign_flip_p(differences, resamples, rng)
        del differences
        low, high = next(bounds) or (difference, difference)  # there always is one, as there are cases
        of_ratio = next(bounds)
        ratio = new / old if new > 0 and old > 0 and of_ratio is not None else None
        found[name] = MeanContrast(
            new=new / cases,
            old=old / cases,
            difference=difference,
            low=low,
            high=high,
            ratio=ratio,
            ratio_low=None if ratio is None or of_ratio is None else of_ratio[0],
            ratio_high=None if ratio is None or of_ratio is None else of_ratio[1],
            p_value=p_value,
            clusters=count,
            cases=cases,
        )
    return found


class _Columns(Sequence[Floats]):
    """The sizes of clusters, and of each amount the new sums, the old ones and their differences; each is made when it
    is asked for.
    """

    def __init__(self, amounts: Mapping[str, Clusters]) -> None:
        self._amounts, self._names = amounts, list(amounts)
        self._sizes = amounts[self._names[0]].sizes
        self._last: tuple[str, Clusters] | None = None

    def __len__(self) -> int:
        return 1 + 3 * len(self._names)

    def __iter__(self) -> Iterator[Floats]:
        yield from map(self.__getitem__, range(len(self)))
        self._last = None

    @overload
    def __getitem__(self, place: int) -> Floats: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Floats]: ...
    def __getitem__(self, place: int | slice) -> Floats | Sequence[Floats]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        if place == 0:
            self._last = None  # sizes go with differences, which are more than the rest of their amount
            return self._sizes
        name = self._names[(place - 1) // 3]
        if self._last is None or self._last[0] != name:
            self._last = None  # not two at once
            self._last = name, self._amounts[name]
        amount = self._last[1]
        return (amount.new, amount.old, amount.differences)[(place - 1) % 3]
