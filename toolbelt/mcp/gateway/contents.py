"""Resources, templates and prompts of the servers of one client: listed together, found by who listed them (M6)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol

from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from mcp.types import INVALID_PARAMS

from toolbelt.mcp.gateway.surface import Surface
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamError

RESOURCE_NOT_FOUND = -32002
Entries = dict[str, list[dict[str, Any]]]
"""By server."""


class Kind(Enum):
    """What servers list beside tools: the method, the key of its entries, and the capability that it needs."""

    RESOURCES = ("resources/list", "resources", "resources")
    TEMPLATES = ("resources/templates/list", "resourceTemplates", "resources")
    PROMPTS = ("prompts/list", "prompts", "prompts")


class Owner(Protocol):
    """A client, as it is needed here."""

    @property
    def connections(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def surface(self) -> Surface: ...  # noqa: D102


class PromptPlace(NamedTuple):
    """Where a prompt is: its server, and the name that the server knows."""

    server: str
    name: str


class Contents:
    """What the servers of one client list beside tools.

    Args:
        client: Whose servers they are.
        log: Receives one line at a time.
    """

    def __init__(self, client: Owner, log: Callable[[str], None]) -> None:
        self._client = client
        self._log = log
        self._listed: dict[Kind, Entries] = {}

    async def entries(self, kind: Kind) -> list[dict[str, Any]]:
        """Every entry of every server, in the order of the servers; a server that fails costs its own entries only.

        A prompt whose name several servers have is listed under the server's name, too.
        """
        listed = await self._refresh(kind)
        if kind is not Kind.PROMPTS:
            return [entry for entries in listed.values() for entry in entries]
        named = self._prompt_names(listed)
        by_place = {place: name for name, place in named.items()}
        return [
            {**entry, "name": by_place[PromptPlace(server, entry["name"])]}
            for server, entries in listed.items()
            for entry in entries
            if PromptPlace(server, entry.get("name", "")) in by_place
        ]

    async def find_resource(self, uri: str) -> str:
        """The server that listed that URI, else the one with a template that it matches.

        Raises:
            MCPError: nobody has listed it, or several have: the message names them.
        """
        for refresh in (False, True):
            if refresh or Kind.RESOURCES not in self._listed:
                await asyncio.gather(self._refresh(Kind.RESOURCES), self._refresh(Kind.TEMPLATES))
            owners = [server for server, entries in self._listed[Kind.RESOURCES].items() if _has(entries, "uri", uri)]
            if not owners:
                templates = self._listed.get(Kind.TEMPLATES, {})
                owners = [server for server, entries in templates.items() if _matches(entries, uri)]
            if len(owners) > 1:
                raise MCPError(INVALID_PARAMS, f"Resource {uri} is listed by several servers: {', '.join(owners)}")
            if owners:
                return owners[0]
        raise MCPError(RESOURCE_NOT_FOUND, f"Resource not found: {uri}", {"uri": uri})

    async def find_prompt(self, name: str) -> PromptPlace:
        """Where a prompt is.

        Raises:
            MCPError: nobody has listed it.
        """
        for refresh in (False, True):
            if refresh or Kind.PROMPTS not in self._listed:
                await self._refresh(Kind.PROMPTS)
            if (place := self._prompt_names(self._listed[Kind.PROMPTS]).get(name)) is not None:
                return place
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name}")

    async def _refresh(self, kind: Kind) -> Entries:
        names = [name for name in self._client.surface.resource_servers if name in self._client.connections]
        lists = await asyncio.gather(*(self._ask(self._client.connections[name].upstream, kind) for name in names))
        self._listed[kind] = dict(zip(names, lists, strict=True))
        return self._listed[kind]

    async def _ask(self, upstream: Upstream, kind: Kind) -> list[dict[str, Any]]:
        method, key, capability = kind.value
        try:
            await upstream.start()
            listed = await upstream.list_all(method, key) if capability in upstream.capabilities else []
            return [_without_nulls(entry) for entry in listed]
        except (UpstreamError, MCPError) as error:
            self._log(f"{upstream.name}: {method}: {error}")
            return []

    def _prompt_names(self, listed: Entries) -> dict[str, PromptPlace]:
        places = [
            PromptPlace(server, entry["name"])
            for server, entries in listed.items()
            for entry in entries
            if isinstance(entry.get("name"), str)
        ]
        bearers = Counter(place.name for place in dict.fromkeys(places))
        return {
            place.name if bearers[place.name] == 1 else f"{place.server}_{place.name}": place
            for place in dict.fromkeys(places)
        }


def _without_nulls(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry without optional fields that are null, for which strict clients refuse the lists of all servers."""
    kept = {key: value for key, value in entry.items() if value is not None}
    if isinstance(arguments := kept.get("arguments"), list):  # of a prompt
        kept["arguments"] = [_without_nulls(each) if isinstance(each, dict) else each for each in arguments]
    return kept


def _has(entries: Iterable[Mapping[str, Any]], key: str, value: str) -> bool:
    return any(entry.get(key) == value for entry in entries)


def _matches(entries: Iterable[Mapping[str, Any]], uri: str) -> bool:
    for entry in entries:
        template = entry.get("uriTemplate")
        if template == uri:
            return True
        if not isinstance(template, str):
            continue
        try:
            matched = UriTemplate.parse(template).match(uri)
        except InvalidUriTemplate:
            continue
        if matched is not None:
            return True
    return False
