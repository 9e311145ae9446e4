"""`toolbelt mcp`: MCP servers and clients."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "check": (
            "toolbelt.cli.mcp_check:check",
            "Whether servers still have the tools that were synced, and what a client refuses.",
        ),
        "config": (
            "toolbelt.cli.mcp_config:config",
            "What to write into the file of a client for the gateway.",
        ),
    },
    epilog=examples("toolbelt mcp config developer --client cursor"),
)
def mcp() -> None:
    """MCP servers and clients: what to write into a client's file."""
