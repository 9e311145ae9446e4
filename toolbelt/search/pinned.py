"""The tools that a search toolset always shows (rule S1)."""

from __future__ import annotations

from collections.abc import Mapping

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.findings import Finding
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.search.presets import parse_search
from toolbelt.search.settings import PINNED_CORE, SearchSettings, split_settings
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
    document: Document,
    searches: Mapping[str, SearchSettings],
    of_agents: Mapping[str, str],
    registry: ToolLoadoutRegistry,
) -> tuple[Finding, ...]:
    """What of a file pins a loadout that does not exist.

    Args:
        document: The file.
        searches: Its `toolsets`.
        of_agents: The `search` of its agents, by name; each means something.
        registry: All loadouts.
    """
    written = [(("toolsets", name, "pinned"), settings) for name, settings in searches.items()]
    for name, text in of_agents.items():
        if split_settings(text)[1].get("pinned"):  # else the toolset has it
            written.append((("agents", name, "search"), parse_search(text, searches)))
    findings = []
    for keys, settings in written:
        try:
            if settings.pinned_loadout is not None:
                registry.require_loadout(settings.pinned_loadout)
        except NotFoundError as error:
            findings.append(document.finding("unknown-loadout", f"{'.'.join(keys)}: {error}", *keys))
    return tuple(findings)
