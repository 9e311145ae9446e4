"""What a gateway serves: the tools of a loadout under the names that clients see, and their digest (rules M5, M6).

`loadout inspect --serve` counts the same list, so nothing here imports the SDK.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import Definition, definition_text, mcp_definition, sent_schema
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.mcp_tools import mend_tool
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.loadouts import Resolution, Status
from toolbelt.patterns import fold
from toolbelt.search.search import make_meta_tools
from toolbelt.search.settings import Reveal, SearchSettings, Trigger

NAME_LIMIT = 45
"""Characters: clients put `mcp__SERVER__` before a name, and providers take 64."""
_HASH_DIGITS = 6


@dataclass(frozen=True)
class ServedTool:
    """A tool as a client of the gateway sees it.

    Attributes:
        wire_name: The name that the client sees.
        tool: As it was synced.
        server: Name of the server that has it; empty for a tool of the gateway itself.
    """

    wire_name: str
    tool: Tool
    server: str

    @property
    def upstream_name(self) -> str:
        """The name that its server knows."""
        return self.tool.name

    @cached_property
    def definition(self) -> Definition:
        """As `tools/list` has it, in plain values; not to be changed."""
        return listed_definition(self.tool, self.wire_name)


@dataclass(frozen=True)
class Surface:
    """What one loadout serves.

    Attributes:
        loadout: Its name.
        offered: Tools that are listed, in the order of the list.
        discoverable: Tools that are reached by search.
        servers: Names of the servers whose tools are offered or discoverable, in catalog order.
        resource_servers: Those of them whose resources, prompts and completions are offered.
        without_server: Ids of active and discoverable tools that no server has, and that are therefore not served.
        reasons: Why a tool of the catalog is not served, by the name that its client would use: for the log.
        on_demand: Servers that are started when one of their tools is called, not with the client.
    """

    loadout: str
    offered: tuple[ServedTool, ...] = ()
    discoverable: tuple[ServedTool, ...] = ()
    servers: tuple[str, ...] = ()
    resource_servers: tuple[str, ...] = ()
    without_server: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    on_demand: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, ServedTool]:
        """The offered tools by the name that the client sees."""
        return {served.wire_name: served for served in self.offered}

    @cached_property
    def discoverable_by_id(self) -> Mapping[str, ServedTool]:
        """The discoverable tools by id."""
        return {served.tool.id: served for served in self.discoverable}

    def tools_of(self, server: str) -> tuple[ServedTool, ...]:
        """Tools of a server that a client may reach."""
        return tuple(tool for tool in (*self.offered, *self.discoverable) if tool.server == server)


def make_surface(resolution: Resolution, *, name_limit: int = NAME_LIMIT, local: Collection[str] = ()) -> Surface:
    """What a loadout serves of its catalog.

    Args:
        resolution: Of the loadout over the catalog.
        name_limit: The longest name, in characters.
        local: Names of plugins whose tools the gateway itself runs.

    Raises:
        ToolbeltError: two names are the same once they are cut.
    """
    catalog = resolution.catalog
    names = served_names(catalog, name_limit)
    offered, discoverable, without_server = [], [], []
    reasons: dict[str, str] = {}
    with_active, resource_servers = set(), []
    for plugin in catalog.plugins:
        for tool in plugin.tools:
            status = resolution.tool_status(plugin, tool)
            served = ServedTool(names[tool.id], tool, plugin.server)
            if status in (Status.DISABLED, Status.HIDDEN):
                reasons[served.wire_name] = f"{status.value} in loadout {resolution.loadout!r}"
            elif not plugin.server and plugin.name not in local:
                without_server.append(tool.id)
                reasons[served.wire_name] = "no server has it"
            elif reason := _find_mistake(served):
                reasons[served.wire_name] = reason
            elif status is Status.ACTIVE:
                offered.append(served)
                with_active.add(plugin.server)
            else:
                discoverable.append(served)
    for off in catalog.switched_off:
        reasons.setdefault(off.tool, off.why)
    blocked = {p.server for p in catalog.plugins if resolution.plugin_status(p) is Status.DISABLED}
    needed = {served.server for served in (*offered, *discoverable) if served.server}
    servers = tuple(dict.fromkeys(plugin.server for plugin in catalog.plugins if plugin.server in needed))
    resource_servers = [name for name in servers if name in with_active and name not in blocked]
    if not all(loadout.resources for loadout in resolution.chain):
        resource_servers = []
    return Surface(
        resolution.loadout,
        tuple(offered),
        tuple(discoverable),
        servers,
        tuple(resource_servers),
        tuple(without_server),
        reasons,
    )


def _find_mistake(served: ServedTool) -> str:
    """Why strict clients would refuse the whole list for a tool of a catalog that was written by hand; else empty."""
    if served.tool.parameters.get("type", "" if served.tool.parameters else "object") != "object":
        return "its input schema is not of `type: object`"
    try:
        mend_tool({"inputSchema": served.tool.parameters, **served.tool.extra})
    except InvalidDefinitionError as error:
        return str(error)
    return ""


def list_pinned(
    surface: Surface, settings: SearchSettings, pinned: Collection[str], names: Mapping[str, str]
) -> Surface:
    """The surface that lists the pinned tools alone; all others are found by a search.

    Args:
        surface: Of a loadout.
        settings: Of the search.
        pinned: Ids, as `find_pinned` gives them; those that are not active stay what they are.
        names: Names that clients see, of all tools of the catalog.

    Raises:
        ToolbeltError: a gateway cannot serve such a search.
    """
    if settings.trigger is Trigger.REQUEST:
        raise ToolbeltError("A gateway sees no messages of a user: it serves trigger=model, not trigger=request.")
    if settings.reveal is Reveal.REBIND:
        raise ToolbeltError("The list of a gateway only grows: it serves reveal=call and =append, not reveal=rebind.")
    taken = {fold(name) for name in names.values()}
    if clash := next((tool.name for tool in make_meta_tools(settings) if fold(tool.name) in taken), None):
        raise ToolbeltError(
            f"A server has a tool {clash!r}, as the search {settings.preset!r} has: use another preset."
        )
    listed = tuple(served for served in surface.offered if served.tool.id in pinned)
    searched = tuple(served for served in surface.offered if served.tool.id not in pinned)
    return replace(surface, offered=listed, discoverable=(*searched, *surface.discoverable))


def listed_definition(tool: Tool, name: str) -> Definition:
    """As `tools/list` has a tool, in plain values that strict clients take.

    Raises:
        InvalidDefinitionError: as `mend_tool`.
    """
    return mend_tool(thaw(mcp_definition(tool, name)))[0]


def list_meta_tools(tools: Iterable[Tool]) -> list[Definition]:
    """As `tools/list` has the meta-tools of a search or a discovery, whose names are their own."""
    return [listed_definition(tool, tool.name) for tool in tools]


def served_names(catalog: Catalog, limit: int = NAME_LIMIT) -> Mapping[str, str]:
    """The name that a client of the gateway sees, by tool id: the wire name, cut where it is longer than `limit`.

    Raises:
        ToolbeltError: two names are the same once they are cut.
    """
    names = {tool_id: _cut(name, tool_id, limit) for tool_id, name in catalog.wire_names.items()}
    if len({*names.values()}) < len(names):
        raise ToolbeltError(f"Names of tools are no longer unique if they are cut to {limit} characters.")
    return names


def _cut(name: str, tool_id: str, limit: int) -> str:
    if len(name) <= limit:
        return name
    digits = hashlib.sha256(tool_id.encode(errors="surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{name[: limit - _HASH_DIGITS - 1]}_{digits}"


def serving_digest(definitions: Iterable[Mapping[str, Any]]) -> str:
    """The digest of a list of tools: in order, of each its name, description and input schema (rule M5).

    Args:
        definitions: As `tools/list` has them, meta-tools included.

    Returns:
        64 hexadecimal digits.
    """
    total = hashlib.sha256()
    for definition in definitions:
        covered = {key: definition.get(key, "") for key in ("name", "description", "inputSchema")}
        total.update(definition_text(covered).encode(errors="surrogatepass") + b"\n")
    return total.hexdigest()


def count_definitions(definitions: Sequence[Mapping[str, Any]], counter: TokenCounter) -> list[int]:
    """Tokens of each definition as a client gives it to a model, in order."""
    return counter.count(list(map(model_text, definitions)))


def model_text(definition: Mapping[str, Any]) -> str:
    """What a model sees of a definition that a client was listed: name, description and input schema.

    Titles, annotations, output schemas, icons and `_meta` are for clients: a function of a model's API has no place for
    them.
    """
    schema = sent_schema(definition.get("inputSchema") or {})
    function = {"name": definition["name"], "description": definition.get("description") or "", "parameters": schema}
    return definition_text({"type": "function", "function": function})
