"""Paired values in clusters, read and checked: what the intervals and tests start from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Pairs = Iterable[Sequence[tuple[float, float]]]
"""For each cluster `(new, old)` of each of its cases, epochs averaged."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Sums over the cases of each cluster, all of shape (clusters,).

    Attributes:
        new: Of the new values.
        old: Of the old values.
        sizes: How many cases.
        differ: Whether any of its cases differs.
    """

    new: Floats
    old: Floats
    sizes: Floats
    differ: NDArray[np.bool_]

    @property
    def differences(self) -> Floats:
        """Sums of new − old; exactly 0 where no case differs."""
        differences = self.new - self.old
        differences[~self.differ] = 0.0
        return differences

    def repeated(self, times: NDArray[np.intp]) -> Clusters:
        """The same clusters, each so many times."""
        new, old, sizes = (np.repeat(column, times) for column in (self.new, self.old, self.sizes))
        return Clusters(new, old, sizes, np.repeat(self.differ, times))

    @property
    def cases(self) -> int:
        """All of them."""
        return int(self.sizes.sum())


def read_clusters(pairs: Pairs) -> Clusters:
    """Sum up the cases of each cluster; clusters without cases are left out.

    Args:
        pairs: The clusters.

    Raises:
        ValueError: there are no cases, or a value is not finite.
    """
    clusters = [cluster for cluster in pairs if len(cluster)]
    if not clusters:
        raise ValueError("There are no cases to compare.")
    flat = np.array([pair for cluster in clusters for pair in cluster], dtype=float)
    if not np.isfinite(flat).all():
        raise ValueError("A value is no number; leave cases out that were not scored in both.")
    starts = np.concatenate(([0], np.cumsum([len(cluster) for cluster in clusters])[:-1])).astype(np.intp)
    new, old = (np.add.reduceat(flat[:, column], starts) for column in (0, 1))
    differ = np.add.reduceat((flat[:, 0] != flat[:, 1]).astype(float), starts) > 0
    return Clusters(new, old, np.array([float(len(cluster)) for cluster in clusters]), differ)


class ClusterSums(Mapping[str, Clusters]):
    """Sums of several amounts over the cases of each cluster, each made when it is asked for.

    Args:
        columns: By name, the `(new, old)` values of the amount, each of shape (cases,).
        clusters: Of each case, the label of its cluster.

    Raises:
        ValueError: there are amounts, but no cases; a column has not one value for each case, or one is not finite.
    """

    def __init__(
        self, columns: Mapping[str, tuple[ArrayLike, ArrayLike]], clusters: Sequence[Hashable] | NDArray[Any]
    ) -> None:
        if columns and not len(clusters):
            raise ValueError("There are no cases to compare.")
        self._columns, self._cases = columns, len(clusters)
        self._of = None if _is_each_alone(clusters) else _number_clusters(clusters)
        self._sizes: Floats = (
            np.broadcast_to(1.0, len(clusters)) if self._of is None else np.bincount(self._of).astype(float)
        )

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, name: str) -> Clusters:
        """The clusters in order of their first case."""
        new, old = (np.asarray(value, dtype=float) for value in self._columns[name])
        if new.shape != (self._cases,) or old.shape != (self._cases,):
            raise ValueError(f"{name} has {new.size} new and {old.size} old values for {self._cases} cases.")
        if not (np.isfinite(new).all() and np.isfinite(old).all()):
            raise ValueError(f"A value of {name} is no number; leave cases out that were not scored in both.")
        if (of := self._of) is None:
            return Clusters(new, old, self._sizes, new != old)
        differ = np.bincount(of, weights=new != old) > 0
        return Clusters(_sums(of, new), _sums(of, old), self._sizes, differ)


def count_different(values: NDArray[Any]) -> int:
    """How many different values there are; `np.unique` may take 60 bytes each to find out."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))


def _is_each_alone(labels: Sequence[Hashable] | NDArray[Any]) -> bool:
    """Whether it is plain that no two cases are of one cluster; then none need be added up."""
    return isinstance(labels, np.ndarray) and bool((labels[1:] > labels[:-1]).all())


def _number_clusters(labels: Sequence[Hashable] | NDArray[Any]) -> NDArray[np.intp]:
    """A number for each case, from 0 in the order of the first case of each cluster."""
    if not isinstance(labels, np.ndarray):
        places: dict[Hashable, int] = {}
        return np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.intp)
    _, firsts, of = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(firsts), dtype=np.intp)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    return ranks[of]


def _sums(of: NDArray[np.intp], values: Floats) -> Floats:
    return np.asarray(np.bincount(of, weights=values), dtype=np.float64)


def check_settings(level: float, resamples: int) -> None:
    """Refuse a level that is none, and too few resamples to have quantiles.

    Raises:
        ValueError: one of them is out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1; {level} does not.")
    if resamples * (1 - level) < 2 or not math.isfinite(resamples):
        raise ValueError(f"{resamples} resamples are too few for an interval of level {level}.")
