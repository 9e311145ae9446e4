"""`toolbelt loadout list` and `show`."""

from __future__ import annotations

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import source_options, workspace_options
from toolbelt.command.project import open_workspace
from toolbelt.console.loadout_views import definition_view, list_view
from toolbelt.console.screen import make_screen, print_json, show_view
from toolbelt.loadouts.inspection import Inspection, loadout_data


@click.command("list", epilog=examples("toolbelt loadout list --catalog assistant"))
@workspace_options
def list_loadouts(catalog: str | None, config: str | None, tokenizer: str | None, as_json: bool) -> None:
    """All loadouts: parent, what is active and discoverable, tokens, and the share of the catalog saved."""
    workspace = open_workspace(catalog, config, tokenizer)
    workspace.refuse_errors()
    tokens = workspace.tokens()
    rows = [
        (
            loadout,
            Inspection(workspace.registry.resolve(loadout.name, workspace.catalog), tokens),
            workspace.origin(loadout),
        )
        for loadout in workspace.registry.get_all()
    ]
    if not as_json:
        screen = make_screen()
        show_view(list_view(rows, screen), screen)
        return
    print_json(
        {
            "catalog": workspace.catalog.name,
            "tokenizer": tokens.tokenizer,
            "loadouts": [
                {
                    "name": loadout.name,
                    "parent": loadout.parent_loadout_name,
                    "description": loadout.description,
                    "origin": origin,
                    "active_plugins": len(inspection.resolution.active_plugins),
                    "active_tools": len(inspection.resolution.active_tools),
                    "discoverable_plugins": len(inspection.resolution.discoverable_plugins),
                    "tokens": inspection.active_tokens,
                    "saved_fraction": inspection.saved_fraction,
                }
                for loadout, inspection, origin in rows
            ],
        }
    )


@click.command(epilog=examples("toolbelt loadout show developer"))
@click.argument("name")
@source_options
def show(name: str, catalog: str | None, config: str | None, as_json: bool) -> None:
    """The definition of loadout NAME and of all it inherits from, root first."""
    workspace = open_workspace(catalog, config)
    found = workspace.registry.require_loadout(name)
    lineage = workspace.registry.trace_lineage(name)
    origins = [workspace.origin(loadout) for loadout in lineage.loadouts]
    if not as_json:
        show_view(definition_view(lineage.loadouts, lineage.broken, origins))
        return
    chain = [
        {"name": loadout.name, "origin": origin, **loadout_data(loadout)}
        for loadout, origin in zip(lineage.loadouts, origins, strict=True)
    ]
    print_json({"name": found.name, "lineage": list(lineage.names), "broken": lineage.broken, "chain": chain})
