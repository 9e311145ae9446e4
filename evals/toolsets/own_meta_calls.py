"""Calls of a catalog's own meta-tools where a toolset shows them, but does not load anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from toolbelt.catalog import Catalog
from toolbelt.evals.conversation import ToolUse
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.tiers import Tiers, own_meta_tools


class OwnMetaCalls:
    """Answers `browse_tools` and `load_tools` of a catalog that brings them along, by what is shown already.

    Such a call is no selection (rule E4), and whatever the model asks for has been loaded.

    Attributes:
        ids: Of the catalog's meta-tools; mostly there are none.
    """

    def __init__(self, catalog: Catalog, renderer: ToolRenderer) -> None:
        self._catalog = catalog
        self._shelf = renderer
        self._roles = own_meta_tools(catalog)
        self.ids = frozenset(self._roles)

    def answer(self, offer: Offer, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """One answer a call; `None` for one that is of no meta-tool, or of one that is not offered."""
        if not self.ids & offer.ids:
            return (None,) * len(calls)
        return tuple(self._answer_one(offer, call) for call in calls)

    def _answer_one(self, offer: Offer, call: ToolUse) -> str | None:
        tool_id = self._shelf.find_id(call.name)
        if tool_id not in self._roles or tool_id not in offer.ids:
            return None
        tiers = self._tiers.within(offer.ids)
        answer, _ = tiers.call(self._roles[tool_id], call.arguments, tiers.categories)
        return json.dumps(answer, ensure_ascii=False)

    @cached_property
    def _tiers(self) -> Tiers:
        return Tiers(self._catalog)
