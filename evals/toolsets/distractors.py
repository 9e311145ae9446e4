"""Which wrong tools stand beside the right ones: random ones, or the nearest (rule E1, `oracle+N`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from typing import Protocol

from toolbelt.catalog import Catalog
from toolbelt.catalog.search import ToolIndex, tool_text
from toolbelt.evals.cases.case import Case
from toolbelt.evals.toolsets.drawing import SeededDraw

_FIRST = 64
"""How many of the nearest are found and kept at first: mostly enough, and little beside the catalog."""
_KEPT = 4_096
"""Tools of which the nearest are kept."""


class Distractors(Protocol):
    """Candidates in the order they are taken; more than asked for, right tools and repeats among them."""

    def candidates(self, case: Case, right: Sequence[str], universe: Sequence[str], draw: SeededDraw) -> Iterable[str]:
        """Ids out of `universe`, which is in the catalog's order; `right` are the tools that are right."""
        ...


class RandomDistractors:
    """Any tools, each as likely as the others."""

    def candidates(
        self,
        case: Case,  # noqa: ARG002  the protocol's
        right: Sequence[str],  # noqa: ARG002
        universe: Sequence[str],
        draw: SeededDraw,
    ) -> Iterator[str]:
        """The whole universe, shuffled."""
        return draw.shuffled(universe)


class NearDistractors:
    """Those that share most words with the right tools, by turns; where nothing is right, with the query.

    Args:
        catalog: Whose tools are compared.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._tools = catalog.tools
        self._texts = {tool.id: tool_text(tool) for tool in catalog.tools}
        self._nearest: Callable[[str], tuple[int, ...]] = lru_cache(_KEPT)(
            lambda tool_id: tuple(self._index.rank(self._texts[tool_id], _FIRST))
        )

    def candidates(self, case: Case, right: Sequence[str], universe: Sequence[str], draw: SeededDraw) -> Iterator[str]:
        """The nearest first, then any."""
        members: Collection[str] | None = None if len(universe) == len(self._tools) else frozenset(universe)
        ranked = [self._ranked(tool_id) for tool_id in right] or [self._ranked_by_query(case)]
        by_turns = chain.from_iterable(zip_longest(*ranked))
        near = (self._tools[position].id for position in by_turns if position is not None)
        return chain((found for found in near if members is None or found in members), draw.shuffled(universe))

    def _ranked(self, tool_id: str) -> Iterator[int]:
        first = self._nearest(tool_id)
        yield from first
        if len(first) == _FIRST:
            yield from self._index.rank(self._texts[tool_id], len(self._tools))[_FIRST:]

    def _ranked_by_query(self, case: Case) -> Iterator[int]:
        yield from self._index.rank(case.query, len(self._tools))

    @cached_property
    def _index(self) -> ToolIndex:
        return ToolIndex(list(self._texts.values()))


def take(count: int, candidates: Iterable[str], barred: Collection[str]) -> list[str]:
    """The first candidates that are not barred, each once, as far as `count`."""
    taken: dict[str, None] = {}
    for candidate in candidates if count else ():
        if candidate not in barred:
            taken[candidate] = None
            if len(taken) == count:
                break
    return list(taken)
