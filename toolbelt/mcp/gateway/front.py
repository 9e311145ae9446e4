"""The client's side of a gateway: requests and notifications to it, as they are.

The SDK's `ServerSession` takes typed requests alone; these types hold plain dicts, so that nothing is lost on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, RootModel

Context = ServerRequestContext[Any, Any]


class _RawMessage(BaseModel):
    method: str
    params: dict[str, Any] | None = None


class _RawResult(RootModel[dict[str, Any]]):
    pass


def is_modern(version: str) -> bool:
    """Whether this version of the protocol has no way for a server to send a request."""
    return version in MODERN_PROTOCOL_VERSIONS


async def ask_client(context: Context, method: str, params: Mapping[str, Any], *, related: bool) -> dict[str, Any]:
    """Send a request to the client, and give its answer as it is.

    Args:
        context: Of a request of that client.
        method: Such as `elicitation/create`.
        params: As the server sent them.
        related: Whether it belongs to the request of `context`, which is still under way.

    Raises:
        MCPError: the client refused, or cannot be asked.
    """
    metadata = ServerMessageMetadata(related_request_id=context.request_id) if related else None
    message = cast(Any, _RawMessage(method=method, params=dict(params)))
    answer = await context.session.send_request(message, _RawResult, metadata=metadata)
    return answer.root


MAX_NOTICES = 1_000
"""Notifications of one server that wait for a client that does not read; of more, the oldest are dropped."""
MAX_NOTICE_BYTES = 4 << 20
"""And their size, as JSON."""
_LOG = "notifications/message"


@dataclass
class _Notice:
    context: Context
    method: str
    params: dict[str, Any]
    related: bool
    size: int


class Notices:
    """Notifications to one client: of each server in order, by one task, so that no server waits for another.

    Args:
        log: Receives what could not be sent.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._queues: dict[str, _Queue] = {}

    def put(self, context: Context, server: str, method: str, params: Mapping[str, Any], *, related: bool) -> None:
        """Send a notification of a server soon; `related` as for `ask_client`."""
        if server not in self._queues:
            self._queues[server] = _Queue(server, self._log)
        size = len(json.dumps(params, default=str))
        self._queues[server].put(_Notice(context, method, dict(params), related, size))

    async def flush(self, server: str) -> None:
        """Wait until what a server has put so far is sent, so that an answer does not arrive before its progress."""
        if server in self._queues:
            await self._queues[server].flush()

    async def close(self) -> None:
        """Send no more."""
        for queue in self._queues.values():
            await queue.close()


class _Queue:
    """Notifications of one server to one client, and whoever waits until those before are sent."""

    def __init__(self, server: str, log: Callable[[str], None]) -> None:
        self._name = server or "the gateway"
        self._log = log
        self._waiting: deque[_Notice | asyncio.Future[None]] = deque()
        self._bytes = self._unsent = self._dropped = 0
        self._has_more = asyncio.Event()
        self._task = asyncio.create_task(self._send_all(), name=f"notices of {self._name}")

    def put(self, notice: _Notice) -> None:
        self._waiting.append(notice)
        self._bytes += notice.size
        self._unsent += 1
        while self._unsent > MAX_NOTICES or (self._bytes > MAX_NOTICE_BYTES and self._unsent > 1):
            self._drop_oldest()
        self._has_more.set()

    def _drop_oldest(self) -> None:
        """Of the log messages, if there are any: others may matter to the client's program."""
        oldest: tuple[int, _Notice] | None = None
        for place, item in enumerate(self._waiting):
            if isinstance(item, _Notice):
                oldest = (place, item) if oldest is None or item.method == _LOG else oldest
                if item.method == _LOG:
                    break
        assert oldest is not None  # noqa: S101  what is being sent is one of them at most
        del self._waiting[oldest[0]]
        self._count(oldest[1])
        self._dropped += 1

    def _count(self, notice: _Notice) -> None:
        self._bytes -= notice.size
        self._unsent -= 1

    async def flush(self) -> None:
        if self._unsent:
            self._waiting.append(sent := asyncio.get_running_loop().create_future())
            self._has_more.set()
            await sent

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._report()

    async def _send_all(self) -> None:
        while True:
            await self._has_more.wait()
            while self._waiting:
                item = self._waiting.popleft()
                if isinstance(item, _Notice):
                    await self._send(item)
                elif not item.done():
                    item.set_result(None)
            self._report()
            self._has_more.clear()

    async def _send(self, notice: _Notice) -> None:
        message = cast(Any, _RawMessage(method=notice.method, params=notice.params))
        related = notice.context.request_id if notice.related else None
        try:
            await notice.context.session.send_notification(message, related)
        except Exception as error:  # noqa: BLE001  a client that cannot be notified can still be answered
            self._log(f"{notice.method} could not be sent to the client: {error}")
        finally:
            self._count(notice)

    def _report(self) -> None:
        if self._dropped:
            what = f"{self._dropped:,} notifications were dropped, since the client did not read them in time"
            self._log(f"{self._name}: {what}")
            self._dropped = 0
