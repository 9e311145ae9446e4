"""Starting `mcp_everything` for a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tests.servers.mcp_everything"


@dataclass(frozen=True)
class Everything:
    """How a client reaches the server.

    Attributes:
        entry: Of a client's `mcpServers`: `command`, `args`, `cwd`, `env` or `type` and `url`.
        journal: The file of events, if there is one.
        pid: Of the process that listens; `None` for stdio, where each client starts its own.
    """

    entry: dict[str, Any]
    journal: Path | None = None
    pid: int | None = None

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What happened so far, in every process; only of one kind if that is given."""
        return read_journal(self.journal, kind)


def read_journal(journal: Path | None, kind: str | None = None) -> list[dict[str, Any]]:
    """The events of a journal, oldest first."""
    if journal is None or not journal.exists():
        return []
    events = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return [event for event in events if kind in (None, event["event"])]


def everything_stdio(*options: str, journal: Path | None = None) -> Everything:
    """The server as a command; nothing is started.

    Args:
        options: Of `mcp_everything`'s command line.
        journal: A file for events.
    """
    args = ["-m", MODULE, *options, *_journal(journal)]
    # `PYTHONPATH` and not `cwd`: clients differ in what they do with a folder.
    entry = {"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}}
    return Everything(entry, journal)


@contextmanager
def run_everything(transport: str, *options: str, journal: Path | None = None) -> Iterator[Everything]:
    """The server, running; for `stdio` only the command.

    Args:
        transport: `stdio`, `http` or `sse`.
        options: Of `mcp_everything`'s command line.
        journal: A file for events.
    """
    if transport == "stdio":
        yield everything_stdio(*options, journal=journal)
        return
    command = [sys.executable, "-m", MODULE, "--transport", transport, *options, *_journal(journal)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            assert port.isdigit(), f"the server did not start: {port!r}"
            path = "sse" if transport == "sse" else "mcp"
            entry = {"type": transport, "url": f"http://127.0.0.1:{port}/{path}"}
            yield Everything(entry, journal, process.pid)
        finally:
            process.kill()


def _journal(journal: Path | None) -> list[str]:
    return [] if journal is None else ["--journal", str(journal)]


def write_client_config(path: Path, **servers: Everything) -> Path:
    """Write an `mcpServers` file with these servers."""
    entries = {name: server.entry for name, server in servers.items()}
    path.write_text(json.dumps({"mcpServers": entries}, ensure_ascii=False, indent=2), encoding="utf-8")
    return path
