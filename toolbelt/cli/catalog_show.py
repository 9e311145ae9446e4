"""`toolbelt catalog list`, `show` and `stats`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.catalog_views import stats_view, tool_view, tools_view
from toolbelt.catalog.files import plugin_data, tool_data
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import NotFoundError
from toolbelt.patterns import fold
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import count_tokens
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.stores.catalogs import open_catalog, shipped_catalogs


@click.command("list", epilog=examples("toolbelt catalog list --plugin git", "toolbelt catalog list --shipped"))
@option("--plugin", "plugin_names", multiple=True, metavar="P", help="Only this plugin; may be repeated.")
@option("--shipped", is_flag=True, help="The catalogs that come with toolbelt, instead of tools.")
@project_options
def list_tools(
    plugin_names: tuple[str, ...],
    shipped: bool,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """Every tool of the catalog, plugin by plugin, with its tokens."""
    if shipped:
        _list_shipped(as_json)
        return
    project = options.open(read_loadouts_too=False)
    plugins = [project.catalog.get_plugin(name) for name in plugin_names] or project.catalog.plugins
    tokens = project.tokens()
    if not as_json:
        show_blocks(tools_view(plugins, tokens))
        return
    rows = [_row(project, plugin, tool, tokens) for plugin in plugins for tool in plugin.tools]
    print_json({"catalog": project.catalog.name, "tokenizer": tokens.tokenizer, "tools": rows})


@click.command(epilog=examples("toolbelt catalog show git_push", "toolbelt catalog show github"))
@click.argument("plugin_or_tool")
@project_options
def show(plugin_or_tool: str, options: ProjectOptions, as_json: bool) -> None:
    """One plugin, or one tool with its description, schema, wire name and tokens."""
    project = options.open(read_loadouts_too=False)
    entry = _find(project, plugin_or_tool)
    shown = entry.tools if isinstance(entry, Plugin) else (entry,)
    tokens = count_tokens(project.catalog, project.tokenizer, "openai", shown, project.reporter)
    if isinstance(entry, Plugin):
        if as_json:
            total = tokens.of([tool.id for tool in entry.tools])
            print_json({**plugin_data(entry), "category": entry.effective_category, "tokens": total})
        else:
            show_blocks(tools_view([entry], tokens))
        return
    plugin = project.catalog.get_plugin(entry.plugin or "")
    if as_json:
        print_json({**tool_data(entry), **_row(project, plugin, entry, tokens)})
    else:
        wire_name = project.catalog.wire_names[entry.id]
        show_blocks(tool_view(entry, plugin.effective_category, wire_name, tokens))


@click.command(epilog=examples("toolbelt catalog stats --catalog tiered --json"))
@option("--all", "show_all", is_flag=True, help="Every category and plugin, however many.")
@project_options
def stats(show_all: bool, options: ProjectOptions, as_json: bool) -> None:
    """How many plugins, tools and tokens there are, by category and by plugin."""
    project = options.open(read_loadouts_too=False)
    data = _stats(project, project.tokens())
    if as_json:
        print_json(data)
        return
    show_blocks(stats_view(data, None if show_all else 20))


def _list_shipped(as_json: bool) -> None:
    rows = []
    for name in shipped_catalogs():
        opened = open_catalog(name).catalog
        rows.append(
            {
                "name": name,
                "plugins": len(opened.plugins),
                "tools": len(opened.tools),
                "description": opened.description,
            }
        )
    if as_json:
        print_json({"catalogs": rows})
        return
    for row in rows:
        click.echo(f"{row['name']:<12} {row['plugins']:>3} plugins {row['tools']:>4} tools  {row['description']}")


def _find(project: Project, reference: str) -> Plugin | Tool:
    """A plugin by name, else a tool; a plugin of the name goes first unless the reference holds a slash."""
    plugin = project.catalog.find_plugin(reference)
    if plugin is not None:
        return plugin
    try:
        return project.catalog.get_tool(reference)
    except NotFoundError as error:
        known = [*(plugin.name for plugin in project.catalog.plugins), *error.known]
        raise NotFoundError("plugin or tool", reference, known) from None


def _row(project: Project, plugin: Plugin, tool: Tool, tokens: ToolTokens) -> dict[str, Any]:
    return {
        "id": tool.id,
        "name": tool.name,
        "plugin": plugin.name,
        "category": plugin.effective_category,
        "wire_name": project.catalog.wire_names[tool.id],
        "tokens": tokens.by_id[tool.id],
        "core": tool.id in project.catalog.core,
        "description": tool.description,
    }


def _stats(project: Project, tokens: ToolTokens) -> dict[str, Any]:
    catalog = project.catalog
    by_category: dict[str, list[Plugin]] = {category: [] for category in catalog.categories}
    spelled = {fold(category): category for category in catalog.categories}
    for plugin in catalog.plugins:
        by_category.setdefault(spelled.get(plugin.category_key or "", "other"), []).append(plugin)
    return {
        "catalog": catalog.name,
        "plugins": len(catalog.plugins),
        "tools": len(catalog.tools),
        "tokens": tokens.total,
        "tokenizer": tokens.tokenizer,
        "exact": tokens.exact,
        "core": len(catalog.core),
        "shared_names": {name: list(tool_ids) for name, tool_ids in catalog.shared_names.items()},
        "by_category": {
            category: {"plugins": len(plugins), **_count(_tools_of(plugins), tokens)}
            for category, plugins in by_category.items()
        },
        "by_plugin": {plugin.name: _count(plugin.tools, tokens) for plugin in catalog.plugins},
    }


def _tools_of(plugins: Iterable[Plugin]) -> list[Tool]:
    return [tool for plugin in plugins for tool in plugin.tools]


def _count(tools: Iterable[Tool], tokens: ToolTokens) -> dict[str, int]:
    tool_ids = [tool.id for tool in tools]
    return {"tools": len(tool_ids), "tokens": tokens.of(tool_ids)}
