"""The tiny server: how it is started, and what a gateway offers of it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.mcp.small import synced_catalog, synced_plugin
from tests.servers.mcp_tiny import DEFINITIONS
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.registry import ToolLoadoutRegistry
from toolbelt.mcp.configs.servers import ServerSpec, Transport
from toolbelt.mcp.gateway.surface import Surface, make_surface

SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "mcp_tiny.py"


def tiny_server(name: str, *arguments: str) -> ServerSpec:
    """The server as a process; without site-packages, it starts in 20 ms."""
    return ServerSpec(name, Transport.STDIO, command=sys.executable, args=("-S", "-E", str(SCRIPT), *arguments))


def tiny_surface(*names: str) -> Surface:
    """All tools of tiny servers of those names; with several, each name is `SERVER_TOOL` where it must be."""
    catalog = synced_catalog(*(synced_plugin(name, DEFINITIONS) for name in names))
    registry = ToolLoadoutRegistry()
    registry.register(ToolLoadout("all", default_plugins=frozenset(names)))
    return make_surface(registry.resolve("all", catalog))
