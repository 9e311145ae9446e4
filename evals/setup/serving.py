"""What `toolbelt serve` would offer with the loadouts that a run measures (rule M5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog
from toolbelt.evals.toolsets.spec import ToolsetKind, ToolsetSpec

if TYPE_CHECKING:
    from toolbelt.project.project import Project


def find_serving_digests(project: Project, catalog: Catalog, specs: Iterable[ToolsetSpec]) -> dict[str, str]:
    """By toolset that is one loadout, the digest of the list that the gateway offers, meta-tools included.

    Empty for a catalog without tools of MCP servers: nothing of it can be served.
    """
    if not any(plugin.server for plugin in catalog.plugins):
        return {}
    from toolbelt.mcp.discovery import list_definitions, make_discovery
    from toolbelt.mcp.surface import make_surface, served_names, serving_digest

    digests = {}
    for spec in specs:
        if spec.kind is ToolsetKind.LOADOUT and spec.name and not spec.is_auto:
            surface = make_surface(project.registry.resolve(spec.name, catalog))
            discovery = make_discovery(surface, catalog, served_names(catalog))
            digests[str(spec)] = serving_digest(list_definitions(surface, discovery))
    return digests
