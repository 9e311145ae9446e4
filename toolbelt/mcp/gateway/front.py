"""The client's side of a gateway: requests and notifications to it, as they are.

The SDK's `ServerSession` takes typed requests alone; these types hold plain dicts, so that nothing is lost on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
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


@dataclass
class _Notice:
    context: Context
    method: str
    params: dict[str, Any]
    related: bool


class Notices:
    """Notifications to one client, sent in order by one task.

    Args:
        log: Receives what could not be sent.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._queue: asyncio.Queue[_Notice | asyncio.Future[None]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._unsent = 0
        self._log = log

    def put(self, context: Context, method: str, params: Mapping[str, Any], *, related: bool) -> None:
        """Send a notification soon; `related` as for `ask_client`."""
        if self._task is None:
            self._task = asyncio.create_task(self._send_all(), name="notices")
        self._unsent += 1
        self._queue.put_nowait(_Notice(context, method, dict(params), related))

    async def flush(self) -> None:
        """Wait until everything put so far is sent, so that an answer does not arrive before its progress."""
        if self._unsent:
            sent = asyncio.get_running_loop().create_future()
            self._queue.put_nowait(sent)
            await sent

    async def close(self) -> None:
        """Send no more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _send_all(self) -> None:
        while True:
            item = await self._queue.get()
            if isinstance(item, asyncio.Future):
                if not item.done():
                    item.set_result(None)
                continue
            message = cast(Any, _RawMessage(method=item.method, params=item.params))
            related = item.context.request_id if item.related else None
            try:
                await item.context.session.send_notification(message, related)
            except Exception as error:  # noqa: BLE001  a client that cannot be notified can still be answered
                self._log(f"{item.method} could not be sent to the client: {error}")
            finally:
                self._unsent -= 1
