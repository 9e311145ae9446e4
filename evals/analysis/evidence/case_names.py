"""Ids, clusters and kinds of cases in some ten bytes a case: of a million, ids alone would take 80 MB as objects."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 256
"""Ids that are packed together; one block is unpacked at a time."""


class CaseNames:
    """Ids, clusters and kinds of cases, in their order.

    Args:
        blocks: The ids, `_BLOCK` at a time, packed.
        count: How many there are.
        of: Clusters by the place of the case, but for cases that stand alone.
        kinds: As the attribute.
        kind_names: As the attribute.

    Attributes:
        clusters: A number for each case, the same for the cases of a cluster.
        kinds: A number for each case, its place in `kind_names`.
        kind_names: The kinds.
    """

    def __init__(
        self,
        blocks: Sequence[bytes],
        count: int,
        of: Mapping[int, str],
        kinds: NDArray[np.integer[Any]],
        kind_names: tuple[str, ...],
    ) -> None:
        self._blocks, self._count = blocks, count
        self._unpacked = -1, list[str]()
        self.kinds, self.kind_names = kinds, kind_names
        self.clusters: NDArray[np.int32] = np.arange(count, dtype=np.int32)
        self._labels: list[str] = []
        numbers: dict[str, int] = {}
        for place, label in of.items():
            if label not in numbers:
                namesake = self.find(label)
                if namesake is None or namesake in of:  # else it is the cluster of the case of that id
                    namesake = count + len(self._labels)
                    self._labels.append(label)
                numbers[label] = namesake
            self.clusters[place] = numbers[label]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return map(self.id, range(self._count))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, CaseNames)
            and self._count == other._count
            and self._blocks == other._blocks
            and np.array_equal(self.clusters, other.clusters)
            and self._labels == other._labels
            and np.array_equal(self.kinds, other.kinds)
            and self.kind_names == other.kind_names
        )

    __hash__ = None  # type: ignore[assignment]  # compared alone

    def id(self, place: int) -> str:
        """The id of a case."""
        block, at = divmod(place, _BLOCK)
        if self._unpacked[0] != block:
            self._unpacked = block, json.loads(zlib.decompress(self._blocks[block]))
        found: str = self._unpacked[1][at]
        return found

    def label(self, place: int) -> str:
        """The cluster of a case."""
        number = int(self.clusters[place])
        return self.id(number) if number < self._count else self._labels[number - self._count]

    def kind(self, place: int) -> str:
        """The kind of a case."""
        return self.kind_names[int(self.kinds[place])]

    def is_at(self, place: int, case: str, cluster: str, kind: str) -> bool:
        """Whether a case is there, of that cluster and kind."""
        return (
            place < self._count
            and self.id(place) == case
            and self.kind(place) == kind
            and (cluster == case if self.clusters[place] == place else self.label(place) == cluster)
        )

    @cached_property
    def _hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Hashes of the ids and their order; arms of one run are compared without them."""
        hashes = np.fromiter(map(hash, self), np.int64, self._count)
        return hashes, np.argsort(hashes, kind="stable").astype(np.int32)

    def find(self, case: str) -> int | None:
        """The place of a case; `None` if it is not there."""
        wanted = hash(case)
        hashes, order = self._hashes
        at = int(np.searchsorted(hashes, wanted, sorter=order))
        while at < self._count and hashes[order[at]] == wanted:
            if self.id(place := int(order[at])) == case:
                return place
            at += 1
        return None


class NameBuilder:
    """Gathers the names of cases."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._ids: list[str] = []
        self._hashes = array("q")
        self._clusters: dict[int, str] = {}
        self._kinds, self._kind_of = array("i"), dict[str, int]()

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, case: str, cluster: str, kind: str) -> None:
        """Add a case."""
        if cluster != case:
            self._clusters[len(self)] = cluster
        self._kinds.append(self._kind_of.setdefault(kind, len(self._kind_of)))
        self._hashes.append(hash(case))
        self._ids.append(case)
        if len(self._ids) == _BLOCK:
            self._pack()

    def finish(self) -> CaseNames:
        """The names, of which some may be there several times."""
        if self._ids:
            self._pack()
        kinds = np.frombuffer(self._kinds, np.int32).astype(np.min_scalar_type(len(self._kind_of)))
        return CaseNames(self._blocks, len(self), self._clusters, kinds, tuple(self._kind_of))

    @property
    def may_repeat(self) -> bool:
        """Whether a case may have been added twice."""
        hashes = np.frombuffer(self._hashes, np.int64)
        hashes.sort()  # in place: their order is of no other use
        return bool((hashes[1:] == hashes[:-1]).any())

    def _pack(self) -> None:
        self._blocks.append(zlib.compress(json.dumps(self._ids).encode(), 1))  # ASCII, as an id may be no valid UTF-8
        self._ids = []
