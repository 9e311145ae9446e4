"""One connection to an MCP server, held by one task: start, lists, requests, restart, end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any

from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError

from toolbelt.catalog.mcp_tools import mend_tools
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.upstreams.idleness import Idleness
from toolbelt.mcp.upstreams.mending import UNREADABLE_ANSWER, left_out
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.transports import ServerTransport, Startable, make_mask
from toolbelt.mcp.upstreams.wire import CLIENT_INFO, Params, PeerHandlers, Wire, find_header_maps, negotiate, stamp
from toolbelt.servers.spec import Transport
from toolbelt.text import visible

MAX_PAGES = 1000
"""Pages of one list; a server whose pages never end is refused."""


class UpstreamStatus(StrEnum):
    """The state of a connection."""

    IDLE = "idle"
    """Not started yet."""
    STARTING = "starting"
    OK = "ok"
    FAILED = "failed"
    """It could not be started, or it ended; it is started again when it is needed, after a wait."""
    NEEDS_LOGIN = "needs_login"
    CLOSED = "closed"
    """By us, for good."""


@dataclass(frozen=True)
class UpstreamLimits:
    """Times, in seconds.

    Attributes:
        start: Until the server has answered the handshake.
        list: Until a list is complete.
        close: Until a connection is given up that does not end.
        first_wait: Before the first restart; each wait is twice the one before.
        longest_wait: Of these.
        idle: Without a request, after which the connection ends until it is needed again; 0 for never.
        probe: Until a server that is asked for the protocol of 2026 is asked for an earlier one.
    """

    start: float = 30.0
    list: float = 30.0
    close: float = 6.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    idle: float = 0.0
    probe: float = 10.0


class UpstreamError(ToolbeltError):
    """A server that cannot be reached now.

    Attributes:
        server: Its name.
        status: What became of it.
        wait_seconds: Until it may be started again; 0 where that is not the reason.
    """

    def __init__(self, server: str, status: UpstreamStatus, message: str, *, wait_seconds: float = 0.0) -> None:
        super().__init__(f"server {server!r} {message}")
        self.server = server
        self.status = status
        self.wait_seconds = wait_seconds


class Upstream:
    """One connection to a server; started when first needed, and again after it ended.

    Args:
        server: With resolved values.
        version: Of the handshake protocol to ask for, or empty for the newest of all eras.
        handlers: Who takes what the server sends by itself. Its `capabilities` are sent with each request of the 2026
            protocol, so that they may change.
        limits: How long things may take.
        log: Receives one line at a time, safe to show; each names the server.
        orphans: Ends the server if this process is killed.

    Attributes:
        status: See `UpstreamStatus`.
        error: Why it is not there, empty otherwise.
        starts: How often it was started; what was learned from one start does not hold for the next.
    """

    def __init__(
        self,
        server: Startable,
        *,
        version: str = "",
        handlers: PeerHandlers | None = None,
        limits: UpstreamLimits | None = None,
        log: Callable[[str], None] = lambda _: None,
        orphans: OrphanWatch | None = None,
    ) -> None:
        self.server = server
        self.status = UpstreamStatus.IDLE
        self.error = ""
        self.starts = 0
        self._version = version
        self._handlers = handlers or PeerHandlers()
        self._limits = limits or UpstreamLimits()
        self._log = log
        self._orphans = orphans
        self._transport: ServerTransport | None = None
        self._holder: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] | None = None
        self._wire: Wire | None = None
        self._session: ClientSession | None = None
        self._failures = 0
        self._next_start = 0.0
        self._is_resting = False
        self._idleness = Idleness(self._limits.idle)
        self._header_maps: dict[str, Mapping[tuple[str, ...], str]] = {}
        self.notes: tuple[str, ...] = ()  # what is wrong with lists that count all the same

    @property
    def name(self) -> str:
        """Of the server."""
        return self.server.name

    @property
    def pid(self) -> int | None:
        """Of the server's process, which leads a session of its own; `None` without one."""
        return None if self._transport is None else self._transport.pid

    @property
    def is_connected(self) -> bool:
        """Whether requests can be sent now, without a start."""
        return self.status is UpstreamStatus.OK and not self._is_ending

    @property
    def _is_ending(self) -> bool:
        return self._is_resting or (self._wire is not None and self._wire.ended.is_set())

    @property
    def session(self) -> ClientSession:
        """The SDK's session: negotiated version, capabilities, instructions, name and version of the server.

        Raises:
            UpstreamError: there is none now.
        """
        if self._session is None:
            raise UpstreamError(self.name, self.status, self.error or "is not connected")
        return self._session

    @property
    def version(self) -> str:
        """Of the protocol, as negotiated; empty while there is no connection."""
        return "" if self._session is None else self._session.protocol_version or ""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server can do, as plain values; empty while there is no connection."""
        if self._session is None or self._session.server_capabilities is None:
            return {}
        return self._session.server_capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def __aenter__(self) -> Upstream:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Be connected: at once if it is, else by starting the server. Callers at the same time share one start.

        Raises:
            UpstreamError: it cannot be started, or may not be started again yet, or is closed.
        """
        if self._is_ending and self._holder is not None:
            await asyncio.wait({self._holder})  # until nothing of it is left
        if self.status is UpstreamStatus.OK:
            return
        if self.status is UpstreamStatus.CLOSED:
            raise UpstreamError(self.name, self.status, "is closed")
        if self._ready is None:
            if (wait := self._next_start - time.monotonic()) > 0:
                message = f"{self.error}; it is started again in {wait:.0f} s"
                raise UpstreamError(self.name, self.status, message, wait_seconds=wait)
            self.status = UpstreamStatus.STARTING
            self._is_resting = False
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(lambda future: future.cancelled() or future.exception())
            self._holder = asyncio.create_task(self._hold(self._ready), name=f"upstream {self.name}")
        await asyncio.shield(self._ready)

    async def request(
        self,
        method: str,
        params: Params | None = None,
        *,
        timeout: float | None = None,
        of_start: int | None = None,
    ) -> dict[str, Any]:
        """Ask the server; the connection is made first if there is none.

        Args:
            method: Of the protocol.
            params: Sent as they are, but for what describes the connection. With a `progressToken` in `_meta`, progress
                comes to `PeerHandlers.notification`.
            timeout: Seconds; without it, until the connection ends. The server is sent a cancellation.
            of_start: The value of `starts` with which this may be asked: what was checked may not hold for another.

        Returns:
            The result as the server sent it.

        Raises:
            MCPError: what the server answered, or that it ended or took too long.
            UpstreamError: there is no connection.
        """
        await self.start()
        if of_start not in (None, self.starts):
            raise UpstreamError(self.name, self.status, "was started again; call it once more")
        wire, session = self._wire, self.session
        if wire is None:
            raise UpstreamError(self.name, self.status, self.error or "is not connected")
        version = session.protocol_version or ""
        name = (params or {}).get("name")
        header_map = self._header_maps.get(name) if isinstance(name, str) and method == "tools/call" else None
        sent, headers = stamp(method, params, version, self._handlers.capabilities, header_map)
        options: CallOptions = {"headers": headers}
        if timeout is not None:
            options["timeout"] = timeout
        try:
            with self._idleness.request(method):
                return await wire.send_raw_request(method, sent, options)
        except MCPError as error:
            if error.message.startswith(UNREADABLE_ANSWER):
                raise MCPError(error.code, f"Server {self.name!r} {error.message}") from None
            if self._transport is None or not (hint := self._transport.login_hint):
                raise
            wire.ended.set()
            raise UpstreamError(self.name, UpstreamStatus.NEEDS_LOGIN, hint) from None

    async def notify(self, method: str, params: Params | None = None) -> None:
        """Send a notification, if there is a connection."""
        if self._wire is not None and self._session is not None:
            sent, headers = stamp(method, params, self._session.protocol_version or "", self._handlers.capabilities)
            await self._wire.notify(method, sent or None, {"headers": headers})

    async def list_all(self, method: str, key: str) -> list[dict[str, Any]]:
        """Every page of a list: of `tools/list`, say, what stands under `tools`.

        Raises:
            MCPError, UpstreamError: as `request`; also where pages are none, or too many.
        """
        entries: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            result = await self.request(method, params, timeout=self._limits.list)
            listed = result.get(key)
            if not isinstance(listed, list):
                raise UpstreamError(self.name, self.status, f"answered {method} with what is no list")
            page = [entry for entry in listed if isinstance(entry, dict)]
            notes = left_out(result)
            if len(page) < len(listed):
                notes += [f"lists {len(listed) - len(page)} {key} that are no objects, which are left out"]
            self._add_notes(notes)
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str):
                return entries + page
            if cursor in seen:
                self._add_notes([f"answers {method} with the nextCursor {cursor!r} again, so its pages do not end"])
                return entries + [entry for entry in page if entry not in entries]
            entries += page
            seen.add(cursor)
            params = {"cursor": cursor}
        raise UpstreamError(self.name, self.status, f"answers {method} with pages without end")

    def _add_notes(self, notes: Iterable[str]) -> None:
        self.notes = tuple(dict.fromkeys((*self.notes, *notes)))

    async def list_tools(self) -> list[dict[str, Any]]:
        """Every tool, in the server's order, mended where strict clients would refuse it; of no tools, none.

        Raises:
            MCPError, UpstreamError: as `list_all`.
        """
        await self.start()
        if "tools" not in self.capabilities:
            return []
        tools, notes = mend_tools(await self.list_all("tools/list", "tools"))
        self._add_notes(notes)
        if self.server.transport is not Transport.STDIO:
            self._header_maps = find_header_maps(tools, self.version)
        return tools

    async def close(self, *, force: bool = False) -> None:
        """End the connection and the server, for good; within a limit, and never with an error.

        Args:
            force: Whether a server is asked to terminate at once, not only when it does not end by itself.
        """
        self.status = UpstreamStatus.CLOSED
        self._stop.set()
        if force and self._transport is not None:
            self._transport.terminate()
        holder = self._holder
        if holder is None or holder.done():
            return
        _, pending = await asyncio.wait({holder}, timeout=self._limits.close)
        if pending:
            self._log(f"{self.name}: does not end; it is left behind")
            holder.cancel()
            await asyncio.wait({holder}, timeout=1)

    async def _hold(self, ready: asyncio.Future[None]) -> None:
        """Enter and leave the connection in one task, which its cancel scopes need."""
        failure = ""
        status = UpstreamStatus.FAILED
        started = time.monotonic()
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(self._limits.start):  # anyio's scope could not be left before the connection
                    self._transport = ServerTransport(self.server, self._log, self._orphans)
                    streams = await stack.enter_async_context(self._transport.connect())
                    wire = Wire(*streams, self._handlers, self._version, self._limits.probe)
                    session = await stack.enter_async_context(ClientSession(dispatcher=wire, client_info=CLIENT_INFO))
                    await negotiate(session, modern=not self._version)
                self._wire, self._session = wire, session
                self.starts += 1
                self.error = ""
                if self.status is not UpstreamStatus.CLOSED:
                    self.status = UpstreamStatus.OK
                    ready.set_result(None)
                    await self._wait_for_end(wire)
                    failure = "" if self._is_resting else "ended"
        except Exception as error:  # noqa: BLE001  whatever a server causes, it costs its own tools only
            cause: BaseException = error
            while isinstance(cause, BaseExceptionGroup):
                cause = cause.exceptions[0]
            late = isinstance(cause, TimeoutError) and not str(cause)
            what = make_mask(self.server)(str(cause)) or type(cause).__name__
            failure = f"did not answer within {self._limits.start:g} s" if late else f"failed: {what}"
        finally:
            if hint := self._transport.login_hint if self._transport is not None else "":
                status, failure = UpstreamStatus.NEEDS_LOGIN, hint
            self._wire = self._session = self._ready = None
            if self.status is not UpstreamStatus.CLOSED and self._is_resting and not failure:
                self.status = UpstreamStatus.IDLE
            elif self.status is not UpstreamStatus.CLOSED:
                self._fail(status, failure or "ended", time.monotonic() - started)
            if not ready.done():
                ready.set_exception(UpstreamError(self.name, self.status, failure or "is closed"))

    def _fail(self, status: UpstreamStatus, failure: str, lived_seconds: float) -> None:
        self.status, self.error = status, failure
        if lived_seconds > self._limits.longest_wait:
            self._failures = 0
        wait = min(self._limits.first_wait * 2**self._failures, self._limits.longest_wait)
        self._failures += 1
        self._next_start = time.monotonic() + wait
        self._log(f"{self.name}: {visible(failure)}")

    async def _wait_for_end(self, wire: Wire) -> None:
        """Until the server is gone, or we close, or it was not needed for so long that it may end."""
        waits = {asyncio.create_task(self._stop.wait()), asyncio.create_task(wire.ended.wait())}
        self._idleness.begin()
        try:
            while not self._is_resting:
                left = self._idleness.seconds_left()
                done, _ = await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return
                self._is_resting = self._idleness.seconds_left() == 0
        finally:
            for wait in waits:
                wait.cancel()
