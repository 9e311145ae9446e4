"""From what servers list to a catalog (rule M4): pure, so that the same lists always give the same file.

One plugin per server, or several where it is split. The tools of a server that does not answer stay as they were,
marked stale. Wire names are assigned here: a tool keeps its name for as long as its server lists it,
whatever comes or goes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.agents.loadout_policy import CapabilityRole
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.catalog import WHOLE_SERVER
from toolbelt.catalog.categories import CATEGORY_DESCRIPTIONS, PLUGIN_CATEGORY_MAP, ToolCategory
from toolbelt.catalog.definitions import assign_wire_names, mcp_definition
from toolbelt.catalog.tool_names import describe_tools, singular, split_words
from toolbelt.errors import InvalidDefinitionError
from toolbelt.importers.tool_lists import read_mcp_tool
from toolbelt.mcp.gateway.meta_tools import DiscoveryRole
from toolbelt.mcp.gateway.surface import NAME_LIMIT
from toolbelt.patterns import fold
from toolbelt.servers.splitting import SplitData, group_tools
from toolbelt.servers.switches import Switch, find_switch, leave_out
from toolbelt.tiers.meta_tools import TierMetaRole
from toolbelt.toolkits.toolkit import RESERVED

_WORDS: Mapping[ToolCategory, frozenset[str]] = MappingProxyType(
    {
        ToolCategory.FILESYSTEM: frozenset({"file", "filesystem", "directory", "folder", "drive"}),
        ToolCategory.GIT: frozenset({"git"}),
        ToolCategory.GITHUB: frozenset({"github"}),
        ToolCategory.SHELL: frozenset({"shell", "bash", "terminal", "command", "powershell", "process", "exec"}),
        ToolCategory.WEB: frozenset(
            {"web", "fetch", "browser", "page", "puppeteer", "playwright", "scrape", "crawl", "firecrawl", "url"}
        ),
        ToolCategory.SEARCH: frozenset({"search", "websearch", "brave", "tavily", "exa", "perplexity", "duckduckgo"}),
        ToolCategory.NETWORK: frozenset({"network", "dns", "tailscale", "wireguard", "nmap"}),
        ToolCategory.MEMORY: frozenset({"memory", "mem0", "entity", "observation", "relation", "remember", "recall"}),
        ToolCategory.ORCHESTRATION: frozenset({"task", "agent", "workflow", "subagent"}),
        ToolCategory.ANALYSIS: frozenset({"think", "thinking", "sequentialthinking", "benchmark", "analysis"}),
        ToolCategory.SCHEDULING: frozenset(
            {"schedule", "scheduler", "cron", "calendar", "reminder", "time", "timezone"}
        ),
        ToolCategory.MULTIMODAL: frozenset({"image", "audio", "video", "pdf", "ocr", "vision", "speech"}),
        ToolCategory.SECURITY: frozenset({"security", "secret", "vault", "password", "vulnerability", "encrypt"}),
    }
)
"""What servers and tools of a category are called, in the singular."""
_LEAST_SHARE = 0.5
"""The share of a server's tools whose names have to have a word of a category."""


def propose_category(server: str, tool_names: Iterable[str]) -> str:
    """The category of a server as one plugin.

    Args:
        server: Its name.
        tool_names: Of its tools.

    Returns:
        The first that applies: what `PLUGIN_CATEGORY_MAP` has for the name; a well-known category by a word of the
        name; the one that half of the tools have a word of; else a category of the server's own, named like it.
    """
    if (mapped := PLUGIN_CATEGORY_MAP.get(server)) is not None:
        return mapped.value
    for word in split_words(server):
        for category, words in _WORDS.items():
            if singular(word) in words:
                return category.value
    tools = [{singular(word) for word in split_words(name)} for name in tool_names]
    shares = {category: sum(not words.isdisjoint(tool) for tool in tools) for category, words in _WORDS.items()}
    best = max(shares, key=lambda category: shares[category])
    return best.value if tools and shares[best] >= _LEAST_SHARE * len(tools) else server


RESERVED_NAMES = frozenset({*map(str, (*DiscoveryRole, *TierMetaRole, *CapabilityRole)), *RESERVED})
"""Names of meta-tools, which no server's tool gets."""


class ServerStatus(StrEnum):
    """What came of asking a server for its tools."""

    OK = "ok"
    FAILED = "failed"
    NEEDS_LOGIN = "needs_login"


@dataclass(frozen=True)
class Listing:
    """The answer of one server.

    Attributes:
        server: Its name in the project.
        status: What came of asking it; tools count only where it is `ok`.
        tools: As it sent them, in its order, of all pages.
        version: Of the server.
        protocol: The version of the protocol that was negotiated.
        error: Why there are none; empty if it is `ok`.
        notes: What is wrong with an answer that counts all the same, to follow the name of the server.
        log: The last lines that a server wrote to standard error before it failed.
        seconds: From the start to the last page.
    """

    server: str
    status: ServerStatus
    tools: tuple[Mapping[str, Any], ...] = ()
    version: str = ""
    protocol: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Synced:
    """A catalog made from listings.

    Attributes:
        catalog: With the tools of all servers.
        notes: What was left out, and why, in sentences.
    """

    catalog: Catalog
    notes: tuple[str, ...] = ()


def sync_catalog(
    old: Catalog,
    listings: Iterable[Listing],
    *,
    splits: Mapping[str, SplitData | None] = MappingProxyType({}),
    servers: Collection[str] | None = None,
    switches: Mapping[str, Sequence[Switch]] = MappingProxyType({}),
) -> Synced:
    """The catalog after asking servers.

    Args:
        old: As it is; plugins of no server stay, and are first.
        listings: Answers in any order. A server that did not answer keeps its last known tools.
        splits: How servers are split, by name; the others are one plugin each.
        servers: The servers of the project; the others are removed. `None` removes none.
        switches: What is switched off of servers, by name; it is not in the catalog (rule V7).

    Raises:
        InvalidDefinitionError: two plugins would have one name.
    """
    answered = {listing.server: listing for listing in listings if listing.status is ServerStatus.OK}
    failed = {listing.server for listing in listings if listing.status is not ServerStatus.OK}
    notes: list[str] = []
    by_server: dict[str, tuple[Plugin, ...]] = {}
    for plugin in old.plugins:
        if plugin.server and (servers is None or plugin.server in servers):
            by_server[plugin.server] = (*by_server.get(plugin.server, ()), plugin)
    for name, listing in answered.items():
        notes += (f"server {name!r} {note}" for note in listing.notes)
        tools = _read_tools(listing, notes)
        known = by_server.get(name, ())
        by_server[name] = tuple(_make_plugins(name, _in_known_order(tools, known), splits.get(name), known))
    own = tuple(plugin for plugin in old.plugins if not plugin.server)
    listed = [name for name in old.servers if servers is None or name in servers]
    ordered = sorted({*by_server, *listed}, key=lambda name: (fold(name), name))
    plugins = (*own, *(plugin for name in ordered for plugin in by_server.get(name, ())))
    _refuse_same_names(plugins)
    facts: dict[str, Mapping[str, Any]] = {}
    for name in ordered:
        before = {key: value for key, value in old.servers.get(name, {}).items() if key not in ("stale", "off")}
        if name in answered:
            before = _facts(answered[name], (tool for plugin in by_server[name] for tool in plugin.tools))
        elif off := _still_off(old, name, switches):
            before["off"] = off
        facts[name] = {**before, "stale": True} if name in failed else before
    catalog = replace(
        old,
        plugins=tuple(_with_wire_names(plugins, old)),
        categories=_kept_categories(old, plugins),
        core=tuple(_kept_core(old, plugins)),
        servers=facts,
    )
    return Synced(leave_out(catalog, switches), tuple(notes))


def _still_off(old: Catalog, server: str, switches: Mapping[str, Sequence[Switch]]) -> dict[str, Any]:
    """The tools of a server that was not asked that were switched off, and are so still."""
    known = old.servers.get(server, {}).get("off", {})
    if server not in switches:  # its entry cannot be read
        return dict(known)
    found = {name: find_switch(switches[server], name) for name in known if name != WHOLE_SERVER}
    return {name: switch.facts() for name, switch in found.items() if switch is not None}


def digest_tools(tools: Iterable[Tool]) -> str:
    """The SHA-256 of a server's tools, in hexadecimal; neither their order nor `_meta` and `icons` matter."""
    definitions = [
        {key: value for key, value in mcp_definition(tool, tool.name).items() if key not in ("_meta", "icons")}
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]
    text = json.dumps(definitions, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def server_tools(catalog: Catalog) -> dict[tuple[str, str], Tool]:
    """Every tool of a server by the names of server and tool, in the catalog's order."""
    return {(plugin.server, tool.name): tool for plugin in catalog.plugins if plugin.server for tool in plugin.tools}


def _check_schema(entry: Mapping[str, Any]) -> None:
    """Refuse what the protocol does: a strict client would refuse the whole list of the gateway for it.

    Raises:
        InvalidDefinitionError: the input schema is not of an object.
    """
    schema = entry.get("inputSchema")
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise InvalidDefinitionError(f"The `inputSchema` of {entry['name']!r} must have `type: object`.")


def _read_tools(listing: Listing, notes: list[str]) -> list[Tool]:
    """The tools of a list, each name once; of what is left out there is a note."""
    tools: dict[str, Tool] = {}
    for entry in listing.tools:
        try:
            tool = read_mcp_tool(entry)
            _check_schema(entry)
        except InvalidDefinitionError as error:
            notes.append(f"server {listing.server!r} lists a tool that cannot be used: {error}")
            continue
        if tool.name in tools:
            notes.append(f"server {listing.server!r} lists {tool.name!r} twice; the first counts")
        tools.setdefault(tool.name, tool)
    return list(tools.values())


def _in_known_order(tools: Sequence[Tool], known: Iterable[Plugin]) -> list[Tool]:
    """Known tools in the order of the catalog, then new ones as listed: a server's new order changes no file."""
    places = {tool.name: place for place, tool in enumerate(tool for plugin in known for tool in plugin.tools)}
    return sorted(tools, key=lambda tool: places.get(tool.name, len(places)))


def _make_plugins(
    server: str, tools: Sequence[Tool], split: SplitData | None, known: Iterable[Plugin]
) -> Iterator[Plugin]:
    by_name = {tool.name: tool for tool in tools}
    entries = [{"name": tool.name, "_meta": tool.extra.get("_meta")} for tool in tools]
    before = {plugin.key: plugin for plugin in known}
    for name, members in group_tools(entries, split, server).items():
        names = [entry["name"] for entry in members]
        # A group of a split server is a subject of its own, by which a model can load it.
        category = propose_category(server, names) if split is None else name
        description = describe_tools(names)
        if (old := before.get(fold(name))) is not None:
            category = old.category or category
            is_written = old.description != describe_tools(tool.name for tool in old.tools)
            description = old.description if is_written else description
        yield Plugin(name, tuple(by_name[each] for each in names), category, description, server)


def _refuse_same_names(plugins: Iterable[Plugin]) -> None:
    owners: dict[str, Plugin] = {}
    for plugin in plugins:
        other = owners.setdefault(plugin.key, plugin)
        if other is not plugin:
            whose = [f"server {each.server!r}" if each.server else "the catalog itself" for each in (other, plugin)]
            raise InvalidDefinitionError(
                f"Two plugins would be named {plugin.name!r}: of {whose[0]} and of {whose[1]}. Rename a server, or a "
                "group of its `split`."
            )


def _with_wire_names(plugins: Sequence[Plugin], old: Catalog) -> Iterator[Plugin]:
    """Plugins whose tools have wire names; a name that a tool has had stays, and so no other tool gets it."""
    old_names = {key: tool.wire_name for key, tool in server_tools(old).items()}
    own = {tool.id: old.wire_names[tool.id] for plugin in plugins if not plugin.server for tool in plugin.tools}
    # As of one plugin for each server, so that a split renames nothing.
    of_servers = [
        Tool(tool.name, plugin=plugin.server, wire_name=old_names.get((plugin.server, tool.name), ""))
        for plugin in plugins
        if plugin.server
        for tool in plugin.tools
    ]
    assigned = assign_wire_names(of_servers, {*RESERVED_NAMES, *own.values()}, max_length=NAME_LIMIT)
    for plugin in plugins:
        names = own if not plugin.server else {t.id: assigned[f"{plugin.server}/{t.name}"] for t in plugin.tools}
        yield replace(plugin, tools=tuple(replace(tool, wire_name=names[tool.id]) for tool in plugin.tools))


def _facts(listing: Listing, tools: Iterable[Tool]) -> dict[str, Any]:
    facts = {"version": listing.version, "protocol": listing.protocol, "digest": digest_tools(tools)}
    return {key: value for key, value in facts.items() if value}


def _kept_categories(old: Catalog, plugins: Iterable[Plugin]) -> dict[str, str]:
    """The categories that are in use, or that somebody has described."""
    used = {plugin.category_key for plugin in plugins}
    return {
        name: description
        for name, description in old.categories.items()
        if fold(name) in used or description not in ("", CATEGORY_DESCRIPTIONS.get(fold(name)))
    }


def _kept_core(old: Catalog, plugins: Iterable[Plugin]) -> Iterator[str]:
    """The core tools that are still there, by what may be another id."""
    servers = {plugin.name: plugin.server for plugin in old.plugins}
    ids = {(plugin.server, tool.name): tool.id for plugin in plugins if plugin.server for tool in plugin.tools}
    for tool_id in old.core:
        tool = old.get_tool(tool_id)
        server = servers[str(tool.plugin)]
        if not server:
            yield tool_id
        elif (now := ids.get((server, tool.name))) is not None:
            yield now
