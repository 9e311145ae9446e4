"""A gateway whose client finds tools by the search of an eval or a session (rules S4, M6).

The pinned tools are listed. All others that the loadout makes active or discoverable are found by the search's own
meta-tools, with the answers that an eval measures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.catalog import Catalog
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.gateway.calls import ChangedError, RefusedError, refused
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.discovery import ToolNames
from toolbelt.mcp.gateway.front import Context
from toolbelt.mcp.gateway.gateway import Gateway, LocalTool
from toolbelt.mcp.gateway.surface import ServedTool, list_meta_tools
from toolbelt.mcp.upstreams.wire import Params
from toolbelt.runtime.arguments import ArgumentsError, read_arguments
from toolbelt.search.policy import search_in_turn
from toolbelt.search.search import Found, Search
from toolbelt.search.settings import Reveal


class ServedSearch:
    """The search over a surface, for any number of clients.

    Attributes:
        definitions: The meta-tools, in the order in which they are listed, as `tools/list` has them.

    Args:
        search: As `make_served_search` makes it.
        catalog: All tools, so that no name of one that is withheld means another.
    """

    def __init__(self, search: Search, catalog: Catalog) -> None:
        self._search = search
        self._find = ToolNames(catalog.tools, search.names).find
        self._narrowed = (search.searched_ids, search)
        self._found: WeakKeyDictionary[Client, Found] = WeakKeyDictionary()
        self.definitions = list_meta_tools(search.meta_tools.values())

    @property
    def announces(self) -> bool:
        """Whether what is found is added to the client's list."""
        return self._search.settings.reveal is Reveal.APPEND

    def make_tools(self, gateway: Gateway) -> tuple[LocalTool, ...]:
        """The meta-tools as a gateway runs them."""
        tools = []
        for definition in self.definitions:
            name = str(definition["name"])

            async def search(client: Client, _context: Context, params: Params) -> dict[str, Any]:
                return await self._answer(gateway, client, params)

            async def call(client: Client, context: Context, params: Params, via: str = name) -> dict[str, Any]:
                return await self._call_through(gateway, client, context, params, via)

            is_search = name == self._search.search_name
            tools.append(LocalTool(definition, search if is_search else call, is_watched=is_search))
        return tuple(tools)

    def _within(self, gateway: Gateway, client: Client) -> Search:
        """The search among what this client can be given now: nothing whose server changed it since the sync."""
        changed = frozenset() if gateway.options.unlocked else client.find_changed()
        ids = frozenset(client.surface.discoverable_by_id.keys() - changed)
        if self._narrowed[0] != ids:
            self._narrowed = (ids, self._search.within(ids))
        return self._narrowed[1]

    async def _answer(self, gateway: Gateway, client: Client, params: Params) -> dict[str, Any]:
        found = self._found.get(client, ())
        try:
            answer = await search_in_turn(self._within(gateway, client), _read(params), found)
        except ToolbeltError as error:
            raise RefusedError("search_failed", f"Nothing was searched for: {error}") from None
        self._found[client] = answer.found
        if self.announces:
            await client.reveal(client.surface.discoverable_by_id[tool_id] for tool_id in answer.hits)
        return {"content": [{"type": "text", "text": answer.text}], "isError": False}

    async def _call_through(
        self, gateway: Gateway, client: Client, context: Context, params: Params, via: str
    ) -> dict[str, Any]:
        passed_on = self._search.call_through(_read(params))
        if isinstance(passed_on, str):
            refusal = RefusedError("invalid_arguments", json.loads(passed_on)["error"])
            return await gateway.calls.refuse(client, via, params, refusal, via=via)
        if passed_on.arguments is None:
            message = f"The arguments for {passed_on.name!r} are no JSON object."
            return await gateway.calls.refuse(client, via, params, RefusedError("invalid_arguments", message), via=via)
        served = self._find_served(client, passed_on.name)
        unknown = f"Unknown tool: {passed_on.name!r}. {self._search.usage}"
        if served is None:
            withheld = self._find(passed_on.name)
            name = passed_on.name if withheld is None else self._search.names[withheld.id]
            reason = client.surface.reasons.get(name, "there is no such tool")
            gateway.log(f"call of {passed_on.name!r} by {via} refused: {reason}")
            refusal = RefusedError("unknown", unknown)
            return await gateway.calls.refuse(client, passed_on.name or via, params, refusal, via=via)
        sent = {**params, "name": served.wire_name, "arguments": dict(passed_on.arguments)}
        try:
            return await gateway.calls.run(client, context, served, sent, via=via)
        except ChangedError:  # found out by this call; the answer is that of an unknown name
            return refused(unknown)

    def _find_served(self, client: Client, name: str) -> ServedTool | None:
        tool = self._find(name)
        if tool is None:
            return None
        offered = (served for served in client.surface.offered if served.tool.id == tool.id)
        return client.surface.discoverable_by_id.get(tool.id) or next(offered, None)


def _read(params: Params) -> Mapping[str, Any] | None:
    try:
        return read_arguments(params.get("arguments") or {})
    except ArgumentsError:
        return None
