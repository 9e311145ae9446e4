"""Which tools of a registry an entry of a configuration stands for (rules D1, L9)."""

from __future__ import annotations

from functools import cache
from operator import attrgetter

from toolbelt.errors import nearest, suggestion
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.merging import Expansion
from toolbelt.toolkits.expand import expander


def expand_over(registry: ToolRegistry) -> Expansion:
    """What makes entries into names of tools, over what a registry holds now.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name; compared as
    loadouts compare (rule L4), and a plugin comes before a tool of the same name. What is registered later is not seen.

    Returns:
        What gives the names in order of registration, none where nothing answers to the entry; and knows which tools
        are always included, and what is near an entry that means none.
    """
    always = frozenset(tool.name for tool in registry.get_all() if tool.always_include)
    catalog = registry.catalog
    names = [
        *(plugin.name for plugin in catalog.plugins),
        *(tool.name for tool in catalog.tools),
        *(f"{plugin.name}/{tool.name}" for plugin in catalog.plugins for tool in plugin.tools),
    ]

    @cache  # every turn asks again, and to look for what is near takes its time
    def advise(entry: str) -> str:
        return suggestion(entry, names) if nearest(entry, names) else ""

    return Expansion(expander(catalog, attrgetter("name")), always, advise)
