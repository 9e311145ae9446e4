"""What goes wrong with servers and clients, in real processes: nothing else suffers, and nothing remains (rule M7)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.mcp.gateways import write_project
from tests.mcp.small import synced_plugin
from tests.mcp.tiny import tiny_server, tiny_surface
from tests.servers.mcp_tiny import DEFINITIONS
from toolbelt.mcp.gateway.client import Client as GatewayClient
from toolbelt.mcp.gateway.gateway import Gateway, GatewayOptions
from toolbelt.mcp.upstreams.processes import has_processes
from toolbelt.mcp.upstreams.upstream import UpstreamLimits

CALL_SECONDS = 3.0
LIMITS = UpstreamLimits(start=3, first_wait=0.2)


class Faulty:
    """A gateway over the server `bad`, which misbehaves, and the server `good`, which must not notice."""

    def __init__(self, client: Client, state: GatewayClient, log: list[str], call_seconds: float) -> None:
        self.client, self.log = client, log
        self._call_seconds = call_seconds
        self._state = state

    def pid(self, server: str) -> int:
        """Of the process of a server."""
        return self._state.connections[server].upstream.pid or 0

    async def call(self, server: str, tool: str, **arguments: Any) -> str:
        result: Any = await self.client.session.call_tool(f"{server}__{tool}", arguments)
        return str(result.content[0].text)

    async def check_good(self, pid: int) -> None:
        """The other server is the same process, and answers at once."""
        started = time.monotonic()
        assert int(await self.call("good", "pid")) == pid
        assert time.monotonic() - started < self._call_seconds - 0.5  # so that it waited for no call that hangs


@contextlib.asynccontextmanager
async def faulty(*arguments: str, call_seconds: float = CALL_SECONDS) -> AsyncIterator[Faulty]:
    log: list[str] = []
    servers = {"bad": tiny_server("bad", *arguments), "good": tiny_server("good")}
    options = GatewayOptions(call_seconds, 0.5, limits=LIMITS)
    gateway = Gateway(tiny_surface("bad", "good"), servers, options, log=log.append)
    state = gateway.open_client()
    server = gateway.make_server(lambda _: state)
    try:
        async with Client(server, mode="legacy", cache=None) as client:
            await client.list_tools()
            yield Faulty(client, state, log, call_seconds)
    finally:
        pids = [connection.upstream.pid for connection in state.connections.values()]
        await state.close()
        await gateway.close()
        assert not any(has_processes(pid) for pid in pids if pid)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 30))


def test_M7_a_server_that_is_killed_in_a_call_costs_that_call_and_comes_back_after_a_wait() -> None:
    async def scenario() -> None:
        async with faulty() as gateway:
            good = int(await gateway.call("good", "pid"))
            hanging = asyncio.create_task(gateway.call("bad", "hang"))
            await asyncio.sleep(0.1)
            bad = gateway.pid("bad")
            os.kill(bad, signal.SIGKILL)
            with pytest.raises(MCPError, match="ended"):
                await hanging
            with pytest.raises(MCPError, match="started again"):
                await gateway.call("bad", "pid")
            await gateway.check_good(good)
            await asyncio.sleep(0.3)
            assert int(await gateway.call("bad", "pid")) != bad

    run(scenario())


def test_M7_each_restart_waits_longer() -> None:
    async def scenario() -> None:
        async with faulty() as gateway:
            for number in range(3):
                started = time.monotonic()
                with pytest.raises(MCPError):
                    await gateway.call("bad", "die")
                while True:
                    with contextlib.suppress(MCPError):
                        await gateway.call("bad", "pid")
                        break
                    await asyncio.sleep(0.02)
                assert time.monotonic() - started >= LIMITS.first_wait * 2**number

    run(scenario())


def test_M7_a_call_that_hangs_ends_at_its_limit_and_others_are_answered_meanwhile() -> None:
    async def scenario() -> None:
        async with faulty() as gateway:
            good = int(await gateway.call("good", "pid"))
            started = time.monotonic()
            hanging = asyncio.create_task(gateway.call("bad", "hang"))
            await gateway.check_good(good)
            with pytest.raises(MCPError, match="did not answer"):
                await hanging
            assert time.monotonic() - started < CALL_SECONDS + 1

    run(scenario())


@pytest.mark.parametrize("argument", ["--hang", "--refuse-version"])
def test_M7_a_server_that_does_not_come_up_costs_its_own_calls(argument: str) -> None:
    async def scenario() -> None:
        async with faulty(argument) as gateway:
            good = int(await gateway.call("good", "pid"))
            with pytest.raises(MCPError):
                await gateway.call("bad", "echo")
            await gateway.check_good(good)

    run(scenario())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        pytest.param("flood", {"lines": 200_000}, id="floods-standard-error"),
        pytest.param("rubbish", {"lines": 500}, id="prints-rubbish-on-standard-output"),
        pytest.param("child", {}, id="leaves-children"),
    ],
)
def test_M7_a_server_that_misbehaves_beside_its_answers_still_answers(tool: str, arguments: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with faulty(call_seconds=20) as gateway:  # a busy machine takes its time with a flood
            good = int(await gateway.call("good", "pid"))
            noisy = asyncio.create_task(gateway.call("bad", tool, **arguments))
            await gateway.check_good(good)
            assert json.loads(await noisy) == arguments
            assert len(gateway.log) < 300
            assert not any("\x1b" in line for line in gateway.log)

    run(scenario())


def test_M7_an_answer_over_the_limit_ends_its_server_and_no_other() -> None:
    async def scenario() -> None:
        async with faulty(call_seconds=20) as gateway:
            good = int(await gateway.call("good", "pid"))
            assert len(await gateway.call("bad", "huge", bytes=2 << 20)) == 2 << 20
            with pytest.raises(MCPError, match="ended"):
                await gateway.call("bad", "huge", bytes=70 << 20)
            await gateway.check_good(good)
            assert any("message of more than" in line for line in gateway.log)

    run(scenario())


def test_M5_a_server_that_changes_a_tool_has_that_tool_withheld() -> None:
    async def scenario() -> None:
        async with faulty() as gateway:
            assert await gateway.call("bad", "echo") == "{}"
            await gateway.call("bad", "change")
            with pytest.raises(MCPError, match="Unknown tool"):
                await gateway.call("bad", "echo")
            assert int(await gateway.call("bad", "pid"))
            assert await gateway.call("good", "echo") == "{}"

    run(scenario())


class Process:
    """A gateway process, as a client on standard input and output has it."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes"]
        environment = {**os.environ, "TOOLBELT_STATE_DIR": str(folder / "state")}
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.ask(1, "initialize", params)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send({"id": number, "method": method, "params": params})
        return self.read(number)

    def ask_raw(self, number: int, line: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read(number)

    def read(self, number: int) -> dict[str, Any]:
        """The answer of that number."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message
        raise AssertionError("the gateway ended")

    def call_pid(self) -> int:
        result = self.ask(2, "tools/call", {"name": "pid", "arguments": {}})["result"]
        return int(result["content"][0]["text"])


@pytest.fixture
def gateway_process(tmp_path: Path) -> Iterator[Process]:
    write_project(tmp_path, [tiny_server("tiny")], [synced_plugin("tiny", DEFINITIONS)])
    gateway = Process(tmp_path)
    yield gateway
    gateway.process.kill()
    gateway.process.wait(10)
    for stream in (gateway.process.stdin, gateway.process.stdout):
        assert stream is not None
        with contextlib.suppress(OSError):
            stream.close()


def test_M7_a_request_of_a_client_that_cannot_be_read_is_refused_at_once(gateway_process: Process) -> None:
    call = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo", "arguments": {"a": %s}}}'
    for value, reason in (
        ('"\\ud83d"', "surrogate"),
        ("1" * 5000, "4,300"),
        ("[" * 300 + "]" * 300, "levels"),
        ("?", "JSON"),
    ):
        assert reason in gateway_process.ask_raw(7, call % value)["error"]["message"]
    assert gateway_process.call_pid()


def test_M7_an_answer_that_cannot_be_read_names_its_server(gateway_process: Process) -> None:
    for raw, reason in (
        ('{"jsonrpc": "2.0", "id": ID, "result": null}', "null"),
        ('{"id": ID, "result": {"a": "\\ud83d"}}', "`a`"),
    ):
        params = {"name": "echo", "arguments": {"raw": raw}}
        error = gateway_process.ask(7, "tools/call", params)["error"]
        assert error["code"] == -32603
        assert "Server 'tiny' answered with what cannot be read" in error["message"]
        assert reason in error["message"]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param("terminate", 143, id="terminated"),
        pytest.param("leave", 0, id="client-leaves-or-is-killed"),
        pytest.param("kill", -9, id="gateway-is-killed"),
    ],
)
def test_M7_no_process_remains_when_a_gateway_ends_with_a_call_under_way(
    gateway_process: Process, end: str, code: int
) -> None:
    pid = gateway_process.call_pid()
    gateway_process.ask(3, "tools/call", {"name": "child", "arguments": {}})
    gateway_process.send({"id": 4, "method": "tools/call", "params": {"name": "hang", "arguments": {}}})
    time.sleep(0.2)
    process = gateway_process.process
    assert has_processes(pid)
    if end == "leave":  # the end of a client, however it comes, is the end of the gateway's input
        assert process.stdin is not None
        process.stdin.close()
    else:
        process.send_signal(signal.SIGTERM if end == "terminate" else signal.SIGKILL)
    assert process.wait(10) == code
    deadline = time.monotonic() + 8
    while has_processes(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not has_processes(pid)
