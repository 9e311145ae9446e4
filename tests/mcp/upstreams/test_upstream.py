from __future__ import annotations

import asyncio
import sys
import time
from base64 import b64encode
from collections.abc import Coroutine
from typing import Any
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.small import small_server
from tests.servers.mcp_running import everything_stdio
from tests.servers.mcp_small import DEFINITIONS
from toolbelt.mcp.upstreams.transports import make_mask
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamError, UpstreamLimits, UpstreamStatus
from toolbelt.servers.spec import ServerSpec, Transport

QUICK = UpstreamLimits(start=20, first_wait=0.2)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


@pytest.mark.parametrize(
    ("asked", "spoken"), [("", "2026-07-28"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05")]
)
def test_M5_a_server_is_reached_in_every_version_of_the_protocol(asked: str, spoken: str) -> None:
    async def scenario() -> None:
        entry = everything_stdio().entry  # of the SDK, which knows every version
        server = ServerSpec("every", Transport.STDIO, entry["command"], tuple(entry["args"]), env=entry["env"])
        async with Upstream(server, version=asked, limits=QUICK) as upstream:
            assert upstream.session.protocol_version == spoken
            result = await upstream.request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            assert result["structuredContent"] == {"sum": 3}
        assert upstream.status is UpstreamStatus.CLOSED

    run(scenario())


def test_M5_a_server_that_starts_after_the_probe_is_probed_again() -> None:
    async def scenario() -> None:
        entry = everything_stdio().entry  # of the SDK, which the late probe locks to the protocol of 2026
        sleepy = f"import runpy, time; time.sleep(1.5); runpy.run_module({entry['args'][-1]!r}, run_name='__main__')"
        server = ServerSpec("late", Transport.STDIO, entry["command"], ("-c", sleepy), env=entry["env"])
        async with Upstream(server, limits=UpstreamLimits(start=20, probe=1)) as upstream:
            assert upstream.session.protocol_version == "2026-07-28"
            result = await upstream.request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            assert result["structuredContent"] == {"sum": 3}

    run(scenario())


def test_M4_all_pages_are_listed_as_the_server_sent_them() -> None:
    async def scenario() -> None:
        async with Upstream(small_server(), limits=QUICK) as upstream:
            assert await upstream.list_tools() == DEFINITIONS

    run(scenario())


def test_M7_a_server_that_ends_costs_its_own_calls_and_is_started_again_after_a_wait() -> None:
    async def scenario() -> None:
        lines: list[str] = []
        async with Upstream(small_server(), limits=QUICK, log=lines.append) as upstream:
            waiting = asyncio.create_task(upstream.request("tools/call", {"name": "wait", "arguments": {}}))
            await asyncio.sleep(0.1)
            with pytest.raises(MCPError):
                await upstream.request("tools/call", {"name": "exit", "arguments": {}})
            with pytest.raises(MCPError):
                await waiting
            deadline = time.monotonic() + 10
            while upstream.is_connected and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            with pytest.raises(UpstreamError, match="started again in"):
                await upstream.start()
            await asyncio.sleep(0.3)
            assert (await upstream.request("tools/list", {}))["tools"]
            assert upstream.starts == 2
        assert [line for line in lines if "ended" in line]

    run(scenario())


async def _fail_again(upstream: Upstream) -> float:
    """Wait until it may be started, and fails; the time before that start."""
    while True:
        await asyncio.sleep(0.02)
        began = time.monotonic()
        with pytest.raises(UpstreamError) as refused:
            await upstream.start()
        if not refused.value.wait_seconds:
            return began


def test_M7_each_restart_waits_longer() -> None:
    async def scenario() -> None:
        broken = ServerSpec("broken", Transport.STDIO, command=sys.executable, args=("-c", "pass"))
        upstream = Upstream(broken, limits=QUICK)
        began = time.monotonic()
        with pytest.raises(UpstreamError):
            await upstream.start()
        for number in range(3):
            assert upstream.status is UpstreamStatus.FAILED
            wait = QUICK.first_wait * 2**number
            with pytest.raises(UpstreamError) as refused:
                await upstream.start()
            assert 0 < refused.value.wait_seconds <= wait
            failed_after, began = began, await _fail_again(upstream)
            assert time.monotonic() - failed_after >= wait
        await upstream.close()

    run(scenario())


def test_M7_a_server_that_hangs_is_given_up() -> None:
    async def scenario() -> None:
        limits = UpstreamLimits(start=1, close=5)
        began = time.monotonic()
        with pytest.raises(UpstreamError, match="did not answer within 1 s"):
            await Upstream(small_server("--hang"), limits=limits, version="2025-11-25").start()
        assert time.monotonic() - began < 6

    run(scenario())


def test_a_program_that_is_not_there_is_reported() -> None:
    async def scenario() -> None:
        missing = ServerSpec("missing", Transport.STDIO, command="no-such-program")
        with pytest.raises(UpstreamError, match="no-such-program"):
            await Upstream(missing, limits=QUICK).start()

    run(scenario())


def test_M1_values_that_a_server_or_a_transport_repeats_are_masked_in_every_form() -> None:
    url = "http://canary-user:canary1password@127.0.0.1/mcp?key=canary2%2Fof%2Fthe%2Fquery"
    server = ServerSpec("s", Transport.HTTP, url=url, headers={"Authorization": "Bearer canary3-of-a-header"})
    mask = make_mask(server)
    for secret in ("canary-user:canary1password", "canary1password", "canary2/of/the/query", "canary3-of-a-header"):
        for form in (secret, quote(secret, safe=""), b64encode(secret.encode()).decode(), secret.encode().hex()):
            assert form.rstrip("=") not in mask(f"refused {form}, as {url}")
    assert mask("refused") == "refused"


def test_M1_values_that_a_server_prints_are_masked_in_the_log() -> None:
    program = "import os, sys; sys.exit(' '.join(os.environ[name] for name in ('API_KEY', 'MODE', 'HEADER')))"
    env = {"API_KEY": "k3y-of-somebody", "MODE": "debug", "HEADER": "Bearer abcdefgh12"}
    server = ServerSpec("leaky", Transport.STDIO, command=sys.executable, args=("-c", program), env=env)

    async def scenario() -> None:
        lines: list[str] = []
        upstream = Upstream(server, limits=QUICK, log=lines.append)
        with pytest.raises(UpstreamError):
            await upstream.start()
        await upstream.close()
        assert "leaky: *** debug ***" in lines

    run(scenario())
