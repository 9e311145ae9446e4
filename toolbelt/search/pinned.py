"""The tools that a search toolset always shows (rule S1)."""

from __future__ import annotations

from toolbelt.catalog import Catalog
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.search.settings import PINNED_CORE, PINNED_NONE, SearchSettings


def find_pinned(settings: SearchSettings, catalog: Catalog, registry: ToolLoadoutRegistry) -> tuple[str, ...]:
    """Ids of the tools that are always shown: the catalog's core, what a loadout has, or none.

    Raises:
        NotFoundError: no loadout of that name.
        ToolbeltError: its parents are not in order.
    """
    if settings.pinned == PINNED_NONE:
        return ()
    if settings.pinned == PINNED_CORE:
        return catalog.core
    resolution = registry.resolve(registry.require_loadout(settings.pinned).name, catalog)
    if resolution.broken is not None:
        raise ToolbeltError(f"Loadout {resolution.loadout!r} cannot be pinned: {resolution.broken}.")
    return tuple(tool.id for tool in resolution.active_tools)
