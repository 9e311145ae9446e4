"""`toolbelt loadout export`."""

from __future__ import annotations

import click

from toolbelt.catalog.definitions import DEFINITION_FORMATS, export_definitions
from toolbelt.cli.options import option, workspace_options
from toolbelt.cli.workspace import open_workspace
from toolbelt.console.screen import print_json, tell
from toolbelt.console.text import json_text, plural
from toolbelt.stores.files import write_text


@click.command(epilog="Example: toolbelt loadout export developer --format openai > tools.json")
@click.argument("name")
@option(
    "--format",
    "form",
    type=click.Choice(list(DEFINITION_FORMATS)),
    default="openai",
    show_default=True,
    envvar="TOOLBELT_EXPORT_FORMAT",
    help="Whose API.",
)
@option("--output", "-o", metavar="FILE", help="Write here, all or nothing, instead of to standard output.")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@workspace_options
def export(
    name: str,
    form: str,
    output: str | None,
    force: bool,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> None:
    """The definitions of the active tools of loadout NAME, as an agent passes them to the API; always JSON.

    Names a provider would refuse, or that several tools bear, are exported under their wire names.
    """
    workspace = open_workspace(catalog, config, tokenizer)
    tools = workspace.resolve(name).active_tools
    if not tools:
        tell(f"loadout {name!r} matches nothing of catalog {workspace.catalog.name!r}.", "warning")
    definitions = export_definitions(tools, workspace.catalog.wire_names, form)
    if output is None:
        print_json(definitions)
        return
    write_text(output, json_text(definitions) + "\n", overwrite=force)
    tell(f"wrote {plural(len(tools), 'tool')} to {output}")
    if as_json:
        print_json({"output": output, "format": form, "tools": len(tools)})
