"""Paired values in clusters, read and checked: what the intervals and tests start from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        return np.where(self.differ, self.new - self.old, 0.0)

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


def group_clusters(
    columns: Mapping[str, tuple[ArrayLike, ArrayLike]], clusters: Sequence[Hashable]
) -> dict[str, Clusters]:
    """Sum up several amounts over the cases of each cluster.

    Args:
        columns: By name, the `(new, old)` values of the amount, each of shape (cases,).
        clusters: Of each case, the label of its cluster.

    Returns:
        By name, the clusters in order of their first case.

    Raises:
        ValueError: a column has not one value for each case, there are no cases, or a value is not finite.
    """
    if not columns:
        return {}
    if not len(clusters):
        raise ValueError("There are no cases to compare.")
    places: dict[Hashable, int] = {}
    of = np.array([places.setdefault(label, len(places)) for label in clusters], dtype=np.intp)
    sizes = np.bincount(of).astype(float)
    groups = {}
    for name, values in columns.items():
        new, old = (np.asarray(value, dtype=float) for value in values)
        if new.shape != of.shape or old.shape != of.shape:
            raise ValueError(f"{name} has {new.size} new and {old.size} old values for {len(of)} cases.")
        if not (np.isfinite(new).all() and np.isfinite(old).all()):
            raise ValueError(f"A value of {name} is no number; leave cases out that were not scored in both.")
        differ = np.bincount(of, weights=new != old) > 0
        groups[name] = Clusters(_sums(of, new), _sums(of, old), sizes, differ)
    return groups


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
