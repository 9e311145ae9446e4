"""Serves clients over streamable HTTP, until a signal arrives."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable

from toolbelt.mcp.gateway.gateway import Gateway
from toolbelt.mcp.serving.http import find_state, serve_http
from toolbelt.mcp.serving.http_access import HttpRules, Tokens
from toolbelt.mcp.serving.signals import stopping_at_signals
from toolbelt.mcp.serving.stdio import quiet_sdk
from toolbelt.mcp.serving.web_server import HttpLimits


def serve_over_http(
    gateway: Gateway,
    rules: HttpRules,
    tokens: Tokens | None,
    *,
    started: Callable[[str], None],
    idle_seconds: float,
) -> int:
    """Serve all that the rules let in.

    Args:
        gateway: What is served.
        rules: Already checked.
        tokens: `None` to let everybody in.
        started: Receives the URL.
        idle_seconds: Without a request, after which a client has gone; 0 for never.

    Returns:
        130 after an interrupt, 143 after a request to terminate.

    Raises:
        ToolbeltError: as `serve_http`.
    """
    quiet_sdk()
    limits = HttpLimits(idle_seconds=idle_seconds or math.inf)
    return asyncio.run(_serve(gateway, rules, tokens, started, limits))


async def _serve(
    gateway: Gateway, rules: HttpRules, tokens: Tokens | None, started: Callable[[str], None], limits: HttpLimits
) -> int:
    stop = asyncio.Event()
    server = gateway.make_server(find_state)
    serving = asyncio.create_task(
        serve_http(
            server, gateway.open_client, rules, tokens, stop=stop, started=started, log=gateway.log, limits=limits
        )
    )

    def end() -> None:
        if stop.is_set():  # the second signal: who sent it does not want to wait for calls
            serving.cancel()
        stop.set()

    try:
        with stopping_at_signals(end) as signals, contextlib.suppress(asyncio.CancelledError):
            await serving
    finally:
        await gateway.close()
    return 128 + signals[0] if signals else 0
