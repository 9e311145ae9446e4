"""Shards: parts of a plan that are run apart, on several machines, and merged into one run (rule X4)."""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolbelt.errors import ToolbeltError

MOST_SHARDS = 10_000
_WRITTEN = re.compile(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of the parts of a plan.

    Attributes:
        number: Which, from 1.
        count: How many parts there are.

    Raises:
        ToolbeltError: there is no such part.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_SHARDS:
            raise ToolbeltError(f"A run has 1 to {MOST_SHARDS:,} shards, not {self.count:,}.")
        if not 1 <= self.number <= self.count:
            raise ToolbeltError(
                f"There is no shard {self}: shards are counted from 1, so the last one is {self.count}/{self.count}."
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> Shard:
    """Read a shard as it is written, such as `3/8`; raises `ToolbeltError` where it is none."""
    if (written := _WRITTEN.fullmatch(text)) is None:
        raise ToolbeltError(f"{text!r} is no shard: write which one and how many there are, such as 3/8.")
    return Shard(int(written[1]), int(written[2]))


def choose_positions(clusters: Iterable[int], shard: Shard) -> Sequence[int]:
    """The positions of a shard's cases, in order.

    Each cluster goes, the largest first, to the shard that has the fewest cases so far. So a cluster is never cut,
    shards differ by no more cases than the largest cluster has, and cases that stand alone are dealt out in turn, so
    that neighbours in the dataset, which are often alike, are spread.

    Args:
        clusters: Of each case of the plan, a number that only the cases of its cluster have.
        shard: Which one.

    Raises:
        ToolbeltError: there are fewer clusters than shards.
    """
    labels = array("Q", clusters)
    sizes: dict[int, int] = {}
    for label in labels:
        sizes[label] = sizes.get(label, 0) + 1
    if len(sizes) < shard.count:
        raise ToolbeltError(
            f"{len(sizes):,} clusters of cases cannot be split into {shard.count:,} shards, as a cluster is never cut; "
            f"take at most {len(sizes):,}."
        )
    loads = [(0, number) for number in range(1, shard.count + 1)]
    own: set[int] = set()
    for label, size in sorted(sizes.items(), key=lambda item: -item[1]):  # stable, so in order of their first case
        load, number = heapq.heappop(loads)
        heapq.heappush(loads, (load + size, number))
        if number == shard.number:
            own.add(label)
    return array("I", (position for position, label in enumerate(labels) if label in own))
