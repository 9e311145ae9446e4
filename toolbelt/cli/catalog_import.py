"""`toolbelt catalog import`."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from toolbelt.catalog import Catalog
from toolbelt.catalog.files import catalog_data
from toolbelt.catalog.json_lines import Grouping
from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.console.screen import notify, print_json
from toolbelt.errors import ToolbeltError
from toolbelt.importers import import_catalog
from toolbelt.importers.formats import FORMATS
from toolbelt.sources import decode, read_text
from toolbelt.stores.catalogs import write_catalog
from toolbelt.text import plural


@click.command(
    "import",
    epilog=examples(
        "toolbelt catalog import tools.json -o catalog.yaml",
        "curl -s URL | toolbelt catalog import - --name payments -o payments.json",
    ),
)
@click.argument("source")
@option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    envvar="TOOLBELT_IMPORT_FORMAT",
    help="What SOURCE is.  [default: found from its content]",
)
@option(
    "--output", "-o", metavar="FILE", help="A .json or .yaml file, written all or nothing.  [default: standard output]"
)
@option("--name", metavar="N", help="Of the catalog, and of its one plugin where the format knows none.")
@option("--plugin-field", metavar="F", help="JSON Lines: the field that names a tool's plugin.")
@option("--category-field", metavar="F", help="JSON Lines: the field that names a plugin's category.")
@option("--category", metavar="C", help="The category of plugins that come without one, for loadouts to include.")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option
def import_command(
    source: str,
    form: str | None,
    output: str | None,
    name: str | None,
    plugin_field: str | None,
    category_field: str | None,
    category: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """A catalog from SOURCE, a file or `-`: an OpenAI, Anthropic or MCP tool list, JSON Lines, or OpenAPI 3.

    Ids and names are kept as they are. What had to be understood, renamed or left out is said on standard error.
    """
    if output is not None and not output.lower().endswith((".json", ".yaml", ".yml")):
        raise ToolbeltError(f"The ending of {output!r} must say how to write it: .json, .yaml or .yml.")
    grouping = Grouping(plugin_field, category_field) if plugin_field or category_field else None
    text = decode(sys.stdin.buffer.read(), "standard input") if source == "-" else read_text(source)
    if source == "-" and name is None:
        name = "imported"
    imported, label = import_catalog(
        text, source if source != "-" else "standard input", form=form, name=name, grouping=grouping
    )
    catalog = replace(imported.catalog, name=name) if name else imported.catalog
    if category is not None:
        catalog = _with_category(catalog, category)
    for note in imported.notes:
        notify(note)
    _report(catalog, label)
    if output is None:
        print_json(catalog_data(catalog))
        return
    write_catalog(catalog, output, overwrite=force)
    notify(f"wrote {output}; look at it with: toolbelt catalog stats --catalog {output}")
    if as_json:
        counts = {"plugins": len(catalog.plugins), "tools": len(catalog.tools)}
        renamed = _renamed(catalog)
        print_json({"output": output, "format": label, **counts, "notes": list(imported.notes), "wire_names": renamed})


def _with_category(catalog: Catalog, category: str) -> Catalog:
    plugins = tuple(
        plugin if plugin.effective_category is not None else replace(plugin, category=category)
        for plugin in catalog.plugins
    )
    return replace(catalog, plugins=plugins)


def _report(catalog: Catalog, label: str) -> None:
    counts = f"{plural(len(catalog.tools), 'tool')} in {plural(len(catalog.plugins), 'plugin')}"
    notify(f"read {label}: {counts}")
    if shared := list(catalog.shared_names):
        notify(
            f"{plural(len(shared), 'name')} borne by several tools: {', '.join(shared[:8])}{', …' * (len(shared) > 8)}"
        )
    if renamed := _renamed(catalog):
        notify(f"{plural(len(renamed), 'tool')} sent under a wire name; `toolbelt catalog lint` lists them")


def _renamed(catalog: Catalog) -> dict[str, str]:
    return {tool.id: wire for tool in catalog.tools if (wire := catalog.wire_names[tool.id]) != tool.name}
