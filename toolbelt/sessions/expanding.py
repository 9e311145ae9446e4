"""Which tools of a registry an entry of a configuration stands for (rules D1, L9)."""

from __future__ import annotations

from functools import cache
from operator import attrgetter

from toolbelt.errors import nearest, suggestion
from toolbelt.runtime.gates import MCP_PREFIX, FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.merging import Expansion
from toolbelt.toolkits.expand import expander


def expand_over(registry: ToolRegistry) -> Expansion:
    """What makes entries into names of tools, over what a registry holds now.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name; compared as
    loadouts compare (rule L4), and a plugin comes before a tool of the same name.

    What is registered later no entry means, so no turn has it, not even where nobody names it: it might be what an
    entry would mean. The exceptions are what is always included and, for the rest of a turn that is under way, a
    further tool of an extension that the turn may have. After a change of the registry make this, the
    `DynamicToolkits` and the `DynamicSessions` anew and register the meta-tools again, which overwrites them in place;
    what is kept of sessions stays.

    Returns:
        What gives the names in order of registration, none where nothing answers to the entry; and knows which tools
        are always included, what is near an entry that means none, what the registry shows a tool under, and which
        tools there were.
    """
    seen = registry.get_all()
    known = frozenset(tool.name for tool in seen)
    always = frozenset(tool.name for tool in seen if tool.always_include)
    catalog = registry.catalog
    names = [
        *(plugin.name for plugin in catalog.plugins),
        *(tool.name for tool in catalog.tools),
        *(f"{plugin.name}/{tool.name}" for plugin in catalog.plugins for tool in plugin.tools),
    ]

    @cache  # every turn asks again, and to look for what is near takes its time
    def advise(entry: str) -> str:
        return suggestion(entry, names) if nearest(entry, names) else ""

    def shown(name: str) -> str:  # looked up each time: what is registered later may change it
        return registry.wire_names.get(name, name)

    def guests() -> FilterOpts:
        # By its names, which are of one moment: others may be registering meanwhile.
        now = [found for name in registry.wire_names if (found := registry.find(name)) is not None]
        passing = known.union(each.tool.name for each in now if each.tool.always_include)
        extended = [each for each in now if each.plugin_id is not None]
        return FilterOpts(
            [each.tool.name for each in extended if each.tool.name not in passing],
            # These keep out what comes while a turn is under way, too.
            allowed_mcp_tools=[name for name in passing if name.startswith(MCP_PREFIX)],
            allowed_plugins=[each.plugin_id for each in extended if each.plugin_id is not None],
        )

    return Expansion(expander(catalog, attrgetter("name")), always, advise, shown, guests)
