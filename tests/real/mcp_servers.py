"""The real servers and clients that `make servers` installs into build/mcp."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TOOLBELT_TEST_MCP") or ROOT / "build" / "mcp")
"""With `node_modules` of npm and `python`, a virtual environment."""
NODE = FOLDER / "node_modules" / ".bin"
PYTHON = FOLDER / "python" / "bin"
EVERYTHING = NODE / "mcp-server-everything"
INSPECTOR = NODE / "mcp-inspector"


def find_servers(folder: Path) -> dict[str, dict[str, Any]]:
    """Entries of `mcpServers` for those that are installed, by name; files and a Git repository are in `folder`."""
    commands: Mapping[str, tuple[Path, tuple[str, ...]]] = {
        "filesystem": (NODE / "mcp-server-filesystem", (str(folder),)),
        "everything": (EVERYTHING, ("stdio",)),
        "azure": (NODE / "azmcp", ("server", "start", "--mode", "all")),
        "git": (PYTHON / "mcp-server-git", ("--repository", str(folder))),
        "time": (PYTHON / "mcp-server-time", ()),
        "fetch": (PYTHON / "mcp-server-fetch", ()),
    }
    return {
        name: {"command": str(program), "args": list(arguments)}
        for name, (program, arguments) in commands.items()
        if program.exists()
    }


@contextmanager
def run_everything(transport: str) -> Iterator[dict[str, Any]]:
    """The entry of the everything server over `stdio`, `http` or `sse`; the latter two are started."""
    if transport == "stdio":
        yield {"command": str(EVERYTHING), "args": ["stdio"]}
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mode, path = {"http": ("streamableHttp", "mcp"), "sse": ("sse", "sse")}[transport]
    environment = os.environ | {"PORT": str(port)}
    with subprocess.Popen(
        [str(EVERYTHING), mode], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port)
            yield {"type": transport, "url": f"http://127.0.0.1:{port}/{path}"}
        finally:
            process.kill()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
