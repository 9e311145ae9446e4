"""A server over streamable HTTP (rules M7, M8), asked over real connections."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

from toolbelt.errors import ToolbeltError
from toolbelt.mcp.serving.http import find_state, serve_http
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules, Tokens
from toolbelt.mcp.serving.web_server import HttpLimits

TOKENS = Tokens(("first-token-of-the-tests", "second-token-of-the-tests"), "the tests")
FIRST, SECOND = ({"Authorization": f"Bearer {token}"} for token in TOKENS.values)
RULES = HttpRules(HttpAddress("127.0.0.1", 0))
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class State:
    """What the server of the tests keeps for one client."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_closed = False

    async def close(self) -> None:
        self.is_closed = True


class Listener:
    """A listener of the tests: its URL, its log and what became of its clients."""

    def __init__(self, limits: HttpLimits, rules: HttpRules, tokens: Tokens | None) -> None:
        self.url = ""
        self.log: list[str] = []
        self.states: list[State] = []
        self.stop = asyncio.Event()
        self.waiting = asyncio.Event()
        self.release = asyncio.Event()
        self._limits, self._rules, self._tokens = limits, rules, tokens

    @property
    def used(self) -> list[State]:
        """The states of clients that called something."""
        return [state for state in self.states if state.calls]

    async def serve(self, started: asyncio.Event) -> None:
        def note(url: str) -> None:
            self.url = url
            started.set()

        def open_state() -> State:
            self.states.append(State())
            return self.states[-1]

        async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
            return ListToolsResult(
                tools=[Tool(name=name, input_schema={"type": "object"}) for name in ("count", "wait")]
            )

        async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
            if params.name == "wait":
                self.waiting.set()
                await self.release.wait()
            state = find_state(context)
            state.calls += 1
            return CallToolResult(content=[TextContent(type="text", text=str(state.calls))])

        server: Server[Any] = Server("test", on_list_tools=list_tools, on_call_tool=call_tool)
        await serve_http(
            server,
            open_state,
            self._rules,
            self._tokens,
            stop=self.stop,
            started=note,
            log=self.log.append,
            limits=self._limits,
        )


@contextlib.asynccontextmanager
async def listening(
    limits: HttpLimits | None = None, rules: HttpRules = RULES, tokens: Tokens | None = TOKENS
) -> AsyncIterator[Listener]:
    listener, started = Listener(limits or HttpLimits(drain_seconds=0.3), rules, tokens), asyncio.Event()
    serving = asyncio.create_task(listener.serve(started))
    starting = asyncio.create_task(started.wait())
    await asyncio.wait({serving, starting}, return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    try:
        if not serving.done():
            yield listener
    finally:
        listener.stop.set()
        async with asyncio.timeout(10):
            await serving


@contextlib.asynccontextmanager
async def connected(url: str, headers: dict[str, str], mode: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, verify=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


async def post(url: str, headers: dict[str, str], body: Any = INITIALIZE, **options: Any) -> httpx2.Response:
    async with httpx2.AsyncClient(verify=False) as http:
        return await http.post(url, json=body, headers={**JSON, **headers}, **options)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(limited())


async def text_of(client: Client, name: str = "count") -> str:
    result = await client.session.call_tool(name, {})
    assert isinstance(result, CallToolResult)
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param(FIRST, 200, id="right-token"),
        pytest.param(SECOND, 200, id="another-right-token"),
        pytest.param({}, 401, id="no-token"),
        pytest.param({"Authorization": "Bearer wrong"}, 401, id="wrong-token"),
        pytest.param({**FIRST, "Host": "evil.example"}, 421, id="dns-rebinding"),
        pytest.param({"Host": "evil.example"}, 421, id="dns-rebinding-without-token"),
        pytest.param({**FIRST, "Origin": "http://evil.example"}, 403, id="other-web-page"),
        pytest.param({**FIRST, "Origin": "null"}, 403, id="sandboxed-web-page"),
    ],
)
def test_M8_who_is_let_in(headers: dict[str, str], status: int) -> None:
    async def test() -> None:
        async with listening() as listener:
            response = await post(listener.url, headers)
            assert response.status_code == status
            assert ("www-authenticate" in response.headers) == (status == 401)
            assert bool(listener.states) == (status == 200)
            assert not any(token in line for line in listener.log for token in TOKENS.values)

    run(test)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT"])
def test_M8_no_method_and_no_path_goes_without_a_token(method: str) -> None:
    async def test() -> None:
        async with listening() as listener, httpx2.AsyncClient(verify=False) as http:
            for url in (listener.url, listener.url.removesuffix("/mcp") + "/health"):
                assert (await http.request(method, url)).status_code == 401

    run(test)


def test_M8_a_session_of_another_token_is_as_one_that_does_not_exist() -> None:
    async def test() -> None:
        async with listening() as listener:
            session = (await post(listener.url, FIRST)).headers["mcp-session-id"]
            own = await post(listener.url, {**FIRST, "Mcp-Session-Id": session}, PING)
            others = await post(listener.url, {**SECOND, "Mcp-Session-Id": session}, PING)
            unknown = await post(listener.url, {**SECOND, "Mcp-Session-Id": "0" * len(session)}, PING)
            assert own.status_code == 200
            assert (others.status_code, others.content) == (unknown.status_code, unknown.content)
            assert others.status_code == 404
            async with httpx2.AsyncClient(verify=False) as http:
                ended = await http.delete(listener.url, headers={**SECOND, "Mcp-Session-Id": session})
            assert ended.status_code == 404
            assert (await post(listener.url, {**FIRST, "Mcp-Session-Id": session}, PING)).status_code == 200

    run(test)


def test_M8_session_ids_are_random() -> None:
    async def test() -> None:
        async with listening() as listener:
            ids = {(await post(listener.url, FIRST)).headers["mcp-session-id"] for _ in range(5)}
            assert len(ids) == 5
            assert all(len(session) >= 32 for session in ids)

    run(test)


def test_M7_a_client_of_2025_is_a_session_and_is_closed_with_it() -> None:
    async def test() -> None:
        async with listening() as listener:
            async with connected(listener.url, FIRST, "legacy") as one, connected(listener.url, FIRST, "legacy") as two:
                assert [await text_of(one), await text_of(one), await text_of(two)] == ["1", "2", "1"]
            assert [state.is_closed for state in listener.used] == [True, True]

    run(test)


def test_M7_a_client_of_2026_is_a_token_and_stays() -> None:
    async def test() -> None:
        async with listening() as listener:
            async with connected(listener.url, FIRST, "auto") as one, connected(listener.url, FIRST, "auto") as two:
                assert [await text_of(one), await text_of(two)] == ["1", "2"]
            async with connected(listener.url, SECOND, "auto") as other:
                assert await text_of(other) == "1"
            assert [state.is_closed for state in listener.used] == [False, False]
        assert all(state.is_closed for state in listener.states)

    run(test)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M7_a_client_that_does_nothing_for_too_long_is_closed(mode: str) -> None:
    async def test() -> None:
        async with listening(HttpLimits(idle_seconds=0.2)) as listener:
            await post(listener.url, FIRST)
            async with asyncio.timeout(5):
                while not all(state.is_closed for state in listener.states):
                    await asyncio.sleep(0.02)

    run(test)


def test_M7_an_idle_session_is_unknown_afterwards() -> None:
    async def test() -> None:
        async with listening(HttpLimits(idle_seconds=0.2)) as listener:
            session = (await post(listener.url, FIRST)).headers["mcp-session-id"]
            await asyncio.sleep(0.6)
            assert (await post(listener.url, {**FIRST, "Mcp-Session-Id": session}, PING)).status_code == 404

    run(test)


def test_M8_no_token_lets_this_machine_in_but_no_web_page() -> None:
    async def test() -> None:
        async with listening(tokens=None) as listener:
            assert (await post(listener.url, {})).status_code == 200
            assert (await post(listener.url, {"Host": "evil.example"})).status_code == 421

    run(test)


def test_M8_a_body_over_the_limit_is_refused() -> None:
    async def test() -> None:
        async with listening(HttpLimits(body_bytes=10_000)) as listener:
            big = {**INITIALIZE, "params": {"x": "y" * 20_000}}
            assert (await post(listener.url, FIRST, big)).status_code == 413
            assert (await post(listener.url, {}, big)).status_code == 401
            assert (await post(listener.url, FIRST)).status_code == 200

    run(test)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        pytest.param(b"", b"", id="nothing"),
        pytest.param(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"", id="headers-without-end"),
        pytest.param(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer first-token-of-the-tests\r\n"
            b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
            b"HTTP/1.1 408",
            id="body-without-end",
        ),
    ],
)
def test_M8_a_request_that_does_not_come_in_time_is_dropped(sent: bytes, answer: bytes) -> None:
    async def test() -> None:
        async with listening(HttpLimits(header_seconds=0.2, body_seconds=0.2)) as listener:
            port = listener.url.rpartition(":")[2].removesuffix("/mcp")
            reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
            writer.write(sent.replace(b"PORT", port.encode()))
            started = time.monotonic()
            received = await reader.read()
            assert received.startswith(answer)
            assert bool(received) == bool(answer)
            assert time.monotonic() - started < 5
            writer.close()

    run(test)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M7_a_call_under_way_is_answered_at_the_end_and_no_further_request(mode: str) -> None:
    async def test() -> None:
        async with listening(HttpLimits(drain_seconds=5)) as listener, connected(listener.url, FIRST, mode) as client:
            await client.list_tools()
            call = asyncio.create_task(text_of(client, "wait"))
            await listener.waiting.wait()
            listener.stop.set()
            await asyncio.sleep(0.1)
            assert (await post(listener.url, FIRST)).status_code == 503
            listener.release.set()
            assert await call == "1"

    run(test)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M7_a_call_that_hangs_delays_the_end_only_so_long(mode: str) -> None:
    async def test() -> None:
        async with listening(HttpLimits(drain_seconds=0.2)) as listener, connected(listener.url, FIRST, mode) as client:
            await client.list_tools()
            call = asyncio.create_task(text_of(client, "wait"))
            await listener.waiting.wait()
            listener.stop.set()
            started = time.monotonic()
            with pytest.raises(Exception):  # noqa: B017  the SDK has several for a connection that ended
                await call
            assert time.monotonic() - started < 6

    run(test)


def test_M7_clients_at_once_have_a_state_each() -> None:
    async def test() -> None:
        async with listening() as listener:

            async def use(number: int) -> list[str]:
                mode, headers = ("legacy", FIRST) if number % 2 else ("auto", SECOND)
                async with connected(listener.url, headers, mode) as client:
                    return [await text_of(client) for _ in range(3)]

            answers = await asyncio.gather(*(use(number) for number in range(10)))
            assert [answer for answer in answers[1::2] if answer != ["1", "2", "3"]] == []
            of_one_token = sorted(int(text) for answer in answers[::2] for text in answer)
            assert of_one_token == list(range(1, 16))

    run(test)


def test_an_address_in_use_is_an_error() -> None:
    async def test() -> None:
        async with listening() as listener:
            port = int(listener.url.rpartition(":")[2].removesuffix("/mcp"))
            with pytest.raises(ToolbeltError):
                async with listening(rules=replace(RULES, address=HttpAddress("127.0.0.1", port))):
                    pass

    run(test)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try:
        subprocess.run(
            [*command, "-keyout", key, "-out", certificate, "-days", "1", *subject],
            check=True,
            capture_output=True,
            timeout=30,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl makes a certificate")
    return str(certificate), str(key)


def test_M8_with_a_certificate_it_is_https(certificate: tuple[str, str]) -> None:
    async def test() -> None:
        rules = replace(RULES, tls_certificate=certificate[0], tls_key=certificate[1])
        async with listening(rules=rules) as listener:
            assert listener.url.startswith("https://")
            trust = ssl.create_default_context(cafile=certificate[0])
            async with httpx2.AsyncClient(verify=trust) as http:
                answer = await http.post(listener.url, json=INITIALIZE, headers={**JSON, **FIRST})
                assert answer.status_code == 200

    run(test)


def test_what_is_no_certificate_is_an_error(tmp_path: Path) -> None:
    async def test() -> None:
        file = tmp_path / "file.pem"
        file.write_text("nothing")
        with pytest.raises(ToolbeltError):
            async with listening(rules=replace(RULES, tls_certificate=str(file), tls_key=str(file))):
                pass

    run(test)
