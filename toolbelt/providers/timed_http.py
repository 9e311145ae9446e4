"""The connections that hosted models are asked over, and how long a request was really under way.

At many requests at a time the event loop is busy with their JSON, and an answer that came long ago waits for its turn:
a clock read around the call measures that queue. So both ends are taken from the kernel, which knows how long ago the
last byte of a connection went out and came in (`TCP_INFO`, on Linux; some 4 ms coarse each).

Not in it: connecting, which the next request over the same connection does not pay, and the queue here. Still in it:
what holds up the machine as a whole. A part of the request that is lost on the way and sent again starts the clock
anew. Elsewhere than on Linux the clock is read when the request is handed to the socket and when the loop notices the
last byte, so that the wait for the loop is in it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import aiohttp

from toolbelt.providers.timing import Timing, current_timing

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.connector import Connection

_HAS_KERNEL_CLOCK = sys.platform.startswith("linux")
_SINCE_LAST_DATA = struct.Struct("=IxxxxI")
"""`tcpi_last_data_sent` and, after one field more, `tcpi_last_data_recv`, milliseconds."""
_SINCE_LAST_DATA_AT = 44
"""Where Linux has them in its `struct tcp_info`."""


class _TimedRequest(aiohttp.ClientRequest):
    async def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> None:
        """Write the body; note when. Where the kernel will say when its last byte went out, that was not before now."""
        began = time.perf_counter()
        await super().write_bytes(writer, conn, content_length)
        timing = current_timing.get()
        if timing is not None:  # the loop may come back here long after the last byte went out
            timing.sent = began if _HAS_KERNEL_CLOCK else time.perf_counter()


class _TimedResponse(aiohttp.ClientResponse):
    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head; note when the body ends."""
        transport = connection.transport
        response = await super().start(connection)
        timing = current_timing.get()
        if timing is not None:
            timing.status, timing.headers, timing.ended = self.status, self.headers, None
            sock = None if transport is None else transport.get_extra_info("socket")
            self.content.on_eof(lambda: _end(timing, sock))
        return response


def _end(timing: Timing, sock: Any) -> None:
    # Nothing else was sent over the connection yet: it goes back to the pool in this same step of the loop.
    now = time.perf_counter()
    since_sent, since_received = _seconds_since_last_data(sock)
    timing.ended = now - since_received
    if timing.sent is not None and since_sent is not None:
        timing.sent = max(timing.sent, now - since_sent)  # a long request goes out in parts, when the loop gets to it


def _seconds_since_last_data(sock: Any) -> tuple[float | None, float]:
    """Since the last byte went out, if the kernel says, and since the last came in."""
    if sock is None or not _HAS_KERNEL_CLOCK:
        return None, 0.0
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SINCE_LAST_DATA_AT + _SINCE_LAST_DATA.size)
        sent, received = _SINCE_LAST_DATA.unpack_from(info, _SINCE_LAST_DATA_AT)
    except (OSError, struct.error):  # closed already
        return None, 0.0
    return sent / 1000, received / 1000


async def _fail_once(_session: object, _context: object, params: aiohttp.TraceRequestExceptionParams) -> None:
    # litellm asks again, over a connection that is not ours, where it sees that one could not be made or broke; so that
    # nothing is asked and paid for twice in silence, it sees another error.
    if isinstance(params.exception, aiohttp.ClientConnectionError):
        raise aiohttp.ClientPayloadError(str(params.exception)) from params.exception


def _make_session(traces: list[aiohttp.TraceConfig]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),  # how many at a time is for the runner to say
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),  # how long is for the client to say
        request_class=_TimedRequest,
        response_class=_TimedResponse,
        trace_configs=traces,
    )


class TimedConnections:
    """The connections of one event loop, shared by all models that are asked there over one transport.

    Args:
        for_litellm: Whether litellm asks over them. For others aiohttp is spared what litellm needs, which costs as
            much as a commit.

    Attributes:
        session: Open until the last of them lets go.
        when_closed: Called then, each once.
    """

    def __init__(self, *, for_litellm: bool) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_request_exception.append(_fail_once)
        self.session = _make_session([trace] if for_litellm else [])
        self.when_closed: set[Callable[[], Awaitable[None]]] = set()
        self._loop = asyncio.get_running_loop()
        self._users = 0

    @property
    def is_open_here(self) -> bool:
        """Whether it can be used on the running loop."""
        return self._loop is asyncio.get_running_loop() and not self.session.closed

    @classmethod
    def take(cls, *, for_litellm: bool = False) -> TimedConnections:
        """Those of the running loop; each taking is to be let go of."""
        known = _CONNECTIONS.setdefault(asyncio.get_running_loop(), {})
        connections = known.get(for_litellm)
        if connections is None or connections.session.closed:
            connections = known[for_litellm] = cls(for_litellm=for_litellm)
        connections._users += 1
        return connections

    async def release(self) -> None:
        """Close the connections if nobody else is using them."""
        self._users -= 1
        if self._users > 0:
            return
        await self.session.close()
        for close in self.when_closed:
            await close()
        await asyncio.sleep(0)  # sockets are closed in the next step of the loop, which may be the last one otherwise


_CONNECTIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, TimedConnections]] = WeakKeyDictionary()
