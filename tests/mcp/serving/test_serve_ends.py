"""However a gateway ends, nothing of it remains (rule M7)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.gateways import gateway_command, write_project

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="finds processes in /proc")


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def _start(folder: Path) -> subprocess.Popen[bytes]:
    """A gateway with a call under way."""
    command = gateway_command(folder)
    process = subprocess.Popen(
        [command.command, *command.args],
        cwd=folder,
        env={**os.environ, **(command.env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _send(
        process,
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
    )
    assert json.loads(_read_line(process))["id"] == 1
    _send(process, {"method": "notifications/initialized"})
    _send(process, {"id": 2, "method": "tools/list"})
    assert len(json.loads(_read_line(process))["result"]["tools"]) == 3
    _send(process, {"id": 3, "method": "tools/call", "params": {"name": "wait", "arguments": {}}})
    return process


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def _read_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize(("end", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("end of input", 0), ("SIGKILL", -9)])
def test_M7_nothing_remains_however_the_gateway_ends(end: str, code: int, tmp_path: Path) -> None:
    write_project(tmp_path)
    process = _start(tmp_path)
    time.sleep(0.2)
    servers = _children(process.pid)
    assert servers
    began = time.monotonic()
    if end == "end of input":
        assert process.stdin is not None
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, end))
    assert process.wait(timeout=15) == code
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    while any(Path(f"/proc/{pid}").exists() for pid in servers) and time.monotonic() - began < 15:
        time.sleep(0.05)
    assert [pid for pid in servers if Path(f"/proc/{pid}").exists()] == []
