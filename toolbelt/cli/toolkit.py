"""`toolbelt toolkit`: bundles of tools granted by one switch, or loaded when needed."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.toolkit_show:list_toolkits", "All toolkits, with what each makes of the catalog."),
        "inspect": ("toolbelt.cli.toolkit_show:inspect", "One toolkit: its tools, prompt text, rules, and who has it."),
        "resolve": ("toolbelt.cli.toolkit_resolve:resolve", "What a configuration of tools switches on, and why."),
    },
    epilog=examples("toolbelt toolkit list", "toolbelt toolkit resolve --tools-config agent.json"),
)
def toolkit() -> None:
    """Bundles of tools, of `toolkits` in toolbelt.yaml: granted by one switch, or loaded by an agent when needed."""
