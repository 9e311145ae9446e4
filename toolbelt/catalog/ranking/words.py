"""Tools ranked by the words that a text shares with their names, descriptions and arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from toolbelt.catalog.ranking.bm25 import Bm25, best
from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.catalog.ranking.terms import Matches, read_query, read_tool, weigh_tool
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
        with_plugins: Whether the name of its plugin is a part of a tool's.
    """

    def __init__(self, tools: Sequence[Tool], *, with_plugins: bool = False) -> None:
        self._tools = tuple(tools)
        documents = [read_tool(tool, with_plugins) for tool in tools]
        self._bm25 = Bm25([each.counts for each in documents], [each.length for each in documents])

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools, the best first, equals in their order; none that shares no part of a word."""
        scores, tools = self._bm25.scores(read_query(text)), self._tools
        return tuple(
            SearchHit(tools[position], scores[position], Matches(tools[position], text)) for position in best(scores, k)
        )

    def rank(self, text: str, k: int) -> list[int]:
        """As `search`: the positions of the tools alone."""
        return self._bm25.rank(read_query(text), k)

    def find_similar(self, tool: Tool, k: int) -> list[int]:
        """Positions of the `k` tools that are most like a tool, itself among them if it is here."""
        return self._bm25.rank(weigh_tool(tool), k)

    def within(self, ids: Collection[str]) -> WordsIndex:
        """The same over a part of the tools."""
        positions = sorted({self._positions[key] for key in ids if key in self._positions})
        part = object.__new__(WordsIndex)
        part._tools = tuple(self._tools[position] for position in positions)
        part._bm25 = self._bm25.within(positions)
        return part

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {tool.id: position for position, tool in enumerate(self._tools)}
