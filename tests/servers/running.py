"""The loopback server, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class OpenAIServer:
    """A running server.

    Attributes:
        port: On 127.0.0.1.
        pid: Of its process.
    """

    port: int
    pid: int

    @property
    def url(self) -> str:
        """What `--api-base` is given."""
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self) -> None:
        """Forget what happened."""
        self._control("reset")

    def count(self, model: str) -> int:
        """Requests of a model since the last reset."""
        return int(self._control("requests")["counts"].get(model, 0))

    def requests(self, model: str) -> list[dict[str, Any]]:
        """The last requests of a model: `raw` as it came, `body` of it, `headers`."""
        kept = [request for request in self._control("requests")["requests"] if request["model"] == model]
        return [{**request, "body": json.loads(request["raw"])} for request in kept]

    def connections(self) -> int:
        """Connections there were."""
        return int(self._control("requests")["connections"])

    def _control(self, name: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/control/{name}", timeout=10) as answer:
            data: dict[str, Any] = json.load(answer)
            return data


@contextmanager
def run_openai_server() -> Iterator[OpenAIServer]:
    """Start one, and end it."""
    command = [sys.executable, "-m", "tests.servers.openai_like", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield OpenAIServer(int(process.stdout.readline()), process.pid)
        finally:
            process.kill()


@pytest.fixture(scope="session")
def openai_server() -> Iterator[OpenAIServer]:
    """One server for all tests: take a model name of your own, `pick-first@this-test`."""
    with run_openai_server() as server:
        yield server
