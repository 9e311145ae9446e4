"""`toolbelt loadout list` and `show`."""

from __future__ import annotations

import click

from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.project import ProjectOptions, project_options, source_options
from toolbelt.loadouts.inspection import Inspection, loadout_data
from toolbelt.loadouts.loadout_views import definition_view, list_view
from toolbelt.render.screen import notify, print_json, show_blocks


@click.command("list", epilog=examples("toolbelt loadout list --catalog assistant"))
@project_options
def list_loadouts(options: ProjectOptions, as_json: bool) -> None:
    """All loadouts: parent, what is active and discoverable, tokens, and the share of the catalog saved.

    Built-in loadouts that make nothing of the catalog active are left out; --json has them all.
    """
    project = options.open()
    project.refuse_errors()
    tokens = project.tokens()
    rows = [
        (
            loadout,
            Inspection(project.registry.resolve(loadout.name, project.catalog), tokens),
            project.origin(loadout),
        )
        for loadout in project.registry.get_all()
    ]
    written = [each.loadout for each in project.written]
    unmatched = [loadout.name for loadout, inspection, _ in rows if inspection.is_empty and loadout not in written]
    if not as_json:
        if shown := [row for row in rows if row[0].name not in unmatched]:
            show_blocks(list_view(shown))
        if unmatched:
            notify(
                f"left out, as they are for other tools and make nothing of catalog {project.catalog.name!r} active: "
                f"{', '.join(unmatched)} (built in). To make one for it: toolbelt loadout create"
            )
        return
    print_json(
        {
            "catalog": project.catalog.name,
            "tokenizer": tokens.tokenizer,
            "unmatched": unmatched,
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
@click.argument("name", shell_complete=complete_loadouts)
@source_options
def show(name: str, options: ProjectOptions, as_json: bool) -> None:
    """The definition of loadout NAME and of all it inherits from, root first."""
    project = options.open()
    loadout = project.registry.require_loadout(name)
    lineage = project.registry.trace_lineage(name)
    origins = [project.origin(loadout) for loadout in lineage.loadouts]
    if not as_json:
        show_blocks(definition_view(lineage.loadouts, lineage.broken, origins))
        return
    chain = [
        {"name": loadout.name, "origin": origin, **loadout_data(loadout)}
        for loadout, origin in zip(lineage.loadouts, origins, strict=True)
    ]
    print_json({"name": loadout.name, "lineage": list(lineage.names), "broken": lineage.broken, "chain": chain})
