"""A project with synced servers, and a client of the gateway that serves it, as processes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.small import small_server, synced_catalog
from toolbelt.catalog import Plugin
from toolbelt.catalog.files import format_catalog
from toolbelt.servers.spec import ServerSpec

SYNCED = "all"
"""A loadout with every plugin."""


def write_project(
    folder: Path,
    servers: Sequence[ServerSpec] = (),
    plugins: Sequence[Plugin] = (),
    loadouts: Mapping[str, Any] | None = None,
    **sections: Any,
) -> None:
    """A `toolbelt.yaml` and a catalog; by default of the small server, with a loadout `all` of all plugins.

    `sections` are others of the file, such as `agents`.
    """
    catalog = synced_catalog(*plugins)
    (folder / "catalog.yaml").write_text(format_catalog(catalog, "yaml"), encoding="utf-8")
    every = {"plugins": [plugin.name for plugin in catalog.plugins]}
    document = {
        "catalog": "catalog.yaml",
        "servers": {
            spec.name: {"command": spec.command, "args": [*spec.args], "env": {**spec.env}}
            for spec in servers or (small_server(),)
        },
        "loadouts": {SYNCED: every, **(loadouts or {})},
        **sections,
    }
    (folder / "toolbelt.yaml").write_text(json.dumps(document), encoding="utf-8")


def gateway_command(folder: Path, loadout: str = SYNCED, *options: str) -> StdioServerParameters:
    """How a client starts the gateway of a project."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolbelt", "serve", loadout, "--yes", *options],
        cwd=folder,
        env={
            "TOOLBELT_STATE_DIR": str(folder / "state"),
            "TOOLBELT_CACHE_DIR": os.environ["TOOLBELT_CACHE_DIR"],
            "PATH": os.environ["PATH"],
        },
    )


@asynccontextmanager
async def gateway_client(
    folder: Path,
    *options: str,
    mode: str = "auto",
    loadout: str = SYNCED,
    log: TextIO | None = None,
    **callbacks: Any,
) -> AsyncIterator[Client]:
    """The SDK's client of a gateway, over standard input and output."""
    transport = stdio_client(gateway_command(folder, loadout, *options), errlog=log or sys.stderr)
    async with Client(transport, mode=mode, cache=None, read_timeout_seconds=30, **callbacks) as client:
        yield client
