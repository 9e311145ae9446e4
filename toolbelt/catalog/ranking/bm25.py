"""BM25 over weighted tokens.

An eval builds an index of some ten tools for each of tens of thousands of cases, and asks it once or twice. So nothing
is built at first: each document is compared with the query. An index that is asked more often gets a list of documents
for each token; one of which many parts are asked, a number whose bits are these documents. Scores are the same to the
last bit. Over thousands of tools, `large.LargeBm25` is faster.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

K1 = 1.5
"""How soon a word that stands again counts no more."""
B = 0.75
"""How much less a word counts in a long text, 0..1."""
_Postings = tuple[float, list[tuple[int, float]]]
"""Of a token: its inverse frequency, and each document that has it, with its share of a score."""
_WITHOUT_PREPARATION = 16
"""Searches, and parts, before anything is prepared for more of them."""


def inverse_frequency(count: int, size: int) -> float:
    """How much a token weighs that `count` of `size` documents have, at least 0; most for one that none has.

    As Lucene computes it, so that it never becomes negative, however small the catalog.
    """
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def find_damping(total: float, size: int) -> tuple[float, float]:
    """What stands beside the count of a token in a document: a constant, and what its length is multiplied by.

    Args:
        total: The length of all documents.
        size: Their number.
    """
    return K1 * (1 - B), K1 * B / (total / size) if total else 0.0


class Bm25:
    """Documents ranked by the tokens that they share with a query.

    The score is the sum of weight times `inverse_frequency` times `f / (f + k1 * (1 - b + b * length / mean length))`
    for a token that counts `f` in the document.

    Args:
        counts: Of each document, how often each token stands in it; fractions are allowed.
        lengths: Of each document; by default, the sum of its counts.
    """

    def __init__(self, counts: Sequence[Mapping[str, float]], lengths: Sequence[float] | None = None) -> None:
        self._counts = counts
        self._size = len(counts)
        lengths = [sum(each.values()) for each in counts] if lengths is None else lengths
        base, step = find_damping(sum(lengths), self._size)
        self._dampings = [base + step * length for length in lengths]
        self._lengths = lengths
        self._bits: Sequence[int] = range(self._size)
        self._holders: Mapping[str, int] | None = None
        self._parts = 0
        self._postings: Mapping[str, _Postings] | None = None
        self._searches = 0

    def __len__(self) -> int:
        return self._size

    def count(self, token: str) -> int:
        """How many documents have a token."""
        if self._postings is not None:
            return len(self._postings[token][1]) if token in self._postings else 0
        return sum([token in counts for counts in self._counts])

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """One for each document, at least 0; 0 where no token of the query stands in it.

        Args:
            query: Weights of the tokens.
        """
        self._searches += 1
        if self._postings is None and self._searches > _WITHOUT_PREPARATION:
            self._postings = self._make_postings()
        if self._postings is not None:
            return self._add_postings(query, self._postings)
        return self._look_up(query) if self._holders is None else self._follow_bits(query, self._holders)

    def find_best(self, query: Mapping[str, float], k: int) -> list[tuple[int, float]]:
        """Positions and scores of the `k` best documents, the best first, equals in their order; none that scores 0."""
        scores = self.scores(query)
        positions = [position for position, score in enumerate(scores) if score > 0]
        ranked = sorted(positions, key=scores.__getitem__, reverse=True)[: max(k, 0)]
        return [(position, scores[position]) for position in ranked]

    def within(self, positions: Sequence[int]) -> Bm25:
        """The same over some of the documents, as if there were no others."""
        part = Bm25([self._counts[each] for each in positions], [self._lengths[each] for each in positions])
        self._parts += 1
        if self._holders is None and self._parts > _WITHOUT_PREPARATION:
            self._holders = self._find_holders()
        part._holders = self._holders
        part._bits = [self._bits[each] for each in positions]
        return part

    def _look_up(self, query: Mapping[str, float]) -> list[float]:
        holders: defaultdict[str, list[int]] = defaultdict(list)
        tokens = query.keys()
        for position, counts in enumerate(self._counts):
            for token in tokens & counts.keys():
                holders[token].append(position)
        size, all_counts, dampings = self._size, self._counts, self._dampings
        scores = [0.0] * size
        for token, weight in query.items():  # in this order, whatever that of a set is: else the last bit may differ
            if (positions := holders.get(token)) is not None:
                strength = weight * inverse_frequency(len(positions), size)
                for position in positions:
                    count = all_counts[position][token]
                    scores[position] += strength * (count / (count + dampings[position]))
        return scores

    def _find_holders(self) -> dict[str, int]:
        """Of each token, the documents that have it, each as a bit of a number."""
        holders: dict[str, int] = {}
        for bit, counts in zip(self._bits, self._counts, strict=True):
            for token in counts:
                holders[token] = holders.get(token, 0) | 1 << bit
        return holders

    def _follow_bits(self, query: Mapping[str, float], holders: Mapping[str, int]) -> list[float]:
        size, all_counts, dampings = self._size, self._counts, self._dampings
        masks = [1 << bit for bit in self._bits]
        positions = dict(zip([mask.bit_length() for mask in masks], range(size), strict=True))
        own_bits = sum(masks)
        frequencies = [inverse_frequency(count, size) for count in range(size + 1)]
        scores = [0.0] * size
        for token, weight in query.items():
            if (bits := holders.get(token, 0) & own_bits) == 0:
                continue
            strength = weight * frequencies[bits.bit_count()]
            while bits:
                position = positions[bits.bit_length()]
                bits ^= masks[position]
                count = all_counts[position][token]
                scores[position] += strength * (count / (count + dampings[position]))
        return scores

    def _make_postings(self) -> dict[str, _Postings]:
        by_token: dict[str, list[tuple[int, float]]] = {}
        for position, (counts, damping) in enumerate(zip(self._counts, self._dampings, strict=True)):
            for token, count in counts.items():
                share = count / (count + damping)
                if (postings := by_token.get(token)) is None:
                    by_token[token] = [(position, share)]
                else:
                    postings.append((position, share))
        return {token: (inverse_frequency(len(each), self._size), each) for token, each in by_token.items()}

    def _add_postings(self, query: Mapping[str, float], by_token: Mapping[str, _Postings]) -> list[float]:
        scores = [0.0] * self._size
        for token, weight in query.items():
            if (postings := by_token.get(token)) is not None:
                frequency, shares = postings
                strength = weight * frequency
                for position, share in shares:
                    scores[position] += strength * share
        return scores
