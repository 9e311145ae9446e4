"""Which tools of a registry an entry of a configuration stands for (rules D1, L9)."""

from __future__ import annotations

from operator import attrgetter

from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.merging import Expansion
from toolbelt.toolkits.expand import expander


def expand_over(registry: ToolRegistry) -> Expansion:
    """What makes entries into names of tools, over what a registry holds now.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name; compared as
    loadouts compare (rule L4), and a plugin comes before a tool of the same name. What is registered later is not seen.

    Returns:
        What gives the names in order of registration, none where nothing answers to the entry; and knows which tools
        are always included.
    """
    always = frozenset(tool.name for tool in registry.get_all() if tool.always_include)
    return Expansion(expander(registry.catalog, attrgetter("name")), always)
