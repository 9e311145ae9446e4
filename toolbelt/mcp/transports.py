"""How a server is reached: a process, streamable HTTP or SSE."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

from toolbelt.mcp.orphans import OrphanWatch
from toolbelt.mcp.processes import ProcessLimits, ServerProcess
from toolbelt.servers.spec import Transport

_MESSAGE_BYTES = ProcessLimits.message_bytes
"""The longest message over HTTP, as of a process; the SDK's own limit is 1 MiB."""
_SILENCE_SECONDS = 86_400.0


class Startable(Protocol):
    """What is needed of a server to start it, with every variable resolved and `cwd` absolute.

    A `ResolvedServer` is one, and so is a `ServerSpec` without variables.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def transport(self) -> Transport: ...  # noqa: D102
    @property
    def command(self) -> str: ...  # noqa: D102
    @property
    def args(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def cwd(self) -> str: ...  # noqa: D102
    @property
    def env(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def url(self) -> str: ...  # noqa: D102
    @property
    def headers(self) -> Mapping[str, str]: ...  # noqa: D102


class ServerTransport:
    """One connection to a server, below the protocol.

    Args:
        server: With resolved values.
        log: Receives one line at a time, which names the server.
        orphans: Ends the server if this process is killed.
    """

    def __init__(self, server: Startable, log: Callable[[str], None], orphans: OrphanWatch | None = None) -> None:
        self._server = server
        self._log = log
        self._orphans = orphans
        self._process: ServerProcess | None = None

    def hurry(self) -> None:
        """Do not wait until a process ends by itself."""
        if self._process is not None:
            self._process.hurry()

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[Any, Any]]:
        """Streams of messages from and to the server; on leaving, nothing of it remains."""
        server = self._server
        if server.transport is Transport.STDIO and sys.platform == "win32":
            parameters = StdioServerParameters(
                command=server.command, args=[*server.args], env={**server.env}, cwd=server.cwd or None
            )
            async with stdio_client(parameters) as streams:
                yield streams
        elif server.transport is Transport.STDIO:
            self._process = ServerProcess(
                [server.command, *server.args],
                environment={**get_default_environment(), **server.env},
                folder=server.cwd,
                log=lambda line: self._log(f"{server.name}: {line}"),
                orphans=self._orphans,
            )
            async with self._process.connect() as pair:
                yield pair
        elif server.transport is Transport.SSE:
            from mcp.client.sse import sse_client

            # Some servers are silent while there is nothing to do; the SDK would leave them after five minutes.
            headers = {**server.headers}
            async with sse_client(server.url, headers=headers, sse_read_timeout=_SILENCE_SECONDS) as streams:
                yield streams
        else:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            timeout = httpx2.Timeout(30.0, read=None)
            async with (
                httpx2.AsyncClient(headers={**server.headers}, timeout=timeout) as client,
                streamable_http_client(server.url, http_client=client, max_sse_event_size=_MESSAGE_BYTES) as streams,
            ):
                yield streams
