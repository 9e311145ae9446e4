"""`toolbelt mcp`: MCP servers and clients."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "login": ("toolbelt.cli.mcp_login:login", "Log in at a server that asks for it (OAuth)."),
        "logout": ("toolbelt.cli.mcp_login:logout", "Forget a login."),
    },
    epilog=examples("toolbelt mcp login github"),
)
def mcp() -> None:
    """MCP servers and clients: logins."""
