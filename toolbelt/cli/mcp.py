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
        "login": ("toolbelt.cli.mcp_login:login", "Log in at a server that asks for it (OAuth)."),
        "logout": ("toolbelt.cli.mcp_login:logout", "Forget a login."),
    },
    epilog=examples("toolbelt mcp config developer --client cursor", "toolbelt mcp login github"),
)
def mcp() -> None:
    """MCP servers and clients: what to write into a client's file, logins."""
