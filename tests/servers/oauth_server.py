"""An MCP server over HTTP with an authorization server of its own, which lets everybody in, or nobody."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.lowlevel.server import Server
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import AnyHttpUrl


@dataclass
class Accounts(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The authorization server.

    Attributes:
        refuses: Whether the user refuses.
        seconds: For which an access token is good.
        registered: Clients by id.
        access: Access tokens.
        refreshes: How often tokens were renewed; each renewal makes the old ones invalid.
    """

    refuses: bool = False
    seconds: int = 3600
    registered: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refreshes: int = 0
    _codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    _refresh: dict[str, RefreshToken] = field(default_factory=dict)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.registered.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.registered[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        redirect = str(params.redirect_uri)
        if self.refuses:
            return construct_redirect_uri(redirect, error="access_denied", state=params.state)
        code = secrets.token_urlsafe(32)
        self._codes[code] = AuthorizationCode(
            code=code,
            client_id=str(client.client_id),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(redirect, code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self._give(str(client.client_id), authorization_code.scopes)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self._refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refresh[refresh_token.token]
        self.refreshes += 1
        return self._give(str(client.client_id), scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)

    def _give(self, client_id: str, scopes: list[str]) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access = {access: AccessToken(token=access, client_id=client_id, scopes=scopes)}
        self._refresh = {refresh: RefreshToken(token=refresh, client_id=client_id, scopes=scopes)}
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.seconds)


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def oauth_server(accounts: Accounts) -> AsyncIterator[str]:
    """The URL of the server."""

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="secret", input_schema={"type": "object"})])

    async def call_tool(_context: Any, _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="42")])

    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server: Server[Any] = Server("private", on_list_tools=list_tools, on_call_tool=call_tool)
    app = server.streamable_http_app(
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            client_registration_options=ClientRegistrationOptions(enabled=True),
            validate_token_resource=False,
        ),
        auth_server_provider=accounts,
        token_verifier=ProviderTokenVerifier(accounts),
    )
    web_server = _QuietServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(web_server.serve(sockets=[listener]))
    try:
        yield f"{origin}/mcp"
    finally:
        web_server.should_exit = True
        await serving
