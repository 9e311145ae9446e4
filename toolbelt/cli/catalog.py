"""`toolbelt catalog`: the tools there are."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.catalog_show:list_tools", "Every tool with its tokens, or the shipped catalogs."),
        "show": ("toolbelt.cli.catalog_show:show", "One plugin or tool in full."),
        "stats": ("toolbelt.cli.catalog_show:stats", "Numbers of plugins, tools and tokens."),
        "search": ("toolbelt.cli.catalog_search:search", "The tools that words or a pattern find."),
        "import": (
            "toolbelt.cli.catalog_import:import_command",
            "A catalog from files and from servers that you have.",
        ),
        "sync": ("toolbelt.cli.catalog_sync:sync", "Ask MCP servers for their tools again."),
        "lint": ("toolbelt.cli.catalog_lint:lint", "Check the tools for mistakes."),
    },
    epilog=examples("toolbelt catalog stats"),
)
def catalog() -> None:
    """The tools there are: list, search, import, sync, lint."""
