"""What a gateway serves of an agent: everything it may have, and the part that a client has in one turn (rule D5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from toolbelt.agents.over_catalog import expand_agent
from toolbelt.catalog import Catalog
from toolbelt.mcp.gateway.surface import ServedTool, Surface
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.store import LoadedToolkits
from toolbelt.toolkits.toolkit import Toolkit


@dataclass(frozen=True)
class AgentSurface:
    """The tools of an agent at a gateway.

    Attributes:
        toolkits: Its toolkits, over the catalog.
        whole: All tools that it may have. Its static tools and initial toolkits are offered; the tools of its other
            toolkits are discoverable, which a client may use only while they are loaded.
        narrowed: By the toolkits that are loaded; `narrow` fills it.
    """

    toolkits: DynamicToolkits
    whole: Surface
    narrowed: dict[LoadedToolkits, Surface] = field(default_factory=dict)

    def narrow(self, loaded: LoadedToolkits) -> Surface:
        """What a client is served in a turn with these toolkits.

        Tools of loaded toolkits are offered, and also discoverable: a client may never ask for the list again.
        """
        if loaded not in self.narrowed:
            self.narrowed[loaded] = self._narrow(loaded)
        return self.narrowed[loaded]

    def _narrow(self, loaded: LoadedToolkits) -> Surface:
        whole = self.whole
        by_id = {**{served.tool.id: served for served in whole.offered}, **whole.discoverable_by_id}
        offered = _shown(self.toolkits, loaded, by_id)
        shown = {served.tool.id for served in offered}
        reasons = dict(whole.reasons)
        for served in whole.discoverable:
            if served.tool.id not in shown:
                toolkit = self.toolkits.find_toolkits_of(served.tool.id)[0]
                reasons[served.wire_name] = f"in toolkit {toolkit!r}, which is not loaded in this turn"
        active = {served.server for served in offered}
        return replace(
            whole,
            offered=offered,
            discoverable=tuple(served for served in whole.discoverable if served.tool.id in shown),
            resource_servers=tuple(name for name in whole.resource_servers if name in active),
            reasons=reasons,
        )


def make_agent_surface(
    agent: AgentSpec, toolkits: Iterable[Toolkit], catalog: Catalog, surface: Surface, names: Mapping[str, str]
) -> AgentSurface:
    """The tools of an agent.

    Args:
        agent: Whose they are.
        toolkits: All of the project.
        catalog: With all tools.
        surface: Serves the whole catalog.
        names: Names that clients see, by tool id.

    Raises:
        InvalidDefinitionError: the agent's toolkits cannot be used over this catalog.
    """
    listed = tuple(toolkits)
    expansion, off = expand_agent(agent, listed, catalog)
    dynamic = DynamicToolkits(agent, listed, replace(expansion, find_answer_name=names.__getitem__), off)
    by_id = {served.tool.id: served for served in surface.offered}
    keys = dynamic.reachable_keys()
    offered = _shown(dynamic, dynamic.initial, by_id)
    shown = {served.tool.id for served in offered}
    discoverable = tuple(by_id[key] for key in keys if key in by_id and key not in shown)
    reasons = {**surface.reasons}
    for served in surface.offered:
        if served.tool.id not in keys:
            reasons[served.wire_name] = f"no tool of agent {agent.name!r}"
    needed, at_start = {tool.server for tool in (*offered, *discoverable)}, {tool.server for tool in offered}
    servers = tuple(name for name in surface.servers if name in needed)
    whole = replace(
        surface,
        loadout="",
        offered=offered,
        discoverable=discoverable,
        servers=servers,
        on_demand=tuple(name for name in servers if name not in at_start),
        resource_servers=tuple(name for name in surface.resource_servers if name in needed),
        without_server=tuple(tool_id for tool_id in surface.without_server if tool_id in keys),
        reasons=reasons,
    )
    return AgentSurface(dynamic, whole)


def _shown(
    toolkits: DynamicToolkits, loaded: LoadedToolkits, by_id: Mapping[str, ServedTool]
) -> tuple[ServedTool, ...]:
    """The served tools of a turn, in the order of rule D6."""
    return tuple(by_id[tool.key] for tool in toolkits.shown_tools(loaded) if tool.key in by_id)
