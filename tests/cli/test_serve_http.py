"""`toolbelt serve --http` (rules M7, M8): the options, and a real gateway process with its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.conftest import Toolbelt
from tests.mcp.gateways import write_project
from tests.mcp.small import synced_plugin
from tests.mcp.tiny import tiny_server
from tests.servers.mcp_tiny import DEFINITIONS
from toolbelt.mcp.upstreams.processes import has_processes

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture
def served(project: Path) -> Path:
    """A project with the tiny server and a loadout `all`."""
    write_project(project, [tiny_server("tiny")], [synced_plugin("tiny", DEFINITIONS)])
    return project


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--no-token"], "--http"),
        (["--http", "8000"], "HOST:PORT"),
        (["--http", "192.0.2.1:8000"], "--tls-cert"),
        (["--http", "192.0.2.1:8000", "--behind-proxy", "--no-token"], "loopback"),
        (["--http", "0.0.0.0:0", "--behind-proxy"], "--allow-host"),
        (["--http", "127.0.0.1:0", "--token-file", "missing"], "missing"),
        (["--http", "127.0.0.1:0", "--share", "tin"], "tiny"),
    ],
)
def test_M8_options_that_do_not_fit_are_refused_before_anything_starts(
    toolbelt: Toolbelt, served: Path, options: list[str], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(served / "state"))
    ran = toolbelt("serve", "all", "--yes", *options)
    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err


class Gateway:
    """A gateway process."""

    def __init__(self, process: subprocess.Popen[str], url: str, token: str, http: httpx2.Client) -> None:
        self.process, self.url = process, url
        self.headers = {**JSON, "Authorization": f"Bearer {token}"}
        self._http = http

    def post(self, method: str, params: Any = None, **headers: str) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self._http.post(self.url, json=body, headers={**self.headers, **headers})

    def open_session(self) -> str:
        return str(self.post("initialize", PARAMS).headers["mcp-session-id"])

    def call(self, session: str, tool: str) -> str:
        response = self.post("tools/call", {"name": tool, "arguments": {}}, **{"Mcp-Session-Id": session})
        (data,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
        return str(json.loads(data[6:])["result"]["content"][0]["text"])

    def call_in_vain(self, session: str, tool: str) -> None:
        """A call that ends with the gateway."""
        with contextlib.suppress(httpx2.HTTPError, ValueError, KeyError):
            self.call(session, tool)


@contextmanager
def gateway(folder: Path, *options: str) -> Iterator[Gateway]:
    command = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes", "--http", "127.0.0.1:0", *options]
    environment = {**os.environ, "TOOLBELT_STATE_DIR": str(folder / "state")}
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = [process.stderr.readline() for _ in range(2)]
        token = (folder / "state" / "http-token").read_text().strip()
        assert token not in "".join(lines)
        with httpx2.Client(verify=False, timeout=30) as http:
            yield Gateway(process, lines[0].split()[-1], token, http)
    finally:
        process.kill()
        process.wait(10)
        process.stderr.close()


@pytest.mark.parametrize(
    ("number", "code", "tool"),
    [
        pytest.param(signal.SIGTERM, 143, "hang", id="terminated-in-a-call"),
        pytest.param(signal.SIGINT, 130, "echo", id="interrupted"),
    ],
)
def test_M7_no_process_remains_after_a_signal(served: Path, number: signal.Signals, code: int, tool: str) -> None:
    with gateway(served) as running:
        session = running.open_session()
        pid = int(running.call(session, "pid"))
        running.call(session, "child")
        call = threading.Thread(target=running.call_in_vain, args=(session, tool), daemon=True)
        call.start()
        time.sleep(0.3)
        assert has_processes(pid)
        running.process.send_signal(number)
        started = time.monotonic()
        assert running.process.wait(20) == code
        assert time.monotonic() - started < 15
        assert not has_processes(pid)
        call.join(10)
        assert not call.is_alive()
