"""uvicorn, with the limits that it lacks."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolbelt.errors import ToolbeltError
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules


@dataclass(frozen=True)
class HttpLimits:
    """What clients may use.

    Attributes:
        body_bytes: Of a request.
        body_seconds: Until a request's body is complete.
        header_seconds: Until a request's headers are complete.
        connections: Open at once; beyond, a request is answered 503.
        sessions: Open at once; each may start every server.
        idle_seconds: Without a request, after which a client has gone.
        drain_seconds: For calls under way, at the end.
    """

    body_bytes: int = 16 << 20
    body_seconds: float = 30.0
    header_seconds: float = 10.0
    connections: int = 1000
    sessions: int = 200
    idle_seconds: float = 600.0
    drain_seconds: float = 5.0


class WebServer(uvicorn.Server):
    """Leaves signals to the gateway, which ends its servers, too."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing."""
        yield


class _TimeLimitedProtocol(H11Protocol):
    """Closes a connection whose headers do not come in time, of which uvicorn waits for ever."""

    header_seconds = HttpLimits.header_seconds
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _give_up(self) -> None:
        self._header_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def configure(app: Any, rules: HttpRules, limits: HttpLimits) -> uvicorn.Config:
    """The web server of an ASGI application.

    Raises:
        ToolbeltError: the certificate or its key cannot be used.
    """
    protocol = type("_Protocol", (_TimeLimitedProtocol,), {"header_seconds": limits.header_seconds})
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=1,
        limit_concurrency=limits.connections,
        ssl_certfile=rules.tls_certificate or None,
        ssl_keyfile=rules.tls_key or None,
    )
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise ToolbeltError(f"The certificate and its key cannot be used: {reason}.") from None
    return config


def listen(address: HttpAddress) -> socket.socket:
    """A socket that takes connections.

    Raises:
        ToolbeltError: the address is in use, or not one of this machine.
    """
    try:
        addresses = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # `localhost` is both; clients of old protocols try the one of IPv4 first.
        family, kind, protocol, _, place = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
        try:
            if socket.has_ipv6 and family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(256)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise ToolbeltError(f"Cannot listen on {address}: {error.strerror or error}.") from None
    return listener
