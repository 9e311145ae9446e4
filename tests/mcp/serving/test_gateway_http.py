"""A gateway over HTTP, with a real server behind it for each client (rules M7, M8)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.tiny import tiny_server, tiny_surface
from toolbelt.mcp.gateway.gateway import Gateway, GatewayOptions
from toolbelt.mcp.serving.http import find_state, serve_http
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules, Tokens
from toolbelt.mcp.serving.web_server import HttpLimits
from toolbelt.mcp.upstreams.processes import has_processes
from toolbelt.mcp.upstreams.upstream import UpstreamLimits

TOKENS = Tokens(("first-token-of-the-tests", "second-token-of-the-tests"), "the tests")


class Listening:
    """A gateway of the tests."""

    def __init__(self, options: GatewayOptions) -> None:
        self.url = ""
        self.log: list[str] = []
        self.stop = asyncio.Event()
        self.gateway = Gateway(tiny_surface("tiny"), {"tiny": tiny_server("tiny")}, options, log=self.log.append)

    @contextlib.asynccontextmanager
    async def client(self, mode: str, token: int = 0, **callbacks: Any) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {TOKENS.values[token]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30, verify=False) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode, cache=None, **callbacks) as client,
        ):
            await client.list_tools()
            yield client


@contextlib.asynccontextmanager
async def listening(options: GatewayOptions | None = None) -> AsyncIterator[Listening]:
    listening, started = Listening(options or GatewayOptions()), asyncio.Event()

    def note(url: str) -> None:
        listening.url = url
        started.set()

    serving = asyncio.create_task(
        serve_http(
            listening.gateway.make_server(find_state),
            listening.gateway.open_client,
            HttpRules(HttpAddress("127.0.0.1", 0)),
            TOKENS,
            stop=listening.stop,
            started=note,
            log=listening.log.append,
            limits=HttpLimits(drain_seconds=0.2),
        )
    )
    try:
        await started.wait()
        yield listening
    finally:
        listening.stop.set()
        await serving
        await listening.gateway.close()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 60))


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result: Any = await client.session.call_tool(tool, arguments)
    return str(result.content[0].text)


async def wait_until_gone(pid: int) -> None:
    async with asyncio.timeout(10):
        while has_processes(pid):
            await asyncio.sleep(0.02)


def test_M7_each_session_has_a_server_of_its_own_that_ends_with_it() -> None:
    async def scenario() -> None:
        async with listening() as gateway:
            async with gateway.client("legacy") as one, gateway.client("legacy") as two:
                pids = [int(await call(client, "pid")) for client in (one, two, one)]
                assert pids[0] == pids[2] != pids[1]
            for pid in pids:
                await wait_until_gone(pid)

    run(scenario())


def test_M7_clients_of_2026_with_one_token_have_one_server_and_another_token_has_its_own() -> None:
    async def scenario() -> None:
        async with listening() as gateway:
            pids = []
            for token in (0, 0, 1):
                async with gateway.client("auto", token) as client:
                    pids.append(int(await call(client, "pid")))
            assert pids[0] == pids[1] != pids[2]
        assert not any(has_processes(pid) for pid in pids)

    run(scenario())


def test_M7_an_idle_server_ends_and_is_started_again_when_it_is_needed() -> None:
    async def scenario() -> None:
        options = GatewayOptions(limits=UpstreamLimits(idle=0.3))
        async with listening(options) as gateway, gateway.client("legacy") as client:
            first = int(await call(client, "pid"))
            await wait_until_gone(first)
            second = int(await call(client, "pid"))
            assert second != first
            assert has_processes(second)
            assert not gateway.log

    run(scenario())


def test_M7_a_call_under_way_keeps_its_server() -> None:
    async def scenario() -> None:
        options = GatewayOptions(call_seconds=3.0, limits=UpstreamLimits(idle=0.2))
        async with listening(options) as gateway, gateway.client("legacy") as client:
            pid = int(await call(client, "pid"))
            hanging = asyncio.create_task(call(client, "hang"))
            await asyncio.sleep(0.6)
            assert has_processes(pid)
            with pytest.raises(Exception, match="did not answer"):
                await hanging

    run(scenario())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M7_a_shared_server_is_one_for_all_and_outlives_each(mode: str) -> None:
    async def scenario() -> None:
        async with listening(GatewayOptions(shared=("tiny",))) as gateway:
            pids = set()
            for token in (0, 1):
                async with gateway.client(mode, token) as client:
                    pids.add(int(await call(client, "pid")))
            assert len(pids) == 1
            assert has_processes(*pids)
        assert not has_processes(*pids)

    run(scenario())


def test_M7_progress_of_a_shared_server_comes_to_whoever_called() -> None:
    async def scenario() -> None:
        async def use(client: Client, text: str) -> set[str | None]:
            heard: set[str | None] = set()

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                heard.add(message)

            await client.session.call_tool("progress", {"text": text}, progress_callback=hear)
            return heard

        options = GatewayOptions(shared=("tiny",))
        async with listening(options) as gateway, gateway.client("legacy") as one, gateway.client("legacy") as two:
            assert [*await asyncio.gather(use(one, "of one"), use(two, "of two"))] == [{"of one"}, {"of two"}]

    run(scenario())


def test_M7_a_shared_server_asks_nobody_and_its_log_goes_to_the_gateways() -> None:
    async def scenario() -> None:
        heard: list[Any] = []

        async def hear(params: Any) -> None:
            heard.append(params)

        async def roots(context: Any) -> Any:
            heard.append(context)

        callbacks: dict[str, Any] = {"list_roots_callback": roots, "logging_callback": hear}
        options = GatewayOptions(shared=("tiny",))
        async with listening(options) as gateway, gateway.client("legacy", **callbacks) as client:
            await call(client, "log", text="a\x1b[31m secret of another")
            assert "error" in await call(client, "ask")
        assert not heard
        assert [line for line in gateway.log if "secret of another" in line and "\x1b" not in line]

    run(scenario())


def test_M7_fifty_clients_over_http() -> None:
    async def scenario() -> None:
        async with listening() as gateway:

            async def use(number: int) -> int:
                async with gateway.client("legacy") as client:
                    assert await call(client, "echo", number=number) == f'{{"number": {number}}}'
                    return int(await call(client, "pid"))

            pids = await asyncio.gather(*(use(number) for number in range(50)))
            assert len(set(pids)) == 50
        assert not any(has_processes(pid) for pid in pids)

    run(scenario())
