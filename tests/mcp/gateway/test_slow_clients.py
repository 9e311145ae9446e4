"""A server that floods its client, and a client that does not read: nobody else waits, and nothing grows (rule M7)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.mcp.gateways import write_project
from tests.mcp.small import synced_plugin
from tests.mcp.tiny import tiny_server
from tests.servers.mcp_tiny import DEFINITIONS
from toolbelt.mcp.gateway.front import MAX_NOTICES, Context, Notices

SERVERS = ("bad", "good")


class Gateway:
    """A gateway over the servers `bad` and `good`, whose output is read only when an answer is waited for."""

    def __init__(self, folder: Path) -> None:
        write_project(folder, [*map(tiny_server, SERVERS)], [synced_plugin(name, DEFINITIONS) for name in SERVERS])
        self.log = folder / "log"
        self.notices: list[dict[str, Any]] = []
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "toolbelt", "serve", "all", "--yes"],
                cwd=folder,
                env={**os.environ, "TOOLBELT_STATE_DIR": str(folder / "state")},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.ask("initialize", params)
        self.send({"method": "notifications/initialized"})
        self.names = [tool["name"] for tool in self.ask("tools/list", {})["tools"]]

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.send({"id": 1, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message:
                return message["result"]
            self.notices.append(message)
        raise AssertionError(self.log.read_text())

    def call(self, server: str, tool: str, **arguments: Any) -> None:
        params = {"name": f"{server}__{tool}", "arguments": arguments, "_meta": {"progressToken": "p"}}
        assert not self.ask("tools/call", params).get("isError")

    def median_seconds(self, calls: int) -> float:
        times = []
        for _ in range(calls):
            started = time.perf_counter()
            self.call("good", "echo")
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(tmp_path)
    yield gateway
    gateway.close()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_M7_what_a_client_does_not_read_is_bounded_and_counted(gateway: Gateway) -> None:
    gateway.call("bad", "echo")
    before = gateway.megabytes()
    gateway.call("bad", "storm", seconds=60, bytes=20_000)
    time.sleep(2.5)
    assert gateway.megabytes() - before < 30
    gateway.notices.clear()
    gateway.call("bad", "progress", text="kept")
    kept = [notice["params"]["message"] for notice in gateway.notices if "progress" in notice["method"]]
    assert kept == ["kept"] * 3
    numbers = [notice["params"]["data"]["number"] for notice in gateway.notices if "message" in notice["method"]]
    assert numbers == sorted(numbers)
    deadline = time.monotonic() + 10
    while not (found := re.search(r"bad: ([\d,]+) notifications were dropped", gateway.log.read_text())):
        assert time.monotonic() < deadline
        gateway.call("good", "echo")
    gaps = [after - before - 1 for before, after in zip([-1, *numbers], numbers, strict=False)]
    assert sum(gaps) <= int(found[1].replace(",", "")) + 1_000  # of what the first call read, nothing is known


def test_M7_a_call_of_another_server_takes_no_more_than_twice_its_time_while_one_floods(gateway: Gateway) -> None:
    gateway.median_seconds(20)
    quiet = gateway.median_seconds(300)
    gateway.call("bad", "storm", seconds=60, bytes=200)
    gateway.notices.clear()
    loud = gateway.median_seconds(300)
    counted = f"{quiet * 1000:.2f} ms, {loud * 1000:.2f} ms during {len(gateway.notices):,} log messages"
    assert len(gateway.notices) > 50, counted
    assert loud < 2 * max(quiet, gateway.median_seconds(50)) + 0.002, counted  # a busy machine's own jitter


def test_M7_notices_of_one_server_wait_for_no_other_and_its_logs_are_dropped_first() -> None:
    sent: list[tuple[str, Any]] = []
    log: list[str] = []

    async def scenario() -> None:
        may_read = asyncio.Event()

        async def send(message: Any, _related: object) -> None:
            if message.params["server"] == "bad":
                await may_read.wait()
            sent.append((message.method, message.params))

        context = cast(Context, SimpleNamespace(request_id=1, session=SimpleNamespace(send_notification=send)))
        notices = Notices(log.append)
        for server in ("bad", "good"):
            notices.put(context, server, "notifications/progress", {"server": server}, related=True)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for number in range(MAX_NOTICES + 50):
            notices.put(context, "bad", "notifications/message", {"server": "bad", "n": number}, related=True)
        notices.put(context, "bad", "notifications/progress", {"server": "bad", "n": "last"}, related=True)
        async with asyncio.timeout(5):
            await notices.flush("good")
        assert sent == [("notifications/progress", {"server": "good"})]
        may_read.set()
        async with asyncio.timeout(5):
            await notices.flush("bad")
        await notices.close()

    asyncio.run(scenario())
    numbers = [params.get("n") for method, params in sent if params["server"] == "bad"]
    assert numbers[0] is None
    assert numbers[1:] == [*range(MAX_NOTICES + 50 - len(numbers[1:-1]), MAX_NOTICES + 50), "last"]
    assert [f"{MAX_NOTICES + 52 - len(numbers):,} notifications were dropped" in line for line in log] == [True]
