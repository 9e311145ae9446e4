"""Serves one client over standard input and output, until it leaves or a signal arrives."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from toolbelt.mcp.gateway.gateway import Gateway
from toolbelt.mcp.serving.line_streams import open_protocol_streams
from toolbelt.mcp.serving.signals import stopping_at_signals
from toolbelt.mcp.serving.standard_streams import ProtocolStreams

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
                await client.close(hurry=bool(signals))
                await gateway.close(hurry=bool(signals))
    return 128 + signals[0] if signals else 0
