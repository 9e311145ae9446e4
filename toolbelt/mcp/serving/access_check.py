"""Who may ask a listener, decided by a request's headers alone (rule M8)."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response

from toolbelt.mcp.serving.http_access import HttpRules, Tokens
from toolbelt.text import visible


class AccessCheck:
    """Decides by `Host` and `Origin`, then by the token, so that a web page cannot try tokens.

    Args:
        rules: Of the listener.
        tokens: `None` to let everybody in.
        port: Of the listener.
        log: Receives one line at a time: why a request was refused.
        host_hint: Follows the line on a host that is not served.
    """

    def __init__(
        self, rules: HttpRules, tokens: Tokens | None, port: int, log: Callable[[str], None], *, host_hint: str = ""
    ) -> None:
        self._hosts = rules.allowed_hosts(port)
        self._origins = rules.allowed_origins(port)
        self._tokens = tokens
        self._log = log
        self._host_hint = host_hint

    def refuse(self, headers: Headers, *, without_token: bool = False) -> Response | None:
        """What is answered to who may not ask; `None` to who may.

        Args:
            headers: Of the request.
            without_token: Whether what is asked for is for anybody who reaches the listener.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.casefold() not in self._hosts:
            self._log(f"refused a request to the host {visible(host)!r}{self._host_hint}")
            return Response("This host is not served.", 421)
        if origin is not None and origin.casefold() not in self._origins:
            self._log(f"refused a request of the web page {visible(origin)!r}")
            return Response("This origin may not ask.", 403)
        if not without_token and self._tokens is not None and not self.find_owner(headers):
            is_given = "authorization" in headers
            self._log(f"refused a request with {'a wrong' if is_given else 'no'} token")
            challenge = 'Bearer realm="toolbelt"' + (', error="invalid_token"' if is_given else "")
            return Response("A bearer token is required.", 401, {"WWW-Authenticate": challenge})
        return None

    def find_owner(self, headers: Headers) -> str:
        """The client that a request belongs to, see `Tokens.find`; empty if it is nobody's, or all are let in."""
        return "" if self._tokens is None else self._tokens.find(headers.get("authorization", ""))
