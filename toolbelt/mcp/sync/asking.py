"""Asking servers for their tools: in parallel, with a time limit each, so that none delays another (rule M4)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from mcp.shared.exceptions import MCPError

from toolbelt.errors import ToolbeltError
from toolbelt.mcp.configs.variables import AskInput, resolve
from toolbelt.mcp.sync.sync import Listing, ServerStatus
from toolbelt.mcp.upstreams.transports import Startable, make_mask
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamLimits, UpstreamStatus
from toolbelt.servers.spec import ServerSpec

AT_ONCE = 8
"""Servers that are started at the same time."""
_LOG_LINES = 5
_CLOSE_SECONDS = 6.0


def ask_servers(
    specs: Sequence[ServerSpec],
    environment: Mapping[str, str],
    *,
    timeout_seconds: float,
    ask_input: AskInput | None = None,
    answered: Callable[[Listing], None] = lambda _: None,
) -> tuple[Listing, ...]:
    """The tools of servers. Each is started, asked for every page, and ended.

    Args:
        specs: Approved ones.
        environment: Where variables are looked up.
        timeout_seconds: For each server, from its start to the last page.
        ask_input: Answers `${input:ID}`, before any server is started.
        answered: Receives each answer when it is there.

    Returns:
        An answer for each server, in their order.
    """
    resolved: list[Startable | Listing] = []
    for spec in specs:
        try:
            resolved.append(resolve(spec, environment, ask_input))
        except ToolbeltError as error:
            resolved.append(Listing(spec.name, ServerStatus.FAILED, error=str(error)))
    return asyncio.run(_ask_all(resolved, timeout_seconds, answered))


async def _ask_all(
    servers: Sequence[Startable | Listing], timeout_seconds: float, answered: Callable[[Listing], None]
) -> tuple[Listing, ...]:
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(server: Startable | Listing) -> Listing:
        if isinstance(server, Listing):
            listing = server
        else:
            async with places:
                listing = await _ask(server, timeout_seconds)
        answered(listing)
        return listing

    return tuple(await asyncio.gather(*map(ask, servers)))


async def _ask(server: Startable, timeout_seconds: float) -> Listing:
    started = time.monotonic()
    lines: deque[str] = deque(maxlen=_LOG_LINES)
    limits = UpstreamLimits(start=timeout_seconds, list=timeout_seconds, close=_CLOSE_SECONDS)
    upstream = Upstream(server, limits=limits, log=lines.append)
    status = ServerStatus.FAILED
    try:
        async with asyncio.timeout(timeout_seconds):
            tools = await upstream.list_tools()
            session = upstream.session
            return Listing(
                server.name,
                ServerStatus.OK,
                tuple(tools),
                version=session.server_info.version if session.server_info else "",
                protocol=session.protocol_version or "",
                notes=upstream.notes,
                seconds=time.monotonic() - started,
            )
    except TimeoutError:
        error = f"did not answer within {timeout_seconds:g} s"
    except MCPError as problem:
        error = make_mask(server)(f"answered with an error: {problem}")
    except ToolbeltError as problem:
        error = str(problem).removeprefix(f"server {server.name!r} ")
        if upstream.status is UpstreamStatus.NEEDS_LOGIN:
            status = ServerStatus.NEEDS_LOGIN
    finally:
        await upstream.close(force=True)
    prefix = f"{server.name}: "
    log = tuple(text for line in lines if (text := line.removeprefix(prefix)) != error)
    return Listing(server.name, status, error=error, log=log, seconds=time.monotonic() - started)
