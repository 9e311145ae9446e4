"""`toolbelt loadout export`."""

from __future__ import annotations

import click

from toolbelt.catalog.definitions import DEFINITION_FORMATS, export_definitions
from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts.loadout import AUTO
from toolbelt.render.screen import notify, print_json
from toolbelt.stores.files import write_text
from toolbelt.text import json_text, plural


@click.command(epilog=examples("toolbelt loadout export developer --format openai > tools.json"))
@click.argument("name", required=False, shell_complete=complete_loadouts)
@option(
    "--format",
    "form",
    type=Choice(list(DEFINITION_FORMATS)),
    default="openai",
    show_default=True,
    envvar="TOOLBELT_EXPORT_FORMAT",
    help="Whose API.",
)
@option("--model", "-m", "models", multiple=True, metavar="M", help="With `auto`: choose by this model's window.")
@option("--output", "-o", metavar="FILE", help="Write here, all or nothing, instead of to standard output.")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@source_options
def export(
    name: str | None,
    models: tuple[str, ...],
    form: str,
    output: str | None,
    force: bool,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """The definitions of the active tools of loadout NAME, as an agent passes them to the API; always JSON.

    NAME may be `auto` with a --model; without NAME, the whole catalog.
    Names a provider would refuse, or that several tools have, are exported under their wire names.
    """
    if models and (name is None or name.casefold() != AUTO):
        raise ToolbeltError("--model goes with NAME 'auto', which chooses by it.")
    project = options.open()
    tools = project.resolve(name, models).active_tools
    if not tools:
        notify(f"nothing of catalog {project.catalog.name!r} is active, so nothing is exported.", "warning")
    definitions = export_definitions(tools, project.catalog.wire_names, form)
    if output is None:
        print_json(definitions)
        return
    write_text(output, json_text(definitions) + "\n", overwrite=force)
    notify(f"wrote {plural(len(tools), 'tool')} to {output}")
    if as_json:
        print_json({"output": output, "format": form, "tools": len(tools)})
