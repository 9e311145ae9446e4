"""A server as clients have it: its connection, what was verified of it, and whose calls it works on."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from toolbelt.mcp.gateway.conversations import Conversation
from toolbelt.mcp.gateway.front import Context
from toolbelt.mcp.gateway.surface import ServedTool
from toolbelt.mcp.gateway.verification import Verification, verify_tools
from toolbelt.mcp.logs.limited_log import LimitedLog
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.transports import Startable
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamLimits
from toolbelt.mcp.upstreams.wire import Params, PeerHandlers
from toolbelt.text import visible

TOOLS_CHANGED = "notifications/tools/list_changed"
_PROGRESS = "notifications/progress"


class Notified(Protocol):
    """A client, as a shared server has it."""

    def pass_on(self, call: CallUnderWay, method: str, params: Params) -> None:
        """Receive a notification that belongs to a call."""
        ...


@dataclass
class CallUnderWay:
    """A request of the client that a server is working on.

    Attributes:
        context: Of the client's request.
        server: Who works on it.
        token: The client's progress token; `None` if it wants no progress.
        conversation: Where the server's questions go, if the client cannot be sent requests.
    """

    context: Context
    server: str
    token: str | int | None = None
    conversation: Conversation | None = None


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
                self.verification = verify_tools(self.served, await upstream.list_tools(), upstream.version)
                self.verified_start = start
            return self.verification

    def forget(self) -> None:
        """Ask the server again before the next call: it says that its tools changed."""
        self.verified_start = -1

    @contextlib.contextmanager
    def routing(self, client: Notified, call: CallUnderWay, params: Params) -> Iterator[Params]:  # noqa: ARG002
        """The params to send for a call; here as they are."""
        yield params


class SharedConnection(ServerConnection):
    """A server that all clients share (rule M7): it can ask none of them, and its log messages go to the gateway's log.

    Clients choose the same progress tokens; here, each call has one of its own.

    Args:
        server: With resolved values.
        served: Its tools that clients may reach.
        limits: Of the connection.
        log: Receives one line at a time.
        orphans: Ends the server if this process is killed.
    """

    def __init__(
        self,
        server: Startable,
        served: tuple[ServedTool, ...],
        limits: UpstreamLimits | None,
        log: Callable[[str], None],
        orphans: OrphanWatch | None = None,
    ) -> None:
        handlers = PeerHandlers(notification=self._take_notification)
        super().__init__(Upstream(server, handlers=handlers, limits=limits, log=log, orphans=orphans), served)
        self._log = LimitedLog(log)
        self._calls: dict[str, tuple[Notified, CallUnderWay]] = {}
        self._tokens = itertools.count(1)

    @contextlib.contextmanager
    def routing(self, client: Notified, call: CallUnderWay, params: Params) -> Iterator[Params]:
        """The params to send for a call, whose progress comes back to its client."""
        if call.token is None:
            yield params
            return
        token = f"shared-{next(self._tokens)}"
        self._calls[token] = client, call
        try:
            yield {**params, "_meta": {**(params.get("_meta") or {}), "progressToken": token}}
        finally:
            del self._calls[token]

    def _take_notification(self, method: str, params: Params) -> None:
        if method == TOOLS_CHANGED:
            self.forget()
        elif method == "notifications/message":
            self._log.add(f"{self.upstream.name}: {visible(str(params.get('level')))}: {_shown(params.get('data'))}")
        elif method == _PROGRESS and (known := self._calls.get(str(params.get("progressToken")))) is not None:
            client, call = known
            client.pass_on(call, method, {**params, "progressToken": call.token})


def _shown(data: object) -> str:
    return visible(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))[:500]
