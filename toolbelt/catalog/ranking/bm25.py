"""BM25 over weighted tokens.

An eval builds an index of some ten tools for each of tens of thousands of cases, and asks it once or twice. So nothing
is built at first: each document is looked up token by token. An index that is asked more often gets a list of documents
for each token. The scores are the same to the last bit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

K1 = 1.5
"""How soon a word that stands again counts no more."""
B = 0.75
"""How far a long text is held against a word that stands in it, 0..1."""
_SEARCHES_WITHOUT_POSTINGS = 16


def inverse_frequency(count: int, size: int) -> float:
    """How much a token weighs that `count` of `size` documents have, at least 0; most for one that none has.

    As Lucene computes it, so that it never becomes negative, however small the catalog.
    """
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


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
        mean = sum(lengths) / self._size if self._size else 0.0
        step = K1 * B / mean if mean else 0.0
        self._dampings = [K1 * (1 - B) + step * length for length in lengths]
        self._lengths = lengths
        self._postings: dict[str, list[tuple[int, float]]] | None = None
        self._searches = 0

    def __len__(self) -> int:
        return self._size

    def count(self, token: str) -> int:
        """How many documents have a token."""
        if self._postings is not None:
            return len(self._postings.get(token, ()))
        return sum([token in counts for counts in self._counts])

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """One for each document, at least 0; 0 where no token of the query stands in it.

        Args:
            query: Weights of the tokens.
        """
        self._searches += 1
        if self._postings is None and self._searches > _SEARCHES_WITHOUT_POSTINGS:
            self._postings = self._make_postings()
        return self._look_up(query) if self._postings is None else self._add_postings(query, self._postings)

    def rank(self, query: Mapping[str, float], k: int) -> list[int]:
        """Positions of the `k` best documents, the best first, equals in their order; none that scores 0."""
        return best(self.scores(query), k)

    def within(self, positions: Sequence[int]) -> Bm25:
        """The same over some of the documents, as if there were no others."""
        return Bm25([self._counts[each] for each in positions], [self._lengths[each] for each in positions])

    def _look_up(self, query: Mapping[str, float]) -> list[float]:
        holders: defaultdict[str, list[int]] = defaultdict(list)
        asked = query.keys()
        for position, counts in enumerate(self._counts):
            for token in asked & counts.keys():
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

    def _make_postings(self) -> dict[str, list[tuple[int, float]]]:
        by_token: dict[str, list[tuple[int, float]]] = {}
        for position, (counts, damping) in enumerate(zip(self._counts, self._dampings, strict=True)):
            for token, count in counts.items():
                share = count / (count + damping)
                if (postings := by_token.get(token)) is None:
                    by_token[token] = [(position, share)]
                else:
                    postings.append((position, share))
        return by_token

    def _add_postings(self, query: Mapping[str, float], by_token: Mapping[str, list[tuple[int, float]]]) -> list[float]:
        scores = [0.0] * self._size
        for token, weight in query.items():
            if (postings := by_token.get(token)) is not None:
                strength = weight * inverse_frequency(len(postings), self._size)
                for position, share in postings:
                    scores[position] += strength * share
        return scores


def best(scores: Sequence[float], k: int) -> list[int]:
    """Positions of the `k` greatest scores above 0, the greatest first, equals in their order."""
    positions = [position for position, score in enumerate(scores) if score > 0]
    return sorted(positions, key=scores.__getitem__, reverse=True)[: max(k, 0)]
