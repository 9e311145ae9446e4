"""Tools ranked by the words that a text shares with their names, descriptions and arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from toolbelt.catalog.ranking.bm25 import Bm25
from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.catalog.ranking.terms import Matches, read_query, read_tool, weigh_tool
from toolbelt.catalog.tool import Tool

if TYPE_CHECKING:
    from toolbelt.catalog.ranking.large import IndexStore

LARGE = 2_000
"""From this number of tools on, an index is made of arrays, and stored."""


class WordsRanker:
    """Ranks by words.

    Args:
        store: Where indexes of large catalogs are kept; nowhere if `None`.
    """

    name = "words"

    def __init__(self, store: IndexStore | None = None) -> None:
        self._store = store

    def index(self, tools: Sequence[Tool]) -> WordsIndex:
        """An index of tools."""
        return WordsIndex(tools, store=self._store)


class _Scorer(Protocol):
    def find_best(self, query: Mapping[str, float], k: int) -> list[tuple[int, float]]: ...

    def within(self, positions: Sequence[int]) -> _Scorer: ...


class WordsIndex:
    """Tools that can be searched by words.

    Args:
        tools: Their ids are unique.
        with_plugins: Whether the name of its plugin is a part of a tool's.
        store: As for `WordsRanker`.
    """

    def __init__(self, tools: Sequence[Tool], *, with_plugins: bool = False, store: IndexStore | None = None) -> None:
        self._tools = tuple(tools)
        self._with_plugins = with_plugins
        self._scorer: _Scorer = _make_scorer(self._tools, with_plugins, store)

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools, the best first, equals in their order; none that shares no part of a word."""
        best = self._scorer.find_best(read_query(text), k)
        return tuple(
            SearchHit(self._tools[position], score, Matches(self._tools[position], text)) for position, score in best
        )

    def rank(self, text: str, k: int) -> list[int]:
        """As `search`: the positions of the tools alone."""
        return [position for position, _ in self._scorer.find_best(read_query(text), k)]

    def find_similar(self, tool: Tool, k: int) -> list[int]:
        """Positions of the `k` tools that are most like a tool, itself among them if it is here."""
        return [position for position, _ in self._scorer.find_best(weigh_tool(tool), k)]

    def within(self, ids: Collection[str]) -> WordsIndex:
        """The same over a part of the tools."""
        positions = sorted({self._positions[key] for key in ids if key in self._positions})
        part = object.__new__(WordsIndex)
        part._tools = tuple(self._tools[position] for position in positions)
        part._with_plugins = self._with_plugins
        if len(self._tools) >= LARGE > len(positions):
            part._scorer = _make_scorer(part._tools, self._with_plugins, None)
        else:
            part._scorer = self._scorer.within(positions)
        return part

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {tool.id: position for position, tool in enumerate(self._tools)}


def _make_scorer(tools: Sequence[Tool], with_plugins: bool, store: IndexStore | None) -> _Scorer:
    if len(tools) >= LARGE:
        from toolbelt.catalog.ranking.large import make_index  # numpy and scipy take a quarter of a second

        return make_index(tools, with_plugins, store)
    documents = [read_tool(tool, with_plugins) for tool in tools]
    return Bm25([each.counts for each in documents], [each.length for each in documents])
