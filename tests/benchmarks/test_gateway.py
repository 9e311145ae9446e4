"""The gateway against a direct connection and FastMCP's proxy, before the same server over standard input and output.

The rival is installed by `make rivals`. Calls are made in turn, so that what else the machine does slows all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.benchmarks.test_eval_against_harnesses import RIVALS
from tests.mcp.test_fidelity import synced_definitions, write_project
from tests.servers.mcp_running import everything_stdio
from tests.servers.raw_mcp import RawClient, open_stdio

FASTMCP = RIVALS / "fastmcp" / "bin" / "python"
PROXY = Path(__file__).parent / "rivals" / "fastmcp_proxy.py"
MOST_TIMES_DIRECT = 4.0
AT_ONCE = 30


@dataclass
class Contender:
    """One way to the server, measured.

    Attributes:
        first_list: Seconds from the start of the process to its first list of tools.
        calls: Seconds of each call, one after the other.
        batches: Seconds of 30 calls at once, each time.
        memory: Resident, in MB, of the process that the client starts.
    """

    client: RawClient
    first_list: float
    calls: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)
    memory: float = 0.0

    @property
    def call(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.calls)

    @property
    def per_second(self) -> float:
        """Of the fastest batch."""
        return AT_ONCE / min(self.batches)


async def call(client: RawClient) -> None:
    answer = await client.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    assert answer["result"]["structuredContent"] == {"sum": 3}


@contextlib.asynccontextmanager
async def start(command: Sequence[str], environment: Mapping[str, str], era: str) -> AsyncIterator[Contender]:
    began = time.perf_counter()
    async with open_stdio(command, era, environment) as client:
        assert len(await client.list_all("tools/list", "tools")) == len(synced_definitions("both"))
        yield Contender(client, time.perf_counter() - began)


async def open_once(command: tuple[list[str], dict[str, str]]) -> None:
    """The first session after a sync counts tokens, and loads a tokenizer for it; later ones find the counts."""
    async with start(*command, "2025"):
        pass


async def measure(commands: Mapping[str, tuple[list[str], dict[str, str]]], era: str) -> dict[str, Contender]:
    async with contextlib.AsyncExitStack() as stack:
        contenders = {name: await stack.enter_async_context(start(*command, era)) for name, command in commands.items()}
        for number in range(330):
            for contender in contenders.values():
                began = time.perf_counter()
                await call(contender.client)
                if number >= 30:  # the first ones load what is loaded when needed
                    contender.calls.append(time.perf_counter() - began)
        for number in range(40):
            if number >= 8 and is_ahead(contenders):
                break
            for contender in contenders.values():
                began = time.perf_counter()
                await asyncio.gather(*(call(contender.client) for _ in range(AT_ONCE)))
                contender.batches.append(time.perf_counter() - began)
        for contender in contenders.values():
            contender.memory = resident(contender.client.pid)
    return contenders


def is_ahead(contenders: Mapping[str, Contender]) -> bool:
    """Whether further batches would change nothing: what else the machine does only ever adds to the fastest."""
    rival = contenders.get("fastmcp")
    return rival is None or contenders["gateway"].per_second > rival.per_second


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
        "gateway": (serve, {"TOOLBELT_STATE_DIR": str(tmp_path / "state")}),
    }
    if FASTMCP.exists():
        config = json.dumps({"mcpServers": {"everything": entry}})
        commands["fastmcp"] = ([str(FASTMCP), "-W", "ignore", str(PROXY), config], {"PATH": os.environ["PATH"]})
    asyncio.run(asyncio.wait_for(open_once(commands["gateway"]), 60))
    measured = asyncio.run(asyncio.wait_for(measure(commands, era), 300))
    for name, each in measured.items():
        times = each.call / measured["direct"].call
        print(
            f"{era} {name}: call {each.call * 1e3:.2f} ms ({times:.1f} times direct), {each.per_second:.0f}/s at "
            f"{AT_ONCE} at once, first list {each.first_list:.1f} s, {each.memory:.0f} MB"
        )
    ours, direct = measured["gateway"], measured["direct"]
    assert ours.call <= MOST_TIMES_DIRECT * direct.call
    if (theirs := measured.get("fastmcp")) is not None:
        assert ours.call < theirs.call
        assert ours.per_second > theirs.per_second
        assert ours.first_list < theirs.first_list
        assert ours.memory < theirs.memory
