"""Serves one client over standard input and output, until it leaves or a signal arrives.

Messages are a line each, read and written where they are needed. The SDK's `stdio_server` reads and writes in threads
and hands messages on between tasks; each step costs a call a third of a millisecond. Files and consoles, which no event
loop can wait for, are left to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import stat
import sys
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import jsonrpc_message_adapter

from toolbelt.mcp.gateway.gateway import Gateway
from toolbelt.mcp.serving.signals import stopping_at_signals
from toolbelt.mcp.serving.standard_streams import ProtocolStreams
from toolbelt.mcp.upstreams.mending import mend

MAX_LINE_BYTES = 64 << 20
"""The longest message that a client may send."""
CLOSE_SECONDS = 8.0
"""Until the gateway leaves behind what does not end."""


def serve_stdio(gateway: Gateway, streams: ProtocolStreams) -> int:
    """Serve the client that started this process.

    Returns:
        0 once the client has left, 130 after an interrupt, 143 after a request to terminate.
    """
    quiet_sdk()
    return asyncio.run(_serve(gateway, streams))


def quiet_sdk() -> None:
    """Keep the SDK from logging foreign input with tracebacks; the gateway logs what matters of it."""
    for name in ("mcp", "client", "uvicorn", "httpx2"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


async def _serve(gateway: Gateway, streams: ProtocolStreams) -> int:
    client = gateway.open_client()
    server = gateway.make_server(lambda _: client)
    async with open_protocol_streams(streams) as (read_stream, write_stream):
        serving = asyncio.create_task(server.run(read_stream, write_stream, server.create_initialization_options()))
        with stopping_at_signals(serving.cancel) as signals:
            with contextlib.suppress(asyncio.CancelledError):
                await serving
            async with asyncio.timeout(CLOSE_SECONDS):
                await client.close(force=bool(signals))
                await gateway.close(force=bool(signals))
    return 128 + signals[0] if signals else 0


class _Stream:
    async def aclose(self) -> None:
        """Nothing: the descriptors are closed when the process ends."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


class LineReader(_Stream):
    """Messages that arrive; what is none arrives as an exception, as with the SDK's transports."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                raise StopAsyncIteration from None
            except (asyncio.LimitOverrunError, OSError):
                raise StopAsyncIteration from None  # a client that sends without end
            if line.strip():
                return _parse(line)

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: there is none.
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class LineWriter(_Stream):
    """Messages that are sent."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage) -> None:
        """Write a message; waits if the client does not read.

        Raises:
            anyio.BrokenResourceError: the client is gone.
        """
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            self._writer.write(text.encode() + b"\n")
            await self._writer.drain()
        except OSError:
            raise anyio.BrokenResourceError from None


@contextlib.asynccontextmanager
async def open_protocol_streams(streams: ProtocolStreams) -> AsyncIterator[tuple[Any, Any]]:
    """A pair of streams for the SDK over the descriptors of the protocol."""
    if sys.platform == "win32" or not all(_is_pipe(descriptor) for descriptor in (streams.received, streams.sent)):
        read = anyio.wrap_file(io.TextIOWrapper(os.fdopen(streams.received, "rb"), encoding="utf-8", errors="replace"))
        write = anyio.wrap_file(io.TextIOWrapper(os.fdopen(streams.sent, "wb"), encoding="utf-8"))
        async with stdio_server(read, write) as pair:
            yield pair
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    incoming, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(streams.received, "rb", buffering=0)
    )
    outgoing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(streams.sent, "wb", buffering=0)
    )
    try:
        yield LineReader(reader), LineWriter(asyncio.StreamWriter(outgoing, protocol, None, loop))
    finally:
        incoming.close()
        outgoing.close()


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        mended = mend(line)
        return error if mended is None else SessionMessage(jsonrpc_message_adapter.validate_python(mended))
