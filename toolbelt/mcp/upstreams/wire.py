"""JSON-RPC with a server, as it is: what passes is neither parsed into models nor validated again.

The SDK's `ClientSession` negotiates the version and answers pings; everything else goes through its dispatcher as plain
dicts, so that a field which a model does not know, an explicit null or an integer arrives as it was sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

import anyio
import anyio.abc
from mcp.client.session import DISCOVER_TIMEOUT_SECONDS, ClientSession
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    Implementation,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from toolbelt import __version__
from toolbelt.mcp.upstreams.mending import left_out

Params = Mapping[str, Any]
OWN_META_KEYS = frozenset({PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY})
"""Keys of a request's `_meta` that describe the connection it comes over; the next connection has its own."""
NOTICES_A_SECOND = 1_000
"""Notifications of one server that are read."""
NOTICE_BYTES_A_SECOND = 4 << 20
BURST_SECONDS = 0.1
CLIENT_INFO = Implementation(name="toolbelt", version=__version__)


@dataclass
class PeerHandlers:
    """What a server sends by itself, and who takes it; without them it is refused, or dropped.

    Attributes:
        request: Answers requests (sampling, elicitation, roots): method and params in, result out.
        notification: Receives notifications but for cancellations, in order; it must not wait.
        capabilities: The client's, as the server is to see them: which requests it may send.
    """

    request: Callable[[str, Params], Awaitable[dict[str, Any]]] | None = None
    notification: Callable[[str, Params], None] | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict)


class Pace:
    """How fast notifications of a server are read, so that a flood of them delays no other server's calls."""

    def __init__(self) -> None:
        self._due = 0.0

    def add(self, size: int) -> None:
        """One of so many bytes was read."""
        cost = max(1 / NOTICES_A_SECOND, size / NOTICE_BYTES_A_SECOND)
        self._due = max(self._due, time.monotonic() - BURST_SECONDS) + cost

    async def wait(self) -> None:
        """Until the next may be read."""
        if (left := self._due - time.monotonic()) > 0:
            await anyio.sleep(left)


class _Paced:
    """Messages from a server, as fast as they may be read."""

    def __init__(self, stream: Any, pace: Pace) -> None:
        self._stream, self._pace = stream, pace

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        await self._pace.wait()
        return await self._stream.__anext__()


class Wire(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, with what a server sends by itself handed on as it is.

    Args:
        read_stream: Messages from the server.
        write_stream: Messages to it.
        handlers: Who takes what the server sends by itself.
        version: The handshake version to ask for; empty for the SDK's newest.
        probe_seconds: Until a server that is asked for the 2026 protocol is taken not to know it.
    """

    def __init__(
        self,
        read_stream: Any,
        write_stream: Any,
        handlers: PeerHandlers,
        version: str = "",
        probe_seconds: float = DISCOVER_TIMEOUT_SECONDS,
    ) -> None:
        self._pace = Pace()
        super().__init__(cast(Any, _Paced(read_stream, self._pace)), write_stream)
        self.ended = anyio.Event()
        self._handlers = handlers
        self._version = version
        self._probe_seconds = probe_seconds

    async def send_raw_request(
        self, method: str, params: Params | None, opts: CallOptions | None = None, **routing: Any
    ) -> dict[str, Any]:
        """As in the SDK; the requests by which a session begins get the client's capabilities and version."""
        if method == "initialize":
            own = {"capabilities": dict(self._handlers.capabilities)}
            params = {**(params or {}), **own, **({"protocolVersion": self._version} if self._version else {})}
        elif method == "server/discover" and params is not None:
            meta = {**params.get("_meta", {}), CLIENT_CAPABILITIES_META_KEY: dict(self._handlers.capabilities)}
            params = {**params, "_meta": meta}
            opts = {**(opts or {}), "timeout": self._probe_seconds}
        return await super().send_raw_request(method, params, opts, **routing)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,  # noqa: ARG002
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """As in the SDK, until the server is gone, which sets `ended`."""

        async def answer(
            context: DispatchContext[TransportContext], method: str, params: Params | None
        ) -> dict[str, Any]:
            if unreadable := left_out(params):
                raise MCPError(code=INVALID_REQUEST, message=f"This request cannot be read: {unreadable[0]}.")
            if method == "ping" or self._handlers.request is None:
                return await on_request(context, method, params)
            return await self._handlers.request(method, params or {})

        def intercept(method: str, params: Params | None) -> bool:
            self._pace.add(len(json.dumps(params, default=str)))
            if self._handlers.notification is not None and method != "notifications/cancelled":
                self._handlers.notification(method, params or {})
            return True  # for the session, which has no use for it, each would be a task

        try:
            await super().run(answer, on_notify, intercept, task_status=task_status)
        finally:
            self.ended.set()


async def negotiate(session: ClientSession, *, modern: bool) -> None:
    """Agree on a version: for `modern` the 2026 one if the server has it, else by the handshake, or the other way.

    A server that starts slowly answers the probe when we no longer wait, which settles that it speaks the 2026 one: it
    refuses the handshake then, and is probed once more.

    Raises:
        MCPError: the server refuses both.
        RuntimeError: no version in common.
    """
    steps = (session.discover, session.initialize) if modern else (session.initialize, session.discover)
    try:
        await steps[0]()
    except (MCPError, RuntimeError, ValueError) as error:
        # Its code proves nothing: over HTTP, Node's servers refuse an unknown method with that of a closed connection.
        try:
            await steps[1]()
        except (MCPError, RuntimeError, ValueError) as second:
            if not (modern and isinstance(second, MCPError) and second.code == UNSUPPORTED_PROTOCOL_VERSION):
                raise error from None
            await session.discover()


def find_header_maps(tools: Iterable[Params], version: str) -> dict[str, Mapping[tuple[str, ...], str]]:
    """By name of the tool, which of its arguments are headers, too, from 2026 on (`x-mcp-header`)."""
    if version not in MODERN_PROTOCOL_VERSIONS:
        return {}
    maps = {
        tool["name"]: x_mcp_header_map(tool.get("inputSchema")) for tool in tools if isinstance(tool.get("name"), str)
    }
    return {name: header_map for name, header_map in maps.items() if header_map}


def stamp(
    method: str,
    params: Params | None,
    version: str,
    capabilities: Mapping[str, Any],
    header_map: Mapping[tuple[str, ...], str] | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """What a request carries of its connection in this version of the protocol.

    Args:
        method: Of the request.
        params: As the client sent them.
        version: Negotiated with the server.
        capabilities: The client's.
        header_map: Of a tool whose arguments are headers, too (`x-mcp-header`).

    Returns:
        The params to send, and headers for HTTP.
    """
    sent = dict(params or {})
    meta = {key: value for key, value in (sent.pop("_meta", None) or {}).items() if key not in OWN_META_KEYS}
    headers = {MCP_PROTOCOL_VERSION_HEADER: version}
    if version in MODERN_PROTOCOL_VERSIONS:
        meta[PROTOCOL_VERSION_META_KEY] = version
        meta[CLIENT_INFO_META_KEY] = CLIENT_INFO.model_dump(by_alias=True, mode="json", exclude_none=True)
        meta[CLIENT_CAPABILITIES_META_KEY] = dict(capabilities)
        headers[MCP_METHOD_HEADER] = method
        if isinstance(name := sent.get(NAME_BEARING_METHODS.get(method, "")), str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
        if header_map:
            headers |= mcp_param_headers(header_map, sent.get("arguments") or {})
    if meta:
        sent["_meta"] = meta
    return sent, headers


__all__ = [
    "CLIENT_INFO",
    "OWN_META_KEYS",
    "PeerHandlers",
    "SessionMessage",
    "Wire",
    "find_header_maps",
    "negotiate",
    "stamp",
]
