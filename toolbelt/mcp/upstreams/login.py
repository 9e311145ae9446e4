"""OAuth at servers over HTTP: the login itself, by the SDK's client, and requests with what it gave (rule M8)."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from toolbelt import __version__
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.upstreams.logins import Login, LoginStore, canonical_url

CALLBACK_PATH = "/callback"
_EXPIRY_MARGIN_SECONDS = 30
_PAGE = "<!doctype html><meta charset=utf-8><title>toolbelt</title><p>{}</p>"
_LONGEST_REQUEST = 1 << 14
_INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "toolbelt", "version": __version__},
    },
}
_ACCEPT = {"Accept": "application/json, text/event-stream"}


class LoginError(ToolbeltError):
    """A login that did not come about."""

    exit_code: ClassVar[int] = 3


@dataclass(frozen=True)
class LoginSettings:
    """How to log in.

    Attributes:
        client_id: Of a client that was registered by hand; empty to register one.
        client_secret: Of that client; empty for none.
        port: Of the redirect on this machine; 0 for any that is free.
        timeout_seconds: For the user, in the browser.
    """

    client_id: str = ""
    client_secret: str = ""
    port: int = 0
    timeout_seconds: float = 300.0


async def log_in(
    url: str,
    headers: Mapping[str, str],
    store: LoginStore,
    show_url: Callable[[str], None],
    settings: LoginSettings | None = None,
) -> bool:
    """Log in at a server, and keep what it gives.

    Args:
        url: Of the server.
        headers: Of the server's entry.
        store: Keeps it.
        show_url: Receives the page that the user is to open.
        settings: See `LoginSettings`.

    Returns:
        Whether the server asked for a login at all.

    Raises:
        LoginError: the server cannot be asked, the user refused or took too long, or a check failed.
    """
    settings = settings or LoginSettings()
    async with _Redirect.listen(settings.port) as redirect:
        storage = _Storage(url, store, _registered(settings, redirect.uri))
        provider = storage.provider = OAuthClientProvider(
            url,
            _client_metadata(redirect.uri),
            storage,
            redirect_handler=lambda page: _show(page, provider, show_url),
            callback_handler=redirect.wait,
        )
        try:
            async with asyncio.timeout(settings.timeout_seconds):
                status = await _ask(url, headers, provider)
        except TimeoutError:
            raise LoginError(f"Nobody logged in within {settings.timeout_seconds:g} s.") from None
        except OAuthFlowError as error:
            raise LoginError(f"The login failed: {str(error)[:500]}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise LoginError(f"The server cannot be asked: {error or type(error).__name__}.") from None
    if status in (401, 403):
        raise LoginError(f"The server answers {status} after the login, too.")
    return storage.is_saved


class StoredLogin(httpx2.Auth):
    """Requests with a stored login, which is renewed when it has expired; without one, requests as they are.

    The SDK's provider sends one request at a time, and forgets at each start when a token expires and where it is
    renewed; so it is used for the login and for renewing.

    Args:
        url: Of the server.
        store: Has the login.
    """

    def __init__(self, url: str, store: LoginStore) -> None:
        self._url = url
        self._store = store
        self._login = store.find(url)
        self._lock = asyncio.Lock()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the token; after a 401 once more with a new one."""
        login = self._login
        if login is None or "Authorization" in request.headers:
            yield request
            return
        if login.expires_at is not None and login.expires_at - _EXPIRY_MARGIN_SECONDS < time.time():
            login = await self._renew(login) or login
        response = yield _with_token(request, login)
        if response.status_code == 401 and (renewed := await self._renew(login)) is not None:
            yield _with_token(request, renewed)

    async def _renew(self, old: Login) -> Login | None:
        """A login that is newer than `old`; `None` if there is none. Who comes second finds what the first got."""
        async with self._lock:
            if self._login is not None and self._login.tokens != old.tokens:
                return self._login
            lock = self._store.locked(self._url)
            await asyncio.to_thread(lock.__enter__)
            try:
                stored = self._store.find(self._url)
                if stored is not None and stored.tokens == old.tokens:
                    await self._refresh(stored)
                    stored = self._store.find(self._url)
            finally:
                await asyncio.to_thread(lock.__exit__, None, None, None)
            self._login = stored if stored is not None and stored.tokens != old.tokens else self._login
            return None if self._login is None or self._login.tokens == old.tokens else self._login

    async def _refresh(self, login: Login) -> None:
        """Let the SDK send its request for new tokens, which `_Storage` keeps, and nothing else."""
        if not login.tokens.get("refresh_token") or login.client is None:
            return
        client = OAuthClientInformationFull.model_validate(login.client)
        storage = _Storage(self._url, self._store, client, tokens=OAuthToken(**{**login.tokens, "access_token": ""}))
        provider = storage.provider = OAuthClientProvider(self._url, _client_metadata(self._url), storage)
        if login.authorization_server is not None:
            provider.context.oauth_metadata = OAuthMetadata.model_validate(login.authorization_server)
        if login.resource is not None:
            provider.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(login.resource)
        unsent = httpx2.Request("POST", self._url)
        flow = provider.async_auth_flow(unsent)
        with contextlib.suppress(OAuthFlowError, httpx2.HTTPError, ValueError):
            async with httpx2.AsyncClient(timeout=30) as http:
                request = await flow.__anext__()
                while request is not unsent:
                    request = await flow.asend(await http.send(request))
        await flow.aclose()


class _Storage:
    """What the SDK's provider reads and writes."""

    provider: OAuthClientProvider

    def __init__(
        self, url: str, store: LoginStore, client: OAuthClientInformationFull | None, tokens: OAuthToken | None = None
    ) -> None:
        self.is_saved = False
        self._url, self._store, self._client, self._tokens = url, store, client, tokens

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.provider.context
        login = Login(
            canonical_url(self._url),
            _plain(tokens) or {},
            None if tokens.expires_in is None else time.time() + tokens.expires_in,
            _plain(context.client_info),
            _plain(context.oauth_metadata),
            _plain(context.protected_resource_metadata),
        )
        self._store.save(login)
        self.is_saved = True

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class _Redirect:
    """The page on this machine to which the browser comes back."""

    def __init__(self) -> None:
        self.uri = ""
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    @classmethod
    @contextlib.asynccontextmanager
    async def listen(cls, port: int) -> AsyncIterator[_Redirect]:
        redirect = cls()
        try:
            server = await asyncio.start_server(redirect._take, "127.0.0.1", port, limit=_LONGEST_REQUEST)
        except OSError as error:
            raise LoginError(f"Cannot listen on 127.0.0.1:{port}: {error.strerror or error}.") from None
        async with server:
            redirect.uri = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{CALLBACK_PATH}"
            yield redirect

    async def wait(self) -> AuthorizationCodeResult:
        return await self._answer

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(10):
                head = await reader.readuntil(b"\r\n\r\n")
            status, text = self._answer_to(head.split(b"\r\n", 1)[0].decode("ascii", "replace"))
            page = _PAGE.format(text).encode()
            head_lines = [f"HTTP/1.1 {status}", "Content-Type: text/html", f"Content-Length: {len(page)}"]
            writer.write("\r\n".join([*head_lines, "Connection: close", "", ""]).encode() + page)
            await writer.drain()
        writer.close()

    def _answer_to(self, request_line: str) -> tuple[str, str]:
        method, _, rest = request_line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        if method != "GET" or target.path != CALLBACK_PATH or not ({"code", "error"} & query.keys()):
            return "404 Not Found", "There is nothing here."
        if self._answer.done():
            return "409 Conflict", "The login is over already."
        if "error" in query:
            reason = " ".join(filter(None, (query["error"], query.get("error_description"))))
            self._answer.set_exception(OAuthFlowError(f"the authorization server refused: {reason[:300]}"))
            return "200 OK", "The login was refused. You can close this page."
        answer = AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))
        self._answer.set_result(answer)
        return "200 OK", "Done. You can close this page."


async def _ask(url: str, headers: Mapping[str, str], provider: OAuthClientProvider) -> int:
    """Send the first request of a session; its status once the login is over."""
    client = httpx2.AsyncClient(auth=provider, headers={**_ACCEPT, **headers}, timeout=30)
    async with client, client.stream("POST", url, json=_INITIALIZE) as response:
        return response.status_code


async def _show(page: str, provider: OAuthClientProvider, show_url: Callable[[str], None]) -> None:
    """Show the page, if neither it nor the codes and tokens that follow travel in the clear."""
    metadata = provider.context.oauth_metadata
    for endpoint in (page, str(metadata.token_endpoint) if metadata is not None else page):
        parts = urlsplit(endpoint)
        if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
            raise OAuthFlowError(f"{endpoint.partition('?')[0]!r} is not https")
    show_url(page)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _registered(settings: LoginSettings, redirect: str) -> OAuthClientInformationFull | None:
    if not settings.client_id:
        return None
    method = "client_secret_post" if settings.client_secret else "none"
    return OAuthClientInformationFull.model_validate(
        {
            "client_id": settings.client_id,
            "client_secret": settings.client_secret or None,
            "redirect_uris": [redirect],
            "token_endpoint_auth_method": method,
        }
    )


def _client_metadata(redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata.model_validate({"client_name": "toolbelt", "redirect_uris": [redirect]})


def _with_token(request: httpx2.Request, login: Login) -> httpx2.Request:
    request.headers["Authorization"] = f"Bearer {login.tokens.get('access_token', '')}"
    return request


def _plain(model: Any) -> dict[str, Any] | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)
