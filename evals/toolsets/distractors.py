"""Drawing by a seed: the same everywhere, and the first few the same however many are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, zip_longest
from typing import Protocol

from toolbelt.catalog import Catalog
from toolbelt.catalog.ranking.words import WordsIndex
from toolbelt.evals.cases.case import Case


class SeededDraw:
    """Everything that is drawn for one case.

    Args:
        seed: Of the run.
        case_id: Which case.
    """

    def __init__(self, seed: int, case_id: str) -> None:
        self._key = blake2b(f"{seed}\0{case_id}".encode(errors="surrogatepass")).digest()

    def shuffled(self, items: Sequence[str]) -> Iterator[str]:
        """Every item once, in a random order; takes time by how many are taken, not by how many there are."""
        # Fisher and Yates, of whose array only what was moved is kept.
        generator = random.Random(self._key)  # noqa: S311  no secret
        moved: dict[int, int] = {}
        size = len(items)
        for place in range(size):
            drawn = place + int(generator.random() * (size - place))
            yield items[moved.get(drawn, drawn)]
            moved[drawn] = moved.get(place, place)

    def ordered(self, items: Iterable[str]) -> list[str]:
        """In an order that no further item can change: each has its own place in the case."""
        return sorted(items, key=self._digest)

    def place(self, item: str, places: int) -> int:
        """One of so many places for an item, 0-based."""
        return int.from_bytes(self._digest(item)) * places >> 64

    def _digest(self, item: str) -> bytes:
        return blake2b(item.encode(errors="surrogatepass"), key=self._key, digest_size=8).digest()


_FIRST = 64
"""Number of nearest tools that are found at first: mostly enough, and few compared with the catalog."""
_KEPT = 4_096
"""Number of tools whose nearest tools are cached."""


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
        catalog: With the tools that are compared.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._tools = catalog.tools
        self._by_id = {tool.id: tool for tool in catalog.tools}
        self._nearest: Callable[[str], tuple[int, ...]] = lru_cache(_KEPT)(
            lambda tool_id: tuple(self._index.find_similar(self._by_id[tool_id], _FIRST))
        )

    def candidates(self, case: Case, right: Sequence[str], universe: Sequence[str], draw: SeededDraw) -> Iterator[str]:
        """The nearest first, then any."""
        members: Collection[str] | None = None if len(universe) == len(self._tools) else frozenset(universe)
        ranked = [self._ranked(tool_id) for tool_id in right] or [self._ranked_by_query(case)]
        by_turns = chain.from_iterable(zip_longest(*ranked))
        near = (self._tools[position].id for position in by_turns if position is not None)
        return chain((tool_id for tool_id in near if members is None or tool_id in members), draw.shuffled(universe))

    def _ranked(self, tool_id: str) -> Iterator[int]:
        first = self._nearest(tool_id)
        yield from first
        if len(first) == _FIRST:
            yield from self._index.find_similar(self._by_id[tool_id], len(self._tools))[_FIRST:]

    def _ranked_by_query(self, case: Case) -> Iterator[int]:
        yield from self._index.rank(case.query, len(self._tools))

    @cached_property
    def _index(self) -> WordsIndex:
        return WordsIndex(self._tools)


def take(count: int, candidates: Iterable[str], barred: Collection[str]) -> list[str]:
    """The first candidates that are not barred, each once, as far as `count`."""
    taken: dict[str, None] = {}
    for candidate in candidates if count else ():
        if candidate not in barred:
            taken[candidate] = None
            if len(taken) == count:
                break
    return list(taken)
