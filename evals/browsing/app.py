"""The server of the page (rule M8): loopback alone, and nothing of the store without the token."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from threading import enumerate as list_threads
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.browsing.documents import Documents, read_overview
from toolbelt.evals.viewer.rendering import page_digests
from toolbelt.mcp.logs.limited_log import LimitedLog
from toolbelt.mcp.serving.access_check import AccessCheck
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules, Tokens
from toolbelt.mcp.serving.signals import stopping_at_signals
from toolbelt.mcp.serving.web_server import HttpLimits, WebServer, configure, listen
from toolbelt.text import visible

Result = TypeVar("Result")
_HOST = "127.0.0.1"
_WORKER = "toolbelt-view-work"
_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Of every answer."""


def serve_view(store: Path, port: int, *, started: Callable[[str], None], log: Callable[[str], None]) -> int:
    """Serve the page until an interrupt or a request to terminate.

    Args:
        store: The file of runs.
        port: 0 for one that is free.
        started: Receives the page's address; whoever has it may read the store while this runs.
        log: Receives one line at a time.

    Returns:
        130 after an interrupt, 143 after a request to terminate.

    Raises:
        ToolbeltError: the port is in use.
    """
    return asyncio.run(_serve(store, port, started, log))


async def _serve(store: Path, port: int, started: Callable[[str], None], log: Callable[[str], None]) -> int:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # it logs requests that end with the server
    rules = HttpRules(HttpAddress(_HOST, port))
    rules.check()
    token = secrets.token_urlsafe(32)
    with contextlib.closing(listen(rules.address)) as listener:
        actual = listener.getsockname()[1]
        app = ViewApp(
            Documents(store), AccessCheck(rules, Tokens((token,), "the address"), actual, LimitedLog(log).add)
        )
        server = WebServer(configure(app, rules, HttpLimits()))

        def end() -> None:
            server.should_exit = True

        with stopping_at_signals(end) as signals:
            # The socket takes connections already; they are answered once the server runs.
            started(f"{rules.scheme}://{HttpAddress(_HOST, actual)}/#token={token}")
            await server.serve(sockets=[listener])
    return 128 + signals[0] if signals else 0


class ViewApp:
    """An ASGI application that only reads.

    Args:
        documents: What it shows.
        access: Who is let in.
    """

    def __init__(self, documents: Documents, access: AccessCheck) -> None:
        self._documents = documents
        self._access = access
        self._shell, policy = _read_shell()
        self._headers = _HEADERS | {"content-security-policy": policy}
        self._router = Router(
            [
                Route("/", self._show_shell),
                Route("/runs", self._list_runs),
                Route("/runs/{run}", self._show_figures),
                Route("/runs/{run}/report", self._show_report),
                Route("/comparison", self._show_comparison),
            ],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        # The page itself holds nothing of the store: the browser keeps what follows `#`, with the token, to itself.
        refusal = self._access.refuse(Headers(scope=scope), without_token=scope["path"] == "/")
        try:
            await (refusal or self._router)(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the server ends: nobody waits for a report
            await Response("The server is ending.", 503, {"Connection": "close"})(scope, receive, send_with_headers)
        except ToolbeltError as error:
            status = 404 if isinstance(error, NotFoundError) else 422
            await JSONResponse({"error": visible(str(error))}, status)(scope, receive, send_with_headers)

    async def _show_shell(self, _request: Request) -> Response:
        return HTMLResponse(self._shell)

    async def _list_runs(self, _request: Request) -> Response:
        return JSONResponse(await _in_thread(self._documents.runs))

    async def _show_figures(self, request: Request) -> Response:
        return JSONResponse(await _in_thread(self._documents.figures, request.path_params["run"]))

    async def _show_report(self, request: Request) -> Response:
        return HTMLResponse(await _in_thread(self._documents.report, request.path_params["run"]))

    async def _show_comparison(self, request: Request) -> Response:
        old, new = (request.query_params.get(side, "") for side in ("old", "new"))
        return HTMLResponse(await _in_thread(self._documents.comparison, old, new))


async def _in_thread(work: Callable[..., Result], *arguments: str) -> Result:
    """What `work` returns; unlike those of `asyncio.to_thread`, its thread does not delay the end of the process."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        outcome: tuple[Result | None, Exception | None]
        try:
            outcome = work(*arguments), None
        except Exception as error:  # noqa: BLE001  raised where it is awaited
            outcome = None, error
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, *outcome)

    Thread(target=run, name=_WORKER, daemon=True).start()
    return await future


def is_working() -> bool:
    """Whether a page is still being made, which nobody waits for once the server has ended."""
    return any(thread.name == _WORKER for thread in list_threads())


def _read_shell() -> tuple[str, str]:
    """The page, and its Content-Security-Policy.

    Reports are shown in a frame that inherits this policy besides their own, so it lets their script and style run.
    """
    page, style, script = read_overview()
    report_style, report_script = page_digests()
    policy = (
        "default-src 'none'",
        f"script-src '{_digest(script)}' '{report_script}'",
        f"style-src '{_digest(style)}' '{report_style}'",
        "img-src data:",
        "connect-src 'self'",
        "frame-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return page, "; ".join(policy)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
