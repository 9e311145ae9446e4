"""Find nearly equal texts among very many, without comparing all pairs.

This is an exact join of word sets by their prefixes. The words of every set have one order, the rarest first. Then two
sets with a Jaccard index of at least `t` share at least two words among the first `size - ceil(t * size) + 2` of each
(or are the same single word). So both have an entry under the same pair of words, and sets with a common entry are
compared. With pairs instead of single words, few sets meet even if all share a small vocabulary, as texts from a
template do.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from itertools import combinations, groupby
from math import ceil

MOST_WORDS = 64
"""Words of a text that are compared; of a longer text, those with the least checksums, wherever they stand."""
MOST_COMPARED = 64
"""Sets that one set is compared with at most, for each common pair of words."""
_MOST_HELD = 500
"""Sets that are in memory at a time; of more, the least recently compared go."""
_BUCKETS = 1 << 20
_MIX = 0x9E3779B97F4A7C15
_PART_BITS = 6
"""Entries are sorted in 2 to the power of this many parts, to save memory."""


class WordSets:
    """Sets of words, four bytes a word."""

    def __init__(self) -> None:
        self._words = array("I")
        self._ends = array("Q", [0])
        self._counts = array("I", bytes(4 * _BUCKETS))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, words: Collection[str]) -> None:
        """Add a set; it may be empty."""
        if not words:
            self._ends.append(len(self._words))
            return
        checksums = sorted({zlib.crc32(word.encode(errors="surrogatepass")) for word in set(words)})[:MOST_WORDS]
        for word in checksums:
            self._counts[word % _BUCKETS] += 1
        self._words.extend(checksums)
        self._ends.append(len(self._words))

    def size(self, index: int) -> int:
        """Number of words of a set."""
        return self._ends[index + 1] - self._ends[index]

    def get(self, index: int) -> frozenset[int]:
        """A set, as checksums of its words."""
        return frozenset(self._words[self._ends[index] : self._ends[index + 1]])

    def rarest(self, index: int, count: int) -> list[int]:
        """The rarest words of a set, in one order for all sets."""
        words = self._words[self._ends[index] : self._ends[index + 1]]
        return sorted(words, key=lambda word: (self._counts[word % _BUCKETS], word))[:count]


class Groups:
    """Groups of numbers (a disjoint-set forest)."""

    def __init__(self, size: int) -> None:
        self._parents = array("Q", range(size))

    def find(self, number: int) -> int:
        """The least number of its group."""
        parents = self._parents
        while (parent := parents[number]) != number:
            parents[number] = number = parents[parent]
        return number

    def join(self, left: int, right: int) -> None:
        """Join the groups of two numbers."""
        low, high = sorted((self.find(left), self.find(right)))
        self._parents[high] = low

    def several(self) -> list[list[int]]:
        """Every group of more than one number, each in order."""
        groups: dict[int, list[int]] = {}
        for number, parent in enumerate(self._parents):
            if number != parent:
                root = self.find(number)
                groups.setdefault(root, [root]).append(number)
        return [groups[root] for root in sorted(groups)]


def is_alike(left: frozenset[int], right: frozenset[int], threshold: float) -> bool:
    """Whether the Jaccard index of two sets is at least `threshold`; of two empty ones it is 1."""
    shared = len(left & right)
    return shared >= threshold * (len(left) + len(right) - shared)


def join_alike(
    sets: WordSets,
    groups: Groups,
    threshold: float,
    *,
    among: Collection[int] | None = None,
    may_join: Callable[[int, int], bool] = lambda _one, _other: True,
) -> int:
    """Join the groups of sets that are alike.

    Args:
        sets: The word sets; an empty set is like no other.
        groups: Groups of their numbers; sets of one group are not compared.
        threshold: Least Jaccard index, above 0.5 and at most 1.
        among: Numbers of the sets to compare; all if `None`.
        may_join: Called for each two sets that are alike; decides whether they are joined.

    Returns:
        Number of sets for which so many others have the same rarest words that only `MOST_COMPARED` were compared.
    """
    numbers = range(len(sets)) if among is None else among
    shift = max(24, len(sets).bit_length())
    crowded: set[int] = set()
    get = lru_cache(_MOST_HELD)(sets.get)
    for part in _entries(sets, numbers, threshold, shift):
        for _, run in groupby(sorted(part), key=lambda entry: entry >> shift):
            met = [entry & ((1 << shift) - 1) for entry in run]
            if len(met) > 1:
                crowded.update(_join_met(met, get, groups, threshold, may_join))
    return len(crowded)


def _entries(sets: WordSets, numbers: Iterable[int], threshold: float, shift: int) -> list[array[int]]:
    """Entries of all sets, in parts by their highest bits: a hashed pair of words; the low `shift` bits are the set."""
    mask = (1 << 64) - (1 << shift)
    parts = [array("Q") for _ in range(1 << _PART_BITS)]
    for number in numbers:
        size = sets.size(number)
        if size == 1:
            keys = [sets.rarest(number, 1)[0] * _MIX]
        else:
            words = sets.rarest(number, size - ceil(threshold * size - 1e-9) + 2)
            keys = [(a * _MIX + b) * _MIX for a, b in combinations(words, 2)]
        for key in keys:
            entry = (key & mask) | number
            parts[entry >> 64 - _PART_BITS].append(entry)
    return parts


def _join_met(
    met: list[int],
    get: Callable[[int], frozenset[int]],
    groups: Groups,
    threshold: float,
    may_join: Callable[[int, int], bool],
) -> Iterator[int]:
    """Compare sets with a common pair of words; gives the numbers that were not compared with all others."""
    seen: dict[int, list[int]] = {}  # by group
    for number in met:
        left = MOST_COMPARED
        for root, others in reversed(seen.items()):
            if groups.find(root) == groups.find(number):
                continue
            if not left:
                yield number
                break
            most = left
            for other in others[-most:]:
                left -= 1
                if is_alike(get(number), get(other), threshold) and may_join(number, other):
                    groups.join(number, other)
                    break
            else:
                if most < len(others):
                    yield number
        seen.setdefault(groups.find(number), []).append(number)
