"""Ranks tools for a text: BM25 finds the best tool, `fit` says whether it is good enough."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.catalog.search import ToolIndex, describe, search_words, split_name
from toolbelt.evals.offers import Offer, Offered

NAME_SHARE = 0.25
"""Added to the fit if the text has a tool's whole name; chosen on MetaTool's and BFCL's cases."""
UNSEEN = 10
"""Number of imaginary tools beside those at hand: with one tool alone, all words would have the same weight."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one tool.

    Attributes:
        counts: How often each stands in its name, description and parameters.
        name: Those of its name.
    """

    counts: Mapping[str, int]
    name: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """The best tool for some words.

    Attributes:
        position: Which one.
        score: By BM25; comparable only between tools for the same words.
        fit: 0 for nothing in common, about 1 for the very same words.
    """

    position: int
    score: float
    fit: float


class Ranking:
    """Ranks tools by their words."""

    def __init__(self, tools: Sequence[Words]) -> None:
        self._tools = tools
        self._index = ToolIndex([tool.counts for tool in tools])
        self._weights: dict[int, float] = {}

    def find_best(self, words: Iterable[str], among: Iterable[int] | None = None) -> Match | None:
        """The best tool, the first of equals; `None` where none has a word in common.

        Args:
            words: As `search_words` gives them; repeats count once.
            among: Positions to choose from; all, if `None`.
        """
        unique_words = list(dict.fromkeys(words))
        scores = self._index.scores_of(unique_words)
        position = max(range(len(scores)) if among is None else among, key=scores.__getitem__, default=0)
        if not scores or not scores[position]:
            return None
        return Match(position, scores[position], self._fit(unique_words, position))

    def _fit(self, words: Sequence[str], position: int) -> float:
        """Weight in common over the geometric mean of both sides' weights, so that no side's length gives it away."""
        tool = self._tools[position]
        weight = self._weigh
        common = sum(weight(word) for word in words if word in tool.counts)
        named = sum(weight(word) for word in words if word in tool.name)
        whole_name = sum(map(weight, sorted(tool.name)))
        if position not in self._weights:
            self._weights[position] = sum(map(weight, tool.counts))
        together = math.sqrt(sum(map(weight, words)) * self._weights[position])
        return (common / together if together else 0.0) + NAME_SHARE * (named / whole_name if whole_name else 0.0)

    def _weigh(self, word: str) -> float:
        """The weight of a word, as if a few more tools without it were offered."""
        count = self._index.count(word)
        return math.log(1 + (len(self._tools) + UNSEEN - count + 0.5) / (count + 0.5))


def rank_offer(offer: Offer) -> Ranking:
    """The tools of an offer, in its order; made once for each offer."""
    if (ranking := _RANKINGS.get(offer)) is None:
        ranking = _RANKINGS[offer] = Ranking([_read_offered(offered) for offered in offer.tools])
    return ranking


def words_of(name: str, description: str, parameters: Mapping[str, Any]) -> Words:
    """The words of a tool, or of a category."""
    counts = Counter(search_words(describe(name, description, parameters)))
    return Words(counts, frozenset(search_words(split_name(name))))


def parameters_of(offered: Offered) -> Mapping[str, Any]:
    """The schema of its arguments as a model is shown it; empty where that is no mapping."""
    parameters = offered.definition["function"].get("parameters")
    return parameters if isinstance(parameters, Mapping) else {}


_RANKINGS: WeakKeyDictionary[Offer, Ranking] = WeakKeyDictionary()


@lru_cache(maxsize=20_000)
def _read_offered(offered: Offered) -> Words:
    description = offered.definition["function"].get("description")
    return words_of(offered.name, description if isinstance(description, str) else "", parameters_of(offered))
