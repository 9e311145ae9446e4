"""The gateway: what clients ask, and who answers it (rules M5, M6).

The SDK's low-level `Server` speaks the protocol, in all its versions. What it is asked is answered in its middleware
with plain dicts, so that an answer of a server reaches the client as it was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    RequestParams,
)
from mcp.types.methods import validate_client_request

from toolbelt import __version__
from toolbelt.catalog.definitions import Definition
from toolbelt.mcp.gateway.announcing import LISTEN, offer_announcements
from toolbelt.mcp.gateway.calls import CallRunner, Policy
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.connections import ServerConnection, SharedConnection
from toolbelt.mcp.gateway.contents import Kind
from toolbelt.mcp.gateway.front import Context, is_modern
from toolbelt.mcp.gateway.surface import ServedTool, Surface
from toolbelt.mcp.upstreams.mending import left_out
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.transports import Startable
from toolbelt.mcp.upstreams.upstream import UpstreamLimits
from toolbelt.mcp.upstreams.wire import Params

Handler = Callable[[Client, Context, Params], Awaitable[dict[str, Any]]]
_CACHEABLE = ("list", "read")
"""How methods end whose results have to say how long they hold, from 2026 on."""
_UNCHECKED = (
    "prompts and resources of servers are passed on as they are now: only tools are compared with what was synced; "
    "`resources: false` in a loadout leaves them out"
)


@dataclass(frozen=True)
class LocalTool:
    """A tool that the gateway itself runs.

    Attributes:
        definition: As `tools/list` has it.
        handler: Gets the client, the context and the params of the call; returns a result as of `tools/call`. May raise
            `RefusedError`.
        is_watched: Whether the gateway informs the policy of its calls; else the handler does.
    """

    definition: Definition
    handler: Handler
    is_watched: bool = True


class Turns(Protocol):
    """Decides what a client is served from one turn to the next; `client.surface` is what it is served now."""

    async def refresh(self, client: Client) -> None:
        """Before a request of the client that is no call."""
        ...

    def call(self, client: Client) -> AbstractAsyncContextManager[None]:
        """Around a call of the client."""
        ...


@dataclass(frozen=True)
class GatewayOptions:
    """How a gateway behaves.

    Attributes:
        call_seconds: Until a call is given up.
        list_seconds: How long the first list waits for servers that are starting.
        unlocked: Whether tools are served that are not what was synced.
        limits: Of connections to servers.
        shared: Names of servers that all clients share.
        announces: Whether a tool that a client asks to be described is added to its list, which is announced.
    """

    call_seconds: float = 300.0
    list_seconds: float = 10.0
    unlocked: bool = False
    limits: UpstreamLimits = field(default_factory=UpstreamLimits)
    shared: tuple[str, ...] = ()
    announces: bool = False


class Gateway:
    """A surface, served to any number of clients.

    Args:
        surface: What is served.
        servers: Those of the surface by name, with resolved values.
        options: See `GatewayOptions`.
        log: Receives one line at a time.
        local_tools: Listed after the tools of servers.
        policy: Asked before each call of a tool, and informed after it.

    Attributes:
        turns: Decides what clients are served; `None` to serve all of them the whole surface.
    """

    def __init__(
        self,
        surface: Surface,
        servers: Mapping[str, Startable],
        options: GatewayOptions | None = None,
        *,
        log: Callable[[str], None],
        local_tools: tuple[LocalTool, ...] = (),
        policy: Policy | None = None,
    ) -> None:
        self.surface = surface
        self.options = options or GatewayOptions()
        self.log = log
        self.local_tools = {str(tool.definition["name"]): tool for tool in local_tools}
        self.calls = CallRunner(self.options.call_seconds, self.options.unlocked, log, policy)
        self.turns: Turns | None = None
        self._policy = policy
        self._servers = servers
        self._shared: dict[str, ServerConnection] = {}
        self._orphans = OrphanWatch()
        self._is_unchecked_said = False
        self._handlers: dict[str, Handler] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "logging/setLevel": self._set_level,
        }
        if surface.resource_servers:
            self._handlers |= {
                "resources/list": partial(self._list_contents, Kind.RESOURCES),
                "resources/templates/list": partial(self._list_contents, Kind.TEMPLATES),
                "resources/read": self._ask_resource_server,
                "resources/subscribe": self._ask_resource_server,
                "resources/unsubscribe": self._ask_resource_server,
                "prompts/list": partial(self._list_contents, Kind.PROMPTS),
                "prompts/get": self._get_prompt,
                "completion/complete": self._complete,
            }
        # The SDK would derive from a registered `subscriptions/listen` that all lists may change.
        self._registered = tuple(self._handlers)
        if self.options.announces:
            self._handlers[LISTEN] = self._listen

    def open_client(self) -> Client:
        """The state of a new client session; whoever opens it closes it."""
        limits = self.options.limits
        return Client(
            self._servers, self.surface, self.log, limits, shared=self._shared_connections(), orphans=self._orphans
        )

    async def close(self, *, force: bool = False) -> None:
        """End what no client's end has ended; `force` as for `Upstream.close`."""
        await asyncio.gather(*(connection.upstream.close(force=force) for connection in self._shared.values()))
        self._orphans.close()

    def _shared_connections(self) -> Mapping[str, ServerConnection]:
        for name in self.options.shared:
            if name not in self._shared and (server := self._servers.get(name)) is not None:
                served, limits = self.surface.tools_of(name), self.options.limits
                self._shared[name] = SharedConnection(server, served, limits, self.log, self._orphans)
        return self._shared

    def make_server(self, find_client: Callable[[Context], Client]) -> Server[Any]:
        """The SDK's server, for one transport.

        Args:
            find_client: Whose session a request belongs to.
        """
        server: Server[Any] = Server("toolbelt", version=__version__)

        async def answer(ctx: Context, call_next: CallNext) -> HandlerResult:
            return await self._answer(server, find_client(ctx), ctx, call_next)

        for method in self._registered:
            # Only what it can do is derived from these; before a handshake they give the SDK's errors.
            server.add_request_handler(method, RequestParams, _refuse)
        server.middleware.append(answer)
        return server

    async def _answer(
        self, server: Server[Any], client: Client, context: Context, call_next: CallNext
    ) -> HandlerResult:
        params = context.params or {}
        method, version = context.method, context.protocol_version
        if unreadable := left_out(params):
            raise MCPError(code=INVALID_PARAMS, message=f"This request cannot be read: {unreadable[0]}.")
        if context.request_id is None:
            if method == "notifications/initialized":
                client.initialized.set()
            elif method == "notifications/roots/list_changed":
                await client.notify_servers(method, params)
            return await call_next(context)
        if method == "initialize":
            result = await call_next(context)
            version = result["protocolVersion"] if isinstance(result, dict) else version
            self._offer(result)
            self._begin(client, context, version, params.get("capabilities") or {}, params.get("clientInfo") or {})
            return result
        if is_modern(version):
            meta = params.get("_meta") or {}
            info = meta.get(CLIENT_INFO_META_KEY) or {}
            self._begin(client, context, version, meta.get(CLIENT_CAPABILITIES_META_KEY) or {}, info)
        handler = self._handlers.get(method)
        if handler is None or not client.is_begun:
            result = await call_next(context)
            if method == "server/discover":
                self._offer(result)
            return result
        try:
            validate_client_request(method, version, context.params)
        except KeyError:  # this version has no such method
            return await call_next(context)
        if self.turns is not None and method != "tools/call":
            await self.turns.refresh(client)
        result = await handler(client, context, params)
        return _finish(result, method, server.server_info_stamp) if is_modern(version) else result

    def _offer(self, result: HandlerResult) -> None:
        if self.options.announces and isinstance(result, dict):
            offer_announcements(result)

    def _begin(
        self,
        client: Client,
        context: Context,
        version: str,
        capabilities: Mapping[str, Any],
        info: Mapping[str, Any],
    ) -> None:
        is_new = not client.is_begun
        client.begin(context, version, capabilities, info)
        if is_new and self._policy is not None:
            self._policy.begin(client)

    async def _list_tools(self, client: Client, _context: Context, _params: Params) -> dict[str, Any]:
        await client.wait_until_verified(self.options.list_seconds)
        listed = client.list_definitions(client.surface.offered, unlocked=self.options.unlocked)
        listed += [tool.definition for tool in self.local_tools.values()]
        return {"tools": listed + client.list_definitions(client.revealed.values(), unlocked=self.options.unlocked)}

    async def _listen(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        return await client.announcements.listen(context, params)

    async def _call_tool(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        if self.turns is None:
            return await self._call_any(client, context, params)
        async with self.turns.call(client):
            return await self._call_any(client, context, params)

    async def _call_any(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        name = params["name"]
        if (local := self.local_tools.get(name)) is not None:
            if not local.is_watched:
                return await local.handler(client, context, params)
            return await self.calls.watch(client, name, "", params, lambda: local.handler(client, context, params))
        served = client.surface.by_name.get(name) or client.revealed.get(name)
        if served is None:
            reason = client.surface.reasons.get(name, "there is no such tool")
            self.log(f"call of {name!r} refused: {reason}")
            raise self.calls.refuse_unknown(client, name, params)
        return await self.calls.run(client, context, served, params)

    async def _list_contents(self, kind: Kind, client: Client, _context: Context, _params: Params) -> dict[str, Any]:
        entries = await client.contents.entries(kind)
        if entries and not self._is_unchecked_said:
            self._is_unchecked_said = True
            self.log(_UNCHECKED)
        return {kind.value[1]: entries}

    async def _ask_resource_server(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        server = await client.contents.find_resource(params["uri"])
        return await self.calls.request(client, context, client.connections[server], context.method, params)

    async def _get_prompt(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        place = await client.contents.find_prompt(params["name"])
        sent = {**params, "name": place.name}
        return await self.calls.request(client, context, client.connections[place.server], context.method, sent)

    async def _complete(self, client: Client, context: Context, params: Params) -> dict[str, Any]:
        reference = params["ref"]
        if reference.get("type") == "ref/prompt":
            place = await client.contents.find_prompt(reference["name"])
            server, sent = place.server, {**params, "ref": {**reference, "name": place.name}}
        else:
            server, sent = await client.contents.find_resource(reference["uri"]), {**params}
        connection = client.connections[server]
        if "completions" not in connection.upstream.capabilities:
            return {"completion": {"values": []}}
        return await self.calls.request(client, context, connection, context.method, sent)

    async def _set_level(self, client: Client, _context: Context, params: Params) -> dict[str, Any]:
        await client.set_log_level(params)
        return {}


async def _refuse(context: Context, _params: RequestParams) -> dict[str, Any]:
    raise MCPError(code=INVALID_PARAMS, message="Invalid request parameters", data=context.method)


def _finish(result: dict[str, Any], method: str, server_info: dict[str, Any]) -> dict[str, Any]:
    """What the 2026 protocol demands of every result, where an older server has not given it."""
    finished = dict(result)
    finished.setdefault("resultType", "complete")
    if method.endswith(_CACHEABLE) and finished["resultType"] == "complete":
        finished.setdefault("ttlMs", 0)
        finished.setdefault("cacheScope", "private")
    meta = finished.get("_meta") or {}
    if SERVER_INFO_META_KEY not in meta:
        finished["_meta"] = {**meta, SERVER_INFO_META_KEY: server_info}
    return finished


__all__ = ["Gateway", "GatewayOptions", "LocalTool", "ServedTool"]
