"""How a server is reached: a process, streamable HTTP or SSE."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

from toolbelt.mcp.configs.secrets import HIDDEN
from toolbelt.mcp.configs.servers import changes_what_runs
from toolbelt.mcp.upstreams.logins import LoginStore
from toolbelt.mcp.upstreams.mending import mend_response
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.processes import ProcessLimits, ServerProcess
from toolbelt.providers.known_keys import secret_forms
from toolbelt.servers.spec import Transport

_MESSAGE_BYTES = ProcessLimits.message_bytes
"""The longest message over HTTP, as of a process; the SDK's own limit is 1 MiB."""
_SHORTEST_SECRET = 8
"""Characters: `true`, `info` and the like occur in other words, too."""
_SILENCE_SECONDS = 86_400.0
"""Some servers are silent while there is nothing to do; the SDK would leave them after five minutes."""


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


def make_mask(server: Startable) -> Callable[[str], str]:
    """Takes values of variables, headers and the address out of a text, which a server may repeat (rule M1)."""
    values = [*server.env.items(), *server.headers.items()]
    parts = {part for name, value in values if not changes_what_runs(name) for part in (value, *value.split())}
    with contextlib.suppress(ValueError):  # no address, of which its transport complains
        address = urlsplit(server.url)
        login = f"{address.username}:{address.password}" if address.password else address.username or ""
        parts |= {value for _, value in parse_qsl(address.query)} | {address.password or "", login}
    forms = {form for part in parts if len(part) >= _SHORTEST_SECRET for form in secret_forms(part)}
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))
    return lambda text: pattern.sub(HIDDEN, text) if forms else text


class ServerTransport:
    """One connection to a server, below the protocol.

    Args:
        server: With resolved values.
        log: Receives one line at a time, which names the server.
        orphans: Ends the server if this process is killed.

    Attributes:
        needs_login: Whether the server asked for an OAuth login that we do not have, and has answered nothing since.
    """

    def __init__(self, server: Startable, log: Callable[[str], None], orphans: OrphanWatch | None = None) -> None:
        self.needs_login = False
        self._server = server
        mask = make_mask(server)
        self._log: Callable[[str], None] = lambda line: log(mask(line))
        self._orphans = orphans
        self._process: ServerProcess | None = None

    @property
    def pid(self) -> int | None:
        """Of its process; `None` without one."""
        return None if self._process is None else self._process.pid

    @property
    def login_hint(self) -> str:
        """What to do where the server asks for a login that we do not have; empty where it does not."""
        return f"needs a login: toolbelt mcp login {self._server.name}" if self.needs_login else ""

    def terminate(self) -> None:
        """Do not wait until a process ends by itself."""
        if self._process is not None:
            self._process.terminate()

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
        else:
            async with self._connect_http() as pair:
                yield pair

    @contextlib.asynccontextmanager
    async def _connect_http(self) -> AsyncIterator[tuple[Any, Any]]:
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        from toolbelt.mcp.upstreams.login import StoredLogin

        async def look_at(response: httpx2.Response) -> None:
            mend_response(response, _MESSAGE_BYTES)
            challenge = response.headers.get("www-authenticate", "")
            is_challenged = response.status_code == 401 and challenge.casefold().startswith("bearer")
            self.needs_login = (is_challenged and not has_own) or (self.needs_login and not response.is_success)

        server = self._server
        has_own = "authorization" in {name.casefold() for name in server.headers}
        login = None if has_own else StoredLogin(server.url, LoginStore(os.environ))
        if server.transport is Transport.SSE:

            def make_client(
                headers: dict[str, str] | None = None,
                timeout: httpx2.Timeout | None = None,
                auth: httpx2.Auth | None = None,
            ) -> httpx2.AsyncClient:
                hooks = {"response": [look_at]}
                return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks=hooks)

            async with sse_client(
                server.url,
                headers={**server.headers},
                auth=login,
                httpx_client_factory=make_client,
                sse_read_timeout=_SILENCE_SECONDS,
            ) as streams:
                yield streams
            return
        client = httpx2.AsyncClient(
            headers={**server.headers},
            timeout=httpx2.Timeout(30.0, read=None),
            auth=login,
            event_hooks={"response": [look_at]},
        )
        size = _MESSAGE_BYTES
        async with client, streamable_http_client(server.url, http_client=client, max_sse_event_size=size) as streams:
            yield streams
