"""Whether clusters of cases are so unlike in size that few of them may carry a difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.cases import Pair

_TIMES = 3
"""The mean's, from which on the largest cluster is another sort of thing."""
_WEIGHT = 0.02
"""Of the largest cluster among the squares of all sizes: its part of the variance, if all change equally often."""


@dataclass(frozen=True, slots=True, order=True)
class ClusterSizes:
    """How unlike clusters are.

    Attributes:
        weight: Of the largest one among the squares of all sizes, a fraction; 0 where it is not large.
        largest: How many cases it has.
        mean: How many a cluster has on average.
    """

    weight: float = 0.0
    largest: int = 0
    mean: float = 0.0


def measure_clusters(pairs: Sequence[Pair]) -> ClusterSizes:
    """The sizes of the clusters that cases are of."""
    sizes = Counter(pair.cluster for pair in pairs).values()
    if not sizes:
        return ClusterSizes()
    largest, mean = max(sizes), len(pairs) / len(sizes)
    weight = largest**2 / sum(size**2 for size in sizes) if largest >= _TIMES * mean else 0.0
    return ClusterSizes(weight, largest, mean)


def tell_unlike(found: Sequence[ClusterSizes]) -> str:
    """A sentence where clusters are very unlike, of the comparison where they are most so; empty where in none.

    They are where the largest has at least three times the cases of the mean one, and its square is over 2% of the
    squares of all sizes. The simulations behind the rule are in `docs/statistics.md`.
    """
    most = max(found, default=ClusterSizes())
    if most.weight <= _WEIGHT:
        return ""
    return (
        f"Cases come in clusters of very different sizes (largest {most.largest:,}, mean {most.mean:.1f}): "
        "intervals may be too narrow."
    )
