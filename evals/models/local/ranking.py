"""Ranks tools for a text: BM25 finds the best tool, `fit` says whether it is good enough."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.catalog.ranking.bm25 import Bm25, inverse_frequency
from toolbelt.catalog.ranking.terms import Document, join_fields, read_fields, stem_token, weigh_words
from toolbelt.catalog.ranking.text import find_stems, split_words
from toolbelt.evals.offers import Offer, Offered

NAME_SHARE = 0.25
"""Added to the fit if the text has a tool's whole name; chosen on MetaTool's and BFCL's cases."""
UNSEEN = 10
"""Number of imaginary tools beside those at hand: with one tool alone, all words would have the same weight."""
_REMEMBERED = 1000
"""Texts whose best tool is remembered, of each offer."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one tool.

    Attributes:
        document: What it is ranked by.
        stems: Of its name, description and parameters.
        name: Those of its name.
    """

    document: Document
    stems: Mapping[str, None]
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
        documents = [tool.document for tool in tools]
        self._index = Bm25([each.counts for each in documents], [each.length for each in documents])
        self._weights: dict[int, tuple[float, float]] = {}
        self._weight_by_stem: dict[str, float] = {}
        self._remembered: dict[tuple[str, ...], Match | None] = {}

    def find_best(self, words: Iterable[str], among: Sequence[int] | None = None) -> Match | None:
        """The best tool, the first of equals; `None` where that has no word in common, but parts of words at most.

        Args:
            words: As `split_words` gives them; repeats count once.
            among: Positions to choose from; all, if `None`.
        """
        unique_words = tuple(dict.fromkeys(words))
        if among is not None and len(among) < len(self._tools):
            return self._find_best(unique_words, among)
        # A message of one sentence is also its only part, and is read again at each request of a trial.
        if unique_words not in self._remembered:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[unique_words] = self._find_best(unique_words, range(len(self._tools)))
        return self._remembered[unique_words]

    def _find_best(self, words: tuple[str, ...], among: Sequence[int]) -> Match | None:
        scores = self._index.scores(weigh_words(words))
        position = max(among, key=scores.__getitem__, default=0)
        if not scores or not scores[position]:
            return None
        fit = self._fit(dict.fromkeys(find_stems(words)), position)
        return Match(position, scores[position], fit) if fit else None

    def _fit(self, stems: Iterable[str], position: int) -> float:
        """Weight in common over the geometric mean of both sides' weights, so that no side's length gives it away."""
        tool = self._tools[position]
        if position not in self._weights:
            self._weights[position] = sum(map(self._weigh, tool.stems)), sum(map(self._weigh, sorted(tool.name)))
        whole_tool, whole_name = self._weights[position]
        weights = {stem: self._weigh(stem) for stem in stems}
        common = sum([weight for stem, weight in weights.items() if stem in tool.stems])
        named = sum([weight for stem, weight in weights.items() if stem in tool.name])
        together = math.sqrt(sum(weights.values()) * whole_tool)
        return (common / together if together else 0.0) + NAME_SHARE * (named / whole_name if whole_name else 0.0)

    def _weigh(self, stem: str) -> float:
        """The weight of a stem, as if a few more tools without it were offered."""
        if (weight := self._weight_by_stem.get(stem)) is None:
            count = self._index.count(stem_token(stem))
            weight = self._weight_by_stem[stem] = inverse_frequency(count, len(self._tools) + UNSEEN)
        return weight


def rank_offer(offer: Offer) -> Ranking:
    """The tools of an offer, in its order; made once for each offer."""
    if (ranking := _RANKINGS.get(offer)) is None:
        ranking = _RANKINGS[offer] = Ranking([_read_offered(offered) for offered in offer.tools])
    return ranking


@lru_cache(maxsize=2_000)  # the same few categories are listed in each trial
def words_of_group(name: str, description: str) -> Words:
    """The words of a category or toolkit."""
    return _read_words(name, description, {})


def _read_words(name: str, description: str, parameters: Mapping[str, Any]) -> Words:
    stems = find_stems(split_words(join_fields(name, description, parameters)))
    return Words(
        read_fields(name, description, parameters), dict.fromkeys(stems), frozenset(find_stems(split_words(name)))
    )


def parameters_of(offered: Offered) -> Mapping[str, Any]:
    """The schema of its arguments as a model is shown it; empty where that is no mapping."""
    parameters = offered.definition["function"].get("parameters")
    return parameters if isinstance(parameters, Mapping) else {}


_RANKINGS: WeakKeyDictionary[Offer, Ranking] = WeakKeyDictionary()


@lru_cache(maxsize=20_000)
def _read_offered(offered: Offered) -> Words:
    description = offered.definition["function"].get("description")
    return _read_words(offered.name, description if isinstance(description, str) else "", parameters_of(offered))
