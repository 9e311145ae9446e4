"""The tools that a search toolset always shows (rule S1)."""

from __future__ import annotations

from collections.abc import Mapping

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.findings import Finding
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.search.settings import PINNED_CORE, SearchSettings
from toolbelt.sources import Document


def find_pinned(settings: SearchSettings, catalog: Catalog, registry: ToolLoadoutRegistry) -> tuple[str, ...]:
    """Ids of the tools that are always shown: the catalog's core, what a loadout has, or none.

    Raises:
        NotFoundError: no loadout of that name.
        ToolbeltError: its parents are not in order.
    """
    if settings.pinned_loadout is None:
        return catalog.core if settings.pinned == PINNED_CORE else ()
    resolution = registry.resolve(registry.require_loadout(settings.pinned_loadout).name, catalog)
    if resolution.broken is not None:
        raise ToolbeltError(f"Loadout {resolution.loadout!r} cannot be pinned: {resolution.broken}.")
    return tuple(tool.id for tool in resolution.active_tools)


def lint_pinned(
    document: Document, searches: Mapping[str, SearchSettings], registry: ToolLoadoutRegistry
) -> tuple[Finding, ...]:
    """The search toolsets of a file's `toolsets` whose pinned loadout does not exist."""
    findings = []
    for name, settings in searches.items():
        try:
            if settings.pinned_loadout is not None:
                registry.require_loadout(settings.pinned_loadout)
        except NotFoundError as error:
            keys = ("toolsets", name, "pinned")
            findings.append(document.finding("unknown-loadout", f"{'.'.join(keys)}: {error}", *keys))
    return tuple(findings)
