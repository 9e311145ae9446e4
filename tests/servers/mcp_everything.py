"""An MCP server that does everything a gateway has to relay, and everything that it has to survive.

`python -m tests.servers.mcp_everything` serves over standard input and output; `--transport http` or `sse` prints the
port and serves on 127.0.0.1 until standard input ends. `tests.servers.mcp_running` starts it for a test.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION, ErrorData, JSONRPCError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.servers import everything_definitions as definitions
from tests.servers.everything_server import Handlers, make_server
from tests.servers.everything_state import State

CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)


class _WithoutHandshake:
    """Messages but for `initialize`, which is refused here: as the first, it would fix the era for the SDK."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read, self._write = read, write

    def __aiter__(self) -> _WithoutHandshake:
        return self

    async def __anext__(self) -> Any:
        async for item in self._read:
            message: Any = getattr(item, "message", None)
            if getattr(message, "method", "") != "initialize":
                return item
            data = {"supported": [*MODERN_PROTOCOL_VERSIONS], "requested": "2025-11-25"}
            error = ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message="Unsupported protocol version", data=data)
            await self._write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        raise StopAsyncIteration

    async def aclose(self) -> None:
        await self._read.aclose()


async def _serve_stdio(server: Server[Any], era: str) -> None:
    async with stdio_server() as (read, write):
        options = server.create_initialization_options(CHANGES)
        received: Any = _WithoutHandshake(read, write) if era == "2026" else read
        if era == "2025":
            # Otherwise the first request, with which a client finds out the era, would fix it.
            async with server.lifespan(server) as lifespan:
                await serve_loop(server, received, write, lifespan_state=lifespan, init_options=options)
        else:
            await server.run(received, write, options)


def _sse_app(server: Server[Any]) -> Starlette:
    transport = SseServerTransport("/messages/")

    async def connect(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, server.create_initialization_options(CHANGES))
        return Response()

    return Starlette(routes=[Route("/sse", connect), Mount("/messages/", app=transport.handle_post_message)])


def _demand_token(app: ASGIApp, token: str) -> ASGIApp:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {token}".encode():
            challenge = {"WWW-Authenticate": 'Bearer resource_metadata="http://127.0.0.1/.well-known/none"'}
            await Response("Unauthorized", 401, challenge)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guarded


async def _serve_http(app: ASGIApp) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        print(listener.getsockname()[1], flush=True)  # noqa: T201 - how a test learns it
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve(sockets=[listener])


def _end_with_standard_input() -> None:
    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio")
    parser.add_argument("--era", choices=("both", "2025", "2026", "none"), default="both")
    parser.add_argument("--page", type=int, default=10, help="how many tools, resources, prompts a page lists")
    parser.add_argument("--extra", type=int, default=0, help="how many plain tools to add")
    parser.add_argument("--only", nargs="*", help="list these tools only")
    parser.add_argument("--patch", type=json.loads, default={}, help="JSON: changed fields by tool name, null removes")
    parser.add_argument("--journal", type=Path, help="file for events: started, called, cancelled, destroyed, …")
    parser.add_argument("--token", help="over HTTP and SSE: answer 401 without this bearer token")
    parser.add_argument("--start-delay", type=float, default=0.0, help="seconds to wait before serving")
    parser.add_argument("--start", choices=("hang", "exit", "rubbish", "flood"), help="misbehave before serving")
    return parser.parse_args(arguments)


def _misbehave(how: str | None) -> None:
    if how == "hang":
        time.sleep(3600)
    elif how == "exit":
        sys.exit("everything: cannot start – no key")
    elif how == "rubbish":
        print("Welcome! This is {no JSON", flush=True)  # noqa: T201 - as some servers do
    elif how == "flood":
        sys.stderr.write("flood\n" * 1_000_000)


def main() -> None:
    """Serve until the client or standard input ends."""
    options = parse_arguments()
    tools = (*definitions.TOOLS, *definitions.add_tools(options.extra))
    if options.only is not None:
        tools = tuple(tool for tool in tools if tool["name"] in options.only)
    state = State(tools, options.patch, options.journal)
    state.write("started", arguments=sys.argv[1:])
    time.sleep(options.start_delay)
    _misbehave(options.start)
    server = make_server(Handlers(state, options.page, options.era))
    if options.transport == "stdio":
        anyio.run(_serve_stdio, server, options.era)
    else:
        _end_with_standard_input()
        app: ASGIApp = _sse_app(server) if options.transport == "sse" else server.streamable_http_app()
        anyio.run(_serve_http, _demand_token(app, options.token) if options.token else app)
    state.write("ended")


if __name__ == "__main__":
    main()
