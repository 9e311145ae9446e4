"""Which of a catalog's tools a case is about, in the catalog's order (rule E3, `offered`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from toolbelt.catalog import Catalog
from toolbelt.evals.cases.case import Case
from toolbelt.evals.offers import Offer, ToolRenderer

OFFERS_KEPT = 256
"""Offers that a toolset keeps at a time, beside those it always needs: enough for all trials under way."""


class Universe:
    """Puts ids into the order of the catalog, and drops what is not in it.

    Attributes:
        ids: Of the whole catalog, in order.
        members: The same, to look up.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.ids = tuple(tool.id for tool in catalog.tools)
        self.members = frozenset(self.ids)
        self._positions = {tool_id: position for position, tool_id in enumerate(self.ids)}

    def ordered(self, tool_ids: Collection[str]) -> tuple[str, ...]:
        """Those of the ids that the catalog has, each once, in its order."""
        return tuple(sorted(self.members.intersection(tool_ids), key=self._positions.__getitem__))

    def of(self, case: Case) -> tuple[str, ...]:
        """Ids of the tools that a case selects from."""
        return self.ids if case.offered is None else self.ordered(case.offered)


class CutOffers:
    """Offers of one set of tools, cut to the universe of each case; the whole set is one offer, made once.

    Attributes:
        whole: All of the tools.
    """

    def __init__(self, tool_ids: Sequence[str], universe: Universe, renderer: ToolRenderer) -> None:
        self.whole = renderer.offer(tool_ids)
        members = frozenset(tool_ids)

        def cut(offered: tuple[str, ...]) -> Offer:
            return renderer.within(offered).offer(universe.ordered(members.intersection(offered)))

        self._cut: Callable[[tuple[str, ...]], Offer] = lru_cache(OFFERS_KEPT)(cut)

    def of(self, case: Case) -> Offer:
        """What a case is shown."""
        return self.whole if case.offered is None else self._cut(case.offered)


def free_id(name: str, taken: Collection[str]) -> str:
    """An id that is not taken, made from one that may be; each its own."""
    while name in taken:
        name = f"toolbelt:{name}"
    return name
