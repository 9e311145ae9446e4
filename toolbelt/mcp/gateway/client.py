"""One client of the gateway: its connections to servers, what was verified of them, its calls under way."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcp.server.connection import allowed_log_levels
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_REQUEST

from toolbelt.catalog.definitions import Definition
from toolbelt.catalog.mcp_tools import with_object_output
from toolbelt.mcp.gateway.announcing import Announcements
from toolbelt.mcp.gateway.connections import TOOLS_CHANGED, CallUnderWay, ServerConnection
from toolbelt.mcp.gateway.contents import Contents
from toolbelt.mcp.gateway.conversations import Conversation
from toolbelt.mcp.gateway.front import Context, Notices, ask_client, is_modern
from toolbelt.mcp.gateway.surface import ServedTool, Surface
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.transports import Startable
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamError, UpstreamLimits
from toolbelt.mcp.upstreams.wire import Params, PeerHandlers
from toolbelt.text import visible

LOG_LEVEL_SECONDS = 10.0
"""Until a server has to have set its level of log messages."""


class Client:
    """One client session: everything that two clients must not share.

    Args:
        servers: Those that may be needed, by name, with resolved values.
        surface: What the client is served.
        log: Receives one line at a time.
        limits: Of the connections to servers.
        shared: Connections that are not this client's alone, by name; whoever made them closes them.
        orphans: Ends its servers if this process is killed.

    Attributes:
        session_id: Random; in the audit log, and for what is kept of a session.
        surface: What it is served now.
        connections: Servers by name, once `begin` was called.
        capabilities: What the client can do, as it says.
        info: Its name and version, as it says.
        version: Of the protocol that it speaks; empty before `begin`.
        notices: Notifications to it.
        conversations: Calls that wait for its answers, by the state with which it comes back.
        contents: Resources and prompts of its servers.
        announcements: Of changes of its list.
        revealed: Discoverable tools that were added to its list, by the name that it sees, in the order of the list.
    """

    def __init__(
        self,
        servers: Mapping[str, Startable],
        surface: Surface,
        log: Callable[[str], None],
        limits: UpstreamLimits | None = None,
        *,
        shared: Mapping[str, ServerConnection] | None = None,
        orphans: OrphanWatch | None = None,
    ) -> None:
        self.session_id = secrets.token_hex(8)
        self.surface = surface
        self.connections: dict[str, ServerConnection] = {}
        self.capabilities: Mapping[str, Any] = {}
        self.info: Mapping[str, Any] = {}
        self.version = ""
        self.conversations: dict[str, Conversation] = {}
        self.contents = Contents(self, log)
        self.notices = Notices(log)
        self.announcements = Announcements(self.notices)
        self.revealed: dict[str, ServedTool] = {}
        self.initialized = asyncio.Event()
        self._servers = servers
        self._log = log
        self._limits = limits
        self._shared = shared or {}
        self._orphans = orphans
        self._log_level: Params = {}
        self._calls: list[CallUnderWay] = []
        self._context: Context | None = None
        self._starting: list[asyncio.Task[None]] = []

    @property
    def is_begun(self) -> bool:
        """Whether its protocol is known, so that servers can be started."""
        return bool(self.version)

    def begin(self, context: Context, version: str, capabilities: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Connect to the servers of the surface, in the background, in the client's version of the protocol."""
        self._context, self.capabilities, self.info = context, capabilities, info
        if self.is_begun:
            return
        self.version = version
        if is_modern(version):
            self.initialized.set()
        for name in self.surface.servers:
            self.connect(name)
        self._starting = [
            asyncio.create_task(self._verify(connection), name=f"start {name}")
            for name, connection in self.connections.items()
            if name not in self.surface.on_demand
        ]

    def connect(self, name: str) -> ServerConnection | None:
        """The connection to a server; not started by this. `None` if there is no definition of such a server."""
        if name in self._shared:
            self.connections[name] = self._shared[name]
        elif name not in self.connections and (server := self._servers.get(name)) is not None:
            handlers = PeerHandlers(
                request=lambda method, params: self._answer(name, method, params),
                notification=lambda method, params: self._pass_on(name, method, params),
                capabilities=self.capabilities,
            )
            version = "" if is_modern(self.version) else self.version
            upstream = Upstream(
                server, version=version, handlers=handlers, limits=self._limits, log=self._log, orphans=self._orphans
            )
            self.connections[name] = ServerConnection(upstream, self.surface.tools_of(name))
        return self.connections.get(name)

    async def reveal(self, tools: Iterable[ServedTool]) -> None:
        """Add discoverable tools to the end of the list, and announce that if any is new."""
        added = {tool.wire_name: tool for tool in tools if tool.wire_name not in self.revealed}
        self.revealed |= added
        if added and self._context is not None:
            await self.announcements.announce_tools(self._context, self.version)

    async def wait_until_verified(self, seconds: float) -> None:
        """Wait for the lists of all servers, but no longer than that."""
        if self._starting:
            await asyncio.wait(self._starting, timeout=seconds)

    def find_changed(self) -> frozenset[str]:
        """Ids of the tools that are no longer what was synced."""
        changed = set()
        for served in (*self.surface.offered, *self.surface.discoverable):
            connection = self.connections.get(served.server)
            verification = None if connection is None else connection.verification
            if verification is not None and served.upstream_name in verification.changed:
                changed.add(served.tool.id)
        return frozenset(changed)

    def list_definitions(self, served: Iterable[ServedTool], *, unlocked: bool) -> list[Definition]:
        """Definitions of the tools that are what was synced, or whose server was not asked yet.

        Args:
            served: In the order of the list.
            unlocked: Whether a changed tool is listed as its server has it now.
        """
        definitions = []
        for tool in served:
            connection = self.connections.get(tool.server)
            verification = None if connection is None else connection.verification
            if verification is None or tool.upstream_name not in verification.changed:
                definitions.append(tool.definition)
            elif unlocked and (live := verification.live.get(tool.upstream_name)) is not None:
                definitions.append({**live, "name": tool.wire_name})
        return definitions if is_modern(self.version) else [dict(with_object_output(each)) for each in definitions]

    async def set_log_level(self, params: Params) -> None:
        """Give the servers that log the level that the client wants: those that run now, others when they start."""
        self._log_level = params
        running = [connection for name, connection in self.connections.items() if name not in self._shared]
        await asyncio.gather(*(self._send_log_level(connection.upstream) for connection in running))

    async def _send_log_level(self, upstream: Upstream) -> None:
        if self._log_level and upstream.is_connected and "logging" in upstream.capabilities:
            try:
                await upstream.request("logging/setLevel", self._log_level, timeout=LOG_LEVEL_SECONDS)
            except (UpstreamError, MCPError) as error:
                self._log(f"{upstream.name}: logging/setLevel: {error}")

    async def notify_servers(self, method: str, params: Params) -> None:
        """Give a notification of the client to all servers that are running and not shared."""
        own = [connection.upstream for name, connection in self.connections.items() if name not in self._shared]
        await asyncio.gather(*(upstream.notify(method, params) for upstream in own))

    def start_call(
        self, context: Context, server: str, params: Params, conversation: Conversation | None
    ) -> CallUnderWay:
        """Remember a request that a server works on; `end_call` forgets it."""
        token = (params.get("_meta") or {}).get("progressToken")
        call = CallUnderWay(context, server, token if isinstance(token, str | int) else None, conversation)
        self._calls.append(call)
        return call

    def end_call(self, call: CallUnderWay) -> None:
        """The server has answered, or nobody waits any more."""
        self._calls.remove(call)

    async def close(self, *, force: bool = False) -> None:
        """End all connections, at the same time; `force` as for `Upstream.close`."""
        for task in self._starting:
            task.cancel()
        for conversation in self.conversations.values():
            conversation.cancel()
        self.announcements.close()
        own = [connection.upstream for name, connection in self.connections.items() if name not in self._shared]
        await asyncio.gather(*(upstream.close(force=force) for upstream in own))
        await self.notices.close()

    async def _verify(self, connection: ServerConnection) -> None:
        name = connection.upstream.name
        try:
            verification = await connection.verify()
        except UpstreamError:
            return  # which its upstream has logged
        except MCPError as error:
            self._log(f"{name}: cannot list its tools: {error}")
            return
        await self._send_log_level(connection.upstream)
        for note in connection.upstream.notes:
            self._log(f"{name}: {visible(note)}")
        for tool in connection.served:
            if tool.upstream_name in verification.changed:
                self._log(f"{name}: tool {tool.wire_name!r} is withheld: {verification.changed[tool.upstream_name]}")

    def pass_on(self, call: CallUnderWay, method: str, params: Params) -> None:
        """Give a notification of a shared server to the client, with its call."""
        self.notices.put(call.context, call.server, method, params, related=True)

    def _pass_on(self, server: str, method: str, params: Params) -> None:
        """A notification of a server: to the client, with the call to which it belongs, in the order in which it came.

        Lists have an order and a digest that do not change; their changes are looked at before the next call.
        """
        if method.endswith("/list_changed"):
            if method == TOOLS_CHANGED and (connection := self.connections.get(server)) is not None:
                connection.forget()
            return
        if method == "notifications/message" and not self._wants_log(server, params.get("level")):
            return
        call = self._find_call(server, params.get("progressToken") if method == "notifications/progress" else None)
        if call is not None:
            self.notices.put(call.context, server, method, params, related=True)
        elif self._context is not None and not method.startswith("notifications/progress"):
            self.notices.put(self._context, server, method, params, related=False)

    def _wants_log(self, server: str, level: object) -> bool:
        """From 2026 on, a client receives log messages of a call only if the call asks for them."""
        call = self._find_call(server)
        return not is_modern(self.version) or (
            call is not None and level in allowed_log_levels(self.version, (call.context.params or {}).get("_meta"))
        )

    def _find_call(self, server: str, token: object = None) -> CallUnderWay | None:
        """The call with that progress token, else the last one that began: servers do not say to which they refer."""
        for call in reversed(self._calls):
            if call.server == server and (token is None or call.token == token):
                return call
        return None

    async def _answer(self, server: str, method: str, params: Params) -> dict[str, Any]:
        """A request of a server (sampling, elicitation, roots), answered by the client."""
        await self.initialized.wait()
        call = self._find_call(server)
        if call is not None and call.conversation is not None:
            return await call.conversation.ask(method, params)
        if self._context is None or is_modern(self.version):
            raise MCPError(code=INVALID_REQUEST, message=f"This client cannot be asked for {method} now.")
        if call is not None:
            return await ask_client(call.context, method, params, related=True)
        return await ask_client(self._context, method, params, related=False)
