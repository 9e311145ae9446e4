"""BM25 over counted words.

The index is our own and small, and `bm25s` the reference that the tests hold it against: an eval builds an index of
some ten tools for each of tens of thousands of cases, which this does in a tenth of the time that `bm25s` takes, and
without numpy, whose import alone is longer than the whole command takes to start. At 4,000 tools both answer a query
equally fast; beyond, `bm25s` is the quicker one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from toolbelt.catalog.ranking.text import search_words

K1 = 1.5
"""How soon a word that stands again counts no more."""
B = 0.75
"""How far a long text is held against a word that stands in it, 0..1."""


class Bm25:
    """Texts ranked by how well they answer a query.

    The weights are those of BM25 as Lucene computes them: `log(1 + (N - n + 0.5) / (n + 0.5))` for a word that `n` of
    `N` texts have, times `f / (f + k1 * (1 - b + b * length / mean length))` for one that stands `f` times.

    Args:
        texts: One for each tool, as `tool_text` makes them; or how often each of its `search_words` stands in it, for
            who has counted them before.
    """

    def __init__(self, texts: Sequence[str | Mapping[str, int]]) -> None:
        counts = [Counter(search_words(text)) if isinstance(text, str) else text for text in texts]
        self._size = len(counts)
        lengths = [sum(words.values()) for words in counts]
        mean = sum(lengths) / self._size if self._size else 0.0
        by_word: dict[str, list[tuple[int, float]]] = {}
        for position, (words, length) in enumerate(zip(counts, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / mean) if mean else K1
            for word, count in words.items():
                share = count / (count + damping)
                if (postings := by_word.get(word)) is None:
                    by_word[word] = [(position, share)]
                else:
                    postings.append((position, share))
        self._postings = by_word
        self._weights: dict[int, float] = {}

    def __len__(self) -> int:
        return self._size

    def count(self, word: str) -> int:
        """How many texts have a word."""
        return len(self._postings.get(word, ()))

    def weight(self, word: str) -> float:
        """How much a word of a query tells, at least 0; most for one that no text has."""
        count = len(self._postings.get(word, ()))
        if (weight := self._weights.get(count)) is None:
            weight = self._weights[count] = math.log(1 + (self._size - count + 0.5) / (count + 0.5))
        return weight

    def scores(self, query: str) -> list[float]:
        """One for each text, at least 0; 0 where no word of the query stands in it."""
        return self.scores_of(search_words(query))

    def scores_of(self, words: Iterable[str]) -> list[float]:
        """As `scores`, for words as `search_words` gives them; one that stands twice counts twice."""
        scores = [0.0] * self._size
        for word in words:
            if (postings := self._postings.get(word)) is not None:
                weight = self.weight(word)
                for position, share in postings:
                    scores[position] += weight * share
        return scores

    def rank(self, query: str, k: int) -> list[int]:
        """Positions of the `k` best texts, the best first, equals in their order; none that scores 0."""
        scores = self.scores(query)
        ranked = sorted((-score, position) for position, score in enumerate(scores) if score > 0)
        return [position for _, position in ranked[: max(k, 0)]]
