"""Tools ranked by the vectors that a model makes of texts (rule S2)."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.catalog.ranking.terms import join_fields
from toolbelt.catalog.tool import Tool
from toolbelt.errors import ToolbeltError

MAX_TEXT_CHARS = 4_000
"""Characters of a text that a vector is made of, about 1,000 tokens; of longer ones, the first."""
_QUERIES_KEPT = 4_096
_DIGITS = 6
"""Of a score: what is beyond depends on which other tools are compared at the same time."""


class VectorSource(Protocol):
    """Gives the vector of each text, in order; `what` names the texts in messages, where there are many."""

    @property
    def model(self) -> str: ...  # noqa: D102

    def get(self, texts: Sequence[str], what: str = "") -> Sequence[array[float]]: ...  # noqa: D102


def write_text(tool: Tool) -> str:
    """The text that a tool's vector is made of: its name, its description, names and descriptions of its arguments."""
    return _cut(join_fields(tool.name, tool.description, tool.parameters))


class EmbeddingRanker:
    """Ranks by the cosine of the angle between two vectors: that of the text and that of each tool.

    Args:
        source: Makes the vectors. Its errors are those of `index` and of `SearchIndex.search`.
    """

    def __init__(self, source: VectorSource) -> None:
        self.name = f"embedding:{source.model}"
        self._source = source
        self._unit = lru_cache(_QUERIES_KEPT)(self._make_unit)

    def prepare(self, texts: Iterable[str]) -> None:
        """Make the vectors of texts that will be searched for, many at a time rather than one by one."""
        self._source.get([cut for cut in dict.fromkeys(map(_cut, texts)) if cut], "texts to search for")

    def index(self, tools: Sequence[Tool]) -> EmbeddingIndex:
        """An index of tools."""
        vectors = self._source.get([write_text(tool) for tool in tools], f"{len(tools):,} tools") if tools else ()
        if len({len(vector) for vector in vectors}) > 1:
            raise self._changed()
        return EmbeddingIndex(self, tools, _unify(np.array(vectors, np.float32)), range(len(tools)))

    def find_unit(self, text: str, size: int) -> NDArray[np.float32] | None:
        """The vector of a text, of length 1, which has so many numbers; `None` if it has no words."""
        if not (cut := _cut(text)):
            return None
        unit = self._unit(cut)
        if len(unit) != size:
            raise self._changed()
        return unit

    def _make_unit(self, text: str) -> NDArray[np.float32]:
        return np.asarray(_unify(np.array(self._source.get([text]), np.float32))[0])

    def _changed(self) -> ToolbeltError:
        return ToolbeltError(
            f"Stored vectors of {self._source.model} and new ones differ in length, so that another model has this "
            "name now. Delete vectors.sqlite3 in toolbelt's cache folder and start again."
        )


class EmbeddingIndex:
    """Tools that are searched by vectors.

    Args:
        ranker: Gives the vectors of texts.
        tools: All tools.
        units: A vector of length 1 for each.
        positions: Of the tools that are searched, in order.
    """

    def __init__(
        self, ranker: EmbeddingRanker, tools: Sequence[Tool], units: NDArray[np.float32], positions: Sequence[int]
    ) -> None:
        self._ranker = ranker
        self._tools = tuple(tools)
        self._units = units
        self._positions = np.array(positions, np.intp)

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools, the best first, equals in their order; none for a text without words."""
        if k <= 0 or not len(self._positions):
            return ()
        unit = self._ranker.find_unit(text, self._units.shape[1])
        if unit is None:
            return ()
        scores = np.round(self._compare(unit).astype(np.float64), _DIGITS)
        best = np.argsort(-scores, kind="stable")[:k]
        return tuple(SearchHit(self._tools[self._positions[place]], float(scores[place])) for place in best)

    def within(self, ids: Collection[str]) -> EmbeddingIndex:
        """The same over a part of the tools, whose vectors are there already."""
        positions = sorted({self._places[tool_id] for tool_id in ids if tool_id in self._places})
        return EmbeddingIndex(self._ranker, self._tools, self._units, positions)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {self._tools[position].id: position for position in self._positions.tolist()}

    def _compare(self, unit: NDArray[np.float32]) -> NDArray[np.float32]:
        if len(self._positions) * 2 > len(self._units):  # cheaper than to copy them
            return np.asarray((self._units @ unit)[self._positions])
        return np.asarray(self._units[self._positions] @ unit)


def _cut(text: str) -> str:
    return text[:MAX_TEXT_CHARS].strip()


def _unify(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions, each of length 1."""
    if not len(vectors):
        return vectors.reshape(0, 0)
    longest = np.abs(vectors).max(axis=1, keepdims=True)  # squares of great numbers would be infinite
    vectors = vectors / longest
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
