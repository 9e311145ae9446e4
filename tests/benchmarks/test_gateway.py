"""The gateway against a direct connection and FastMCP's proxy, before the same server over standard input and output.

The rival is installed by `make rivals`. Nothing is warmed up, and the number of rounds is fixed. In each round, each
contender works in turn, another one first each time, so that what else the machine does slows all of them. Processor
time is the main figure: on a machine with other work, it varies less than the time that passes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.benchmarks.test_eval_against_harnesses import RIVALS
from tests.mcp.gateway.test_fidelity import synced_definitions, write_project
from tests.servers.mcp_running import everything_stdio
from tests.servers.raw_mcp import RawClient, open_stdio

FASTMCP = RIVALS / "fastmcp" / "bin" / "python"
PROXY = Path(__file__).parent / "rivals" / "fastmcp_proxy.py"
MOST_TIMES_SERVER = 2.5
"""Processor time of the gateway for a call, as a multiple of what the server takes for it; it was 1.2 to 1.5."""
STARTS = 3
ROUNDS = 21
IN_TURN = 15
AT_ONCE = 30
Command = tuple[list[str], dict[str, str]]


@dataclass
class Measured:
    """One way to the server.

    Attributes:
        first_lists: Seconds from the start of a process to its first list of tools.
        calls: Seconds of each call, one after the other.
        batches: Seconds of each 30 calls at once.
        cpu: Seconds of processor time for each call, of the process that the client starts: not of the server behind.
        memory: Resident, in MB, of that process in the end.
    """

    first_lists: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)
    cpu: float = 0.0
    memory: float = 0.0

    @property
    def call(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.calls)

    @property
    def per_second(self) -> float:
        """Calls, of the median batch."""
        return AT_ONCE / statistics.median(self.batches)

    @property
    def first_list(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.first_lists)


async def call(client: RawClient) -> None:
    answer = await client.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    assert answer["result"]["structuredContent"] == {"sum": 3}


@contextlib.asynccontextmanager
async def start(command: Command, era: str, measured: Measured) -> AsyncIterator[RawClient]:
    began = time.perf_counter()
    async with open_stdio(command[0], era, command[1]) as client:
        assert len(await client.list_all("tools/list", "tools")) == len(synced_definitions("both"))
        measured.first_lists.append(time.perf_counter() - began)
        yield client


async def measure(commands: Mapping[str, Command], era: str) -> dict[str, Measured]:
    measured = {name: Measured() for name in commands}
    for _ in range(STARTS - 1):
        for name, command in commands.items():
            async with start(command, era, measured[name]):
                pass
    async with contextlib.AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(start(command, era, measured[name]))
            for name, command in commands.items()
        }
        before = {name: processor_seconds(client.pid) for name, client in clients.items()}
        for number in range(ROUNDS):
            first = number % len(clients)
            for name in [*clients][first:] + [*clients][:first]:
                await work(clients[name], measured[name])
        for name, client in clients.items():
            spent = processor_seconds(client.pid) - before[name]
            measured[name].cpu = spent / (ROUNDS * (IN_TURN + AT_ONCE))
            measured[name].memory = resident(client.pid)
    return measured


async def work(client: RawClient, measured: Measured) -> None:
    for _ in range(IN_TURN):
        began = time.perf_counter()
        await call(client)
        measured.calls.append(time.perf_counter() - began)
    began = time.perf_counter()
    await asyncio.gather(*(call(client) for _ in range(AT_ONCE)))
    measured.batches.append(time.perf_counter() - began)


def processor_seconds(pid: int) -> float:
    """What a process has used, in user and system mode; 0 where there is no /proc."""
    state = Path(f"/proc/{pid}/stat")
    if not state.exists():
        return 0.0
    fields = state.read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Resident memory of a process in MB; 0 where there is no /proc."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")), 0.0)


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_gateway(era: str, tmp_path: Path) -> None:
    server = everything_stdio()
    write_project(tmp_path, server, synced_definitions("both"))
    entry = server.entry
    serve = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes", "--config", str(tmp_path / "toolbelt.yaml")]
    commands = {
        "direct": ([entry["command"], *entry["args"]], entry["env"]),
        "gateway": (serve, {f"TOOLBELT_{kind}_DIR": str(tmp_path / kind) for kind in ("STATE", "CACHE")}),
    }
    if FASTMCP.exists():
        config = json.dumps({"mcpServers": {"everything": entry}})
        commands["fastmcp"] = ([str(FASTMCP), "-W", "ignore", str(PROXY), config], {"PATH": os.environ["PATH"]})
    measured = asyncio.run(asyncio.wait_for(measure(commands, era), 300))
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for name, each in measured.items():
        times = each.call / measured["direct"].call
        print(
            f"{era} {name}: call {each.call * 1e3:.2f} ms ({times:.1f} times direct), {each.per_second:.0f}/s at "
            f"{AT_ONCE} at once, {each.cpu * 1e3:.2f} ms of processor a call, first list {each.first_list:.1f} s, "
            f"{each.memory:.0f} MB"
        )
    ours, direct = measured["gateway"], measured["direct"]
    assert ours.cpu <= MOST_TIMES_SERVER * direct.cpu
    if (theirs := measured.get("fastmcp")) is not None:
        assert ours.cpu < theirs.cpu
        assert ours.call < theirs.call
        assert ours.per_second > theirs.per_second
        assert ours.first_list < theirs.first_list
        assert ours.memory < theirs.memory
