"""Tools ranked by the words that a text shares with their names, descriptions and arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from toolbelt.catalog.ranking.bm25 import Bm25
from toolbelt.catalog.ranking.ranker import Field, SearchHit
from toolbelt.catalog.ranking.text import find_words, search_words, split_fields, tool_text
from toolbelt.catalog.tool import Tool


class WordsRanker:
    """Ranks by words."""

    name = "words"

    def index(self, tools: Sequence[Tool]) -> WordsIndex:
        """An index of tools."""
        return WordsIndex(tools)


class WordsIndex:
    """Tools that can be searched by words.

    Args:
        tools: Their ids are unique.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)
        self._bm25 = Bm25([tool_text(tool) for tool in tools])

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools, the best first, equals in their order; none without a word of the text."""
        scores = self._bm25.scores(text)
        words = find_words(text)
        positions = self._bm25.rank(text, k)
        return tuple(
            SearchHit(self._tools[position], scores[position], _find_matches(self._tools[position], words))
            for position in positions
        )

    def rank(self, text: str, k: int) -> list[int]:
        """As `search`: the positions of the tools alone."""
        return self._bm25.rank(text, k)

    def within(self, ids: Collection[str]) -> WordsIndex:
        """The same over a part of the tools."""
        return WordsIndex([tool for tool in self._tools if tool.id in ids])


def _find_matches(tool: Tool, words: Mapping[str, str]) -> Mapping[Field, tuple[str, ...]]:
    """The words of a query that each field of a tool has."""
    matched: dict[Field, tuple[str, ...]] = {}
    for field, text in split_fields(tool).items():
        own = frozenset(search_words(text))
        if shared := tuple(dict.fromkeys(written for written, word in words.items() if word in own)):
            matched[field] = shared
    return MappingProxyType(matched)
