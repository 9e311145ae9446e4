"""Servers as processes (rule M7): real ones, small enough to start at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import JSONRPCNotification, JSONRPCRequest

from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.processes import (
    ProcessLimits,
    ReadStream,
    ServerEnd,
    ServerProcess,
    WriteStream,
    has_processes,
)

PING = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping"))
ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}'
QUICK = ProcessLimits(message_bytes=1 << 20, exit_seconds=0.2, terminate_seconds=0.5, log_lines=5)


class Ran:
    """A server in the shell, what happened to it, and how long its end took in seconds."""

    def __init__(self, script: str) -> None:
        self.log: list[str] = []
        self.received: list[object] = []
        self.end_seconds = 0.0
        self.server = ServerProcess(
            ["/bin/sh", "-c", script], environment={"PATH": os.environ["PATH"]}, log=self.log.append, limits=QUICK
        )

    def during(self, use: Callable[[ReadStream, WriteStream], Awaitable[None]]) -> Ran:
        async def run() -> None:
            async with self.server.connect() as (read, write):
                with anyio.fail_after(10):
                    await use(read, write)
                started = time.monotonic()
            self.end_seconds = time.monotonic() - started

        anyio.run(run)
        return self

    async def collect(self, read: ReadStream, write: WriteStream) -> None:
        """All that it sends until its connection closes."""
        async for item in read:
            assert isinstance(item, SessionMessage)
            self.received.append(item.message)

    def run_to_its_end(self) -> Ran:
        return self.during(self.collect)


async def wait_for(log: list[str], text: str) -> None:
    while not any(text in line for line in log):
        await anyio.sleep(0.01)


def test_a_message_goes_there_and_back_and_closing_ends_the_server() -> None:
    async def use(read: ReadStream, write: WriteStream) -> None:
        await write.send(PING)
        ran.received.append(await read.receive())

    ran = Ran(f"read line; echo '{ANSWER}'; read line; exit 0")
    ran.during(use)
    assert len(ran.received) == 1
    assert (ran.server.end, ran.server.exit_code) == (ServerEnd.CLOSED, 0)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("sleep 60 & read line", id="child-of-a-server-that-ends-well"),
        pytest.param("trap '' TERM; sleep 60 & echo up >&2; while :; do sleep 1; done", id="hung-and-ignores-term"),
        pytest.param("(sleep 60 & sleep 60) & echo up >&2; sleep 60", id="grandchildren"),
        pytest.param("set -m; sleep 60 & set +m; echo up >&2; sleep 60", id="group-of-its-own"),
        pytest.param("sleep 60 & exit 3", id="child-holds-the-pipes-of-a-dead-server"),
    ],
)
def test_M7_nothing_of_a_server_remains(script: str) -> None:
    async def use(read: ReadStream, write: WriteStream) -> None:
        if "echo up" in script:
            await wait_for(ran.log, "up")
        else:
            await anyio.sleep(0.05)

    ran = Ran(script)
    ran.during(use)
    assert ran.server.pid is not None
    assert not has_processes(ran.server.pid)
    assert ran.end_seconds < QUICK.exit_seconds + 2 * QUICK.terminate_seconds + 2


def test_M7_a_server_that_dies_closes_its_connection_even_if_a_child_holds_its_pipes() -> None:
    ran = Ran("sleep 60 & exit 3").run_to_its_end()
    assert (ran.server.end, ran.server.exit_code) == (ServerEnd.EXITED, 3)


def test_M7_what_is_no_message_is_logged_and_skipped_and_escaped() -> None:
    ran = Ran(f"printf 'Welcome \\033[31m!\\n\\n{{}}\\n'; echo '{ANSWER}'").run_to_its_end()
    assert len(ran.received) == 1
    assert [line for line in ran.log if "Welcome" in line and "\x1b" not in line and "\\x1b" in line]


def test_M7_a_message_over_the_limit_ends_its_server() -> None:
    ran = Ran(f"head -c {4 << 20} /dev/zero | tr '\\0' x; sleep 60").run_to_its_end()
    assert (ran.server.end, ran.received) == (ServerEnd.TOO_LARGE, [])
    assert ran.end_seconds < QUICK.terminate_seconds


def test_M7_a_flood_on_standard_error_is_cut_in_the_log_and_delays_no_answer() -> None:
    async def use(read: ReadStream, write: WriteStream) -> None:
        await wait_for(ran.log, "y")
        started = time.monotonic()
        await write.send(PING)
        await read.receive()
        waited.append(time.monotonic() - started)

    waited: list[float] = []
    ran = Ran(f"yes >&2 & read line; echo '{ANSWER}'; read line")
    ran.during(use)
    assert len(ran.log) <= QUICK.log_lines + 1
    assert waited[0] < 2


def test_M7_a_line_without_end_on_standard_error_takes_no_memory() -> None:
    ran = Ran(f"head -c {8 << 20} /dev/zero | tr '\\0' x >&2").run_to_its_end()
    assert sum(map(len, ran.log)) < 10_000


def test_M7_a_server_that_reads_nothing_holds_up_only_who_writes_to_it() -> None:
    async def use(read: ReadStream, write: WriteStream) -> None:
        big = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="x", params={"text": "y" * (1 << 20)}))
        with anyio.move_on_after(0.2) as scope:
            await write.send(big)
            await write.send(big)
        assert scope.cancelled_caught

    ran = Ran("sleep 60")
    ran.during(use)
    assert ran.server.pid is not None
    assert not has_processes(ran.server.pid)


def test_M7_forced_to_end_nothing_that_terminates_is_waited_for() -> None:
    async def use(read: ReadStream, write: WriteStream) -> None:
        ran.server.terminate()

    ran = Ran("trap 'exit 0' TERM; echo up >&2; sleep 60")
    ran.during(use)
    assert ran.end_seconds < QUICK.exit_seconds + QUICK.terminate_seconds


def test_a_program_that_is_not_there_is_an_error() -> None:
    async def run() -> None:
        server = ServerProcess(["no-such-program"], environment={}, log=lambda line: None)
        async with server.connect():
            pass

    with pytest.raises(FileNotFoundError):
        anyio.run(run)


GATEWAY = """
import anyio, os, sys
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.mcp.upstreams.processes import ServerProcess

async def main():
    with OrphanWatch() as orphans:
        script = "trap '' TERM; sleep 60 & echo up >&2; while :; do sleep 1; done"
        started = anyio.Event()
        server = ServerProcess(["/bin/sh", "-c", script], environment={"PATH": os.environ["PATH"]},
                               log=lambda line: started.set(), orphans=orphans)
        async with server.connect():
            await started.wait()
            print(server.pid, flush=True)
            await anyio.sleep(60)

anyio.run(main)
"""


def test_M7_a_hung_server_ends_when_its_gateway_is_killed(tmp_path: Path) -> None:
    gateway = subprocess.Popen([sys.executable, "-c", GATEWAY], stdout=subprocess.PIPE, text=True)
    assert gateway.stdout is not None
    try:
        pid = int(gateway.stdout.readline())
        assert has_processes(pid)
    finally:
        gateway.send_signal(signal.SIGKILL)
        gateway.wait(10)
        gateway.stdout.close()
    deadline = time.monotonic() + 10
    while has_processes(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not has_processes(pid)


def test_the_watch_itself_ends_with_nothing_to_end() -> None:
    with OrphanWatch() as orphans:
        orphans.add(2**22 + 1)  # no process has this id
        orphans.remove(2**22 + 1)
        shell = orphans._shell
        assert shell is not None
    assert shell.wait(5) == 0
