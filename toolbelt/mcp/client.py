"""One client of the gateway: its connections to servers, what was verified of them, its calls under way."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_REQUEST

from toolbelt.catalog.definitions import Definition
from toolbelt.mcp.front import Context, Notices, ask_client, is_modern
from toolbelt.mcp.surface import ServedTool, Surface
from toolbelt.mcp.transports import Startable
from toolbelt.mcp.upstream import Upstream, UpstreamError, UpstreamLimits
from toolbelt.mcp.verification import Verification, verify_tools
from toolbelt.mcp.wire import Params, PeerHandlers

_LIST_CHANGED = "notifications/tools/list_changed"


@dataclass
class CallUnderWay:
    """A request of the client that a server is working on.

    Attributes:
        context: Of the client's request.
        server: Who works on it.
        token: The client's progress token; `None` if it wants no progress.
    """

    context: Context
    server: str
    token: str | int | None = None


@dataclass
class ServerConnection:
    """A server as one client has it.

    Attributes:
        upstream: The connection.
        served: Its tools that the client may reach.
        verification: What its list has become; `None` until it was asked.
    """

    upstream: Upstream
    served: tuple[ServedTool, ...]
    verification: Verification | None = None
    verified_start: int = -1
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def verify(self) -> Verification:
        """Start the server if it is not running, and compare its tools with the synced ones, once a start.

        Raises:
            UpstreamError, MCPError: it cannot be asked.
        """
        upstream = self.upstream
        if self.verification is not None and self.verified_start == upstream.starts and upstream.is_connected:
            return self.verification
        async with self.lock:
            await upstream.start()
            start = upstream.starts
            if self.verification is None or self.verified_start != start:
                self.verification = verify_tools(self.served, await upstream.list_tools())
                self.verified_start = start
            return self.verification

    def forget(self) -> None:
        """Ask the server again before the next call: it says that its tools changed."""
        self.verified_start = -1


class Client:
    """One client session: everything that two clients must not share.

    Args:
        servers: Those that may be needed, by name, with resolved values.
        surface: What the client is served.
        log: Receives one line at a time.
        limits: Of the connections to servers.

    Attributes:
        session_id: Random; in the audit log, and for what is kept of a session.
        surface: What it is served now.
        connections: Servers by name, once `begin` was called.
        capabilities: What the client can do, as it says.
        info: Its name and version, as it says.
        version: Of the protocol that it speaks; empty before `begin`.
        notices: Notifications to it.
    """

    def __init__(
        self,
        servers: Mapping[str, Startable],
        surface: Surface,
        log: Callable[[str], None],
        limits: UpstreamLimits | None = None,
    ) -> None:
        self.session_id = secrets.token_hex(8)
        self.surface = surface
        self.connections: dict[str, ServerConnection] = {}
        self.capabilities: Mapping[str, Any] = {}
        self.info: Mapping[str, Any] = {}
        self.version = ""
        self.log_level = ""
        self.notices = Notices(log)
        self.initialized = asyncio.Event()
        self._servers = servers
        self._log = log
        self._limits = limits
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
        ]

    def connect(self, name: str) -> ServerConnection | None:
        """The connection to a server; not started by this. `None` if there is no definition of such a server."""
        if name not in self.connections and (server := self._servers.get(name)) is not None:
            handlers = PeerHandlers(
                request=lambda method, params: self._answer(name, method, params),
                notification=lambda method, params: self._pass_on(name, method, params),
                capabilities=self.capabilities,
            )
            version = "" if is_modern(self.version) else self.version
            upstream = Upstream(server, version=version, handlers=handlers, limits=self._limits, log=self._log)
            tools = (*self.surface.offered, *self.surface.discoverable)
            served = tuple(tool for tool in tools if tool.server == name)
            self.connections[name] = ServerConnection(upstream, served)
        return self.connections.get(name)

    async def wait_until_verified(self, seconds: float) -> None:
        """Wait for the lists of all servers, but no longer than that."""
        if self._starting:
            await asyncio.wait(self._starting, timeout=seconds)

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
        return definitions

    def start_call(self, context: Context, server: str, params: Params) -> CallUnderWay:
        """Remember a request that a server works on; `end_call` forgets it."""
        token = (params.get("_meta") or {}).get("progressToken")
        call = CallUnderWay(context, server, token if isinstance(token, str | int) else None)
        self._calls.append(call)
        return call

    def end_call(self, call: CallUnderWay) -> None:
        """The server has answered, or nobody waits any more."""
        self._calls.remove(call)

    async def close(self, *, hurry: bool = False) -> None:
        """End all connections, at the same time; `hurry` as for `Upstream.close`."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*(connection.upstream.close(hurry=hurry) for connection in self.connections.values()))
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
        for tool in connection.served:
            if tool.upstream_name in verification.changed:
                self._log(f"{name}: tool {tool.wire_name!r} is withheld: {verification.changed[tool.upstream_name]}")

    def _pass_on(self, server: str, method: str, params: Params) -> None:
        """A notification of a server: to the client, with the call to which it belongs, in the order in which it came.

        Lists have an order and a digest that do not change; their changes are looked at before the next call.
        """
        if method.endswith("/list_changed"):
            if method == _LIST_CHANGED and (connection := self.connections.get(server)) is not None:
                connection.forget()
            return
        call = self._find_call(server, params.get("progressToken") if method == "notifications/progress" else None)
        if call is not None:
            self.notices.put(call.context, method, params, related=True)
        elif self._context is not None and not method.startswith("notifications/progress"):
            self.notices.put(self._context, method, params, related=False)

    def _find_call(self, server: str, token: object = None) -> CallUnderWay | None:
        """The call with that progress token, else the last one that began: servers do not say to which they refer."""
        for call in reversed(self._calls):
            if call.server == server and (token is None or call.token == token):
                return call
        return None

    async def _answer(self, server: str, method: str, params: Params) -> dict[str, Any]:
        """A request of a server (sampling, elicitation, roots), answered by the client."""
        await self.initialized.wait()
        if self._context is None or is_modern(self.version):
            raise MCPError(code=INVALID_REQUEST, message=f"This client cannot be asked for {method}.")
        call = self._find_call(server)
        if call is not None:
            return await ask_client(call.context, method, params, related=True)
        return await ask_client(self._context, method, params, related=False)
