"""`toolbelt loadout`: what an agent sees, why, how much it costs and where it fits."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.loadout_list:list_loadouts", "All loadouts, with what each makes of the catalog."),
        "show": ("toolbelt.cli.loadout_list:show", "A loadout's definition and lineage."),
        "inspect": ("toolbelt.cli.loadout_inspect:inspect", "What an agent gets, why, what it costs, where it fits."),
        "why": ("toolbelt.cli.loadout_inspect:why", "Why a plugin or tool is there, or is not."),
        "diff": ("toolbelt.cli.loadout_diff:diff", "What changes between two loadouts, or two versions of a file."),
        "lint": ("toolbelt.cli.loadout_lint:lint", "Check your loadouts for mistakes."),
        "export": ("toolbelt.cli.loadout_export:export", "The tool definitions to pass to an API."),
        "create": ("toolbelt.cli.loadout_create:create", "Write a new loadout."),
    },
    epilog=examples("toolbelt loadout inspect developer --model gpt-4o"),
)
def loadout() -> None:
    """Which tools an agent sees, why, and what they cost."""
