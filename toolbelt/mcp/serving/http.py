"""A server over streamable HTTP (rule M8): who is let in, limits, and the end.

`serve_http` runs a low-level `Server` of the SDK, in both eras of the protocol. Who may ask is decided before the SDK
sees a request: by `Host` and `Origin`, then by the token; nothing is read of the body of anybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any, Generic

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp.types import INVALID_REQUEST
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from toolbelt.mcp.logs.limited_log import LimitedLog
from toolbelt.mcp.serving.access_check import AccessCheck
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules, Tokens
from toolbelt.mcp.serving.http_clients import HttpClient, HttpClients, State
from toolbelt.mcp.serving.web_server import HttpLimits, WebServer, configure, listen
from toolbelt.text import visible

PATH = "/mcp"
_CLIENT_KEY = "toolbelt.client"
_LISTEN = "subscriptions/listen"


def find_state(context: ServerRequestContext[Any, Any]) -> Any:
    """What is kept for the client of a request that came over HTTP."""
    client: HttpClient[Any] = context.request.scope[_CLIENT_KEY]  # type: ignore[union-attr]
    return client.state


async def serve_http(
    server: Server[Any],
    open_state: Callable[[], State],
    rules: HttpRules,
    tokens: Tokens | None,
    *,
    stop: asyncio.Event,
    started: Callable[[str], None],
    log: Callable[[str], None],
    limits: HttpLimits | None,
) -> None:
    """Serve until `stop` is set; then calls under way have `drain_seconds`.

    Args:
        server: Its handlers get what is kept for their client from `find_state`.
        open_state: Makes that; it is closed when the client has gone.
        rules: Already checked.
        tokens: `None` to let everybody in.
        stop: Ends it.
        started: Receives the URL when the listener is there.
        log: Receives one line at a time.
        limits: See `HttpLimits`.

    Raises:
        ToolbeltError: the address is in use or not one of this machine, or the certificate is none.
    """
    limits = limits or HttpLimits()
    listener = listen(rules.address)
    with contextlib.closing(listener):
        port = listener.getsockname()[1]
        manager = StreamableHTTPSessionManager(
            server, session_idle_timeout=None, max_request_body_size=limits.body_bytes, max_sessions=limits.sessions
        )
        app = HttpApp(manager, open_state, rules, tokens, port, limits, log)
        web_server = WebServer(configure(app, rules, limits))
        async with manager.run():
            serving = asyncio.create_task(web_server.serve(sockets=[listener]))
            idle_watch = asyncio.create_task(app.clients.close_idle())
            stopping = asyncio.create_task(stop.wait())
            try:
                started(f"{rules.scheme}://{HttpAddress(rules.address.host, port)}{PATH}")
                await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                await app.drain()
            finally:
                idle_watch.cancel()
                stopping.cancel()
                await app.clients.close()
                web_server.should_exit = True
                await serving


class HttpApp(Generic[State]):
    """An ASGI application around the SDK's session manager.

    Args:
        manager: Running.
        open_state: Makes what is kept for a client.
        rules: Of the listener.
        tokens: `None` to let everybody in.
        port: Of the listener.
        limits: What clients may use.
        log: Receives one line at a time.

    Attributes:
        clients: Those that are there.
    """

    def __init__(
        self,
        manager: StreamableHTTPSessionManager,
        open_state: Callable[[], State],
        rules: HttpRules,
        tokens: Tokens | None,
        port: int,
        limits: HttpLimits,
        log: Callable[[str], None],
    ) -> None:
        self.clients: HttpClients[State] = HttpClients(open_state, self._end_session, limits.idle_seconds)
        self._manager = manager
        self._limits = limits
        self._log = LimitedLog(log)
        self._access = AccessCheck(rules, tokens, port, self._log.add, host_hint="; --allow-host lets it in")
        self._is_closing = False
        self._calls = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()

    async def drain(self) -> None:
        """Take no further clients, and wait for calls under way, for `drain_seconds` at most; streams do not count.

        Clients that are there may still ask: an answer to a question of a call under way is a request, too.
        """
        self._is_closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.drain_seconds):
                await self._is_quiet.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        owner = self._access.find_owner(headers)
        if owner:
            # To which the SDK binds sessions and the state of requests.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        # A stream of notifications lasts as long as its client; nobody waits for it.
        is_call = scope["method"] == "POST" and headers.get(MCP_METHOD_HEADER) != _LISTEN
        self._count(is_call)
        response = _Watched(send)
        try:
            await self._serve(scope, headers, owner, _InTime(receive, self._limits.body_seconds), response)
        except _TooSlowError:
            if not response.status:
                await Response("The body took too long.", 408, {"Connection": "close"})(scope, receive, response)
        except Exception as error:  # noqa: BLE001  one request must not end the others
            self._log.add(f"a request failed: {type(error).__name__}: {visible(str(error))[:500]}")
            if not response.status:
                await Response("The request failed.", 500)(scope, receive, response)
        finally:
            self._count(-is_call)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        """What is answered to who may not ask, or asks for what is not here."""
        if (refusal := self._access.refuse(headers)) is not None:
            return refusal
        if scope["path"] != PATH:
            return Response(f"The path is {PATH}.", 404)
        return None

    def _count(self, change: int) -> None:
        self._calls += change
        if self._calls:
            self._is_quiet.clear()
        else:
            self._is_quiet.set()

    async def _serve(self, scope: Scope, headers: Headers, owner: str, receive: _InTime, send: _Watched) -> None:
        session, version = headers.get(MCP_SESSION_ID_HEADER), headers.get(MCP_PROTOCOL_VERSION_HEADER)
        has_sessions = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        if has_sessions and session is not None:
            client = self.clients.find_session(session, owner)
        elif self._is_closing and (has_sessions or not self.clients.has_token(owner)):
            await Response("The gateway is ending.", 503, {"Connection": "close"})(scope, receive, send)
            return
        else:
            client = self.clients.open_session(owner) if has_sessions else self.clients.get_by_token(owner)
        if client is None:
            error = {"code": INVALID_REQUEST, "message": "Session not found"}
            body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
            await Response(body, 404, media_type="application/json")(scope, receive, send)
            return
        async with self.clients.request(client):
            scope[_CLIENT_KEY] = client

            async def begin(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] < 400:
                    own = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                    if session is None and own is not None:
                        self.clients.keep(client, own)
                await send(message)

            await self._manager.asgi_app(scope, receive, begin)
        if scope["method"] == "DELETE" and send.status < 400:
            await self.clients.forget(client)

    async def _end_session(self, owner: str, session: str) -> None:
        """End a session as its client would."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
        }
        scope["headers"] = [(MCP_SESSION_ID_HEADER.encode(), session.encode())]
        if owner:
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            pass

        await self._manager.asgi_app(scope, receive, send)


class _TooSlowError(Exception):
    """A request's body did not come in time."""


class _InTime:
    """Receives a request's body until a deadline, and what follows it for ever."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self._receive = receive
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_complete = False

    async def __call__(self) -> Message:
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise _TooSlowError from None
        self._is_complete = not message.get("more_body", False)
        return message


class _Watched:
    """Sends, and remembers the status; 0 before it is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
