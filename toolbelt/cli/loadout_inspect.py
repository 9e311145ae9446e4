"""`toolbelt loadout inspect` and `why`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, project_options, source_options
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import AUTO
from toolbelt.project.models import warn_of_ends
from toolbelt.project.opening import leave_out_switched_off
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.text import plural, visible

if TYPE_CHECKING:
    from toolbelt.mcp.gateway.served_list import ServedList

MANY_TOOLS = 250
"""Above this many active tools their names are shown only when asked for."""


@click.command(
    epilog=examples(
        f"toolbelt loadout inspect developer --model {EXAMPLE_MODEL} --model ollama/llama3.1",
        f"toolbelt loadout inspect auto --model {EXAMPLE_MODEL}",
        "toolbelt loadout inspect --catalog tools.json",
        "toolbelt loadout inspect developer --serve --json",
        "toolbelt loadout inspect developer --serve --search fastmcp",
    )
)
@click.argument("name", required=False, shell_complete=complete_loadouts)
@option("--model", "-m", "models", multiple=True, metavar="M", help="A litellm model name; may be repeated.")
@option("--tools/--no-tools", "show_tools", default=None, help="Name the active tools, or only count them.")
@option("--all", "show_all", is_flag=True, help="Name every plugin, however many.")
@option("--serve", "is_served", is_flag=True, help="What `toolbelt serve` lists: names, tokens and digest.")
@option(
    "--search",
    metavar="S",
    help="With --serve: as `toolbelt serve --search S` lists it, the pinned tools and a search.",
)
@option("--schema", "show_schema", is_flag=True, help="Print the JSON Schema of what --json prints, and stop.")
@project_options
def inspect(
    name: str | None,
    models: tuple[str, ...],
    show_tools: bool | None,
    show_all: bool,
    is_served: bool,
    search: str | None,
    show_schema: bool,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """What an agent with loadout NAME gets from the catalog, why, what it costs in tokens, and where it fits.

    NAME may be `auto`: what toolbelt.yaml gives a --model, else the largest loadout that takes at most half of its
    context window.
    Without NAME: the whole catalog, which is what an agent without a loadout gets.
    """
    if show_schema:
        from toolbelt.loadouts.inspection_json import inspection_schema  # classes for JSON alone, here and below

        print_json(inspection_schema())
        return
    if search is not None and not is_served and _is_typed("search"):
        raise click.UsageError("--search needs --serve: it is a way to list what is served.")
    project = options.open()
    project = leave_out_switched_off(project) if is_served else project
    if name is not None and name.casefold() == AUTO:
        inspection = project.inspect_auto(models)
        if inspection.auto is not None and inspection.auto.loadout is None:
            _show_no_choice(project, inspection, models[0], as_json)
            return
    else:
        inspection = project.inspect(name, project.model_names(models))
    _warn(project, inspection, models)
    served = _list_served(project, inspection, search) if is_served else None
    if as_json:
        _print_inspection(inspection, served)
        return
    from toolbelt.loadouts.inspection_view import inspection_view  # which --json does without

    named = len(inspection.resolution.active_tools) <= MANY_TOOLS if show_tools is None else show_tools
    show_blocks(inspection_view(inspection, show_tools=named, show_all=show_all))
    if served is not None:
        tokens = f"{sum(served.tokens):,} tokens by {served.tokenizer}"
        click.echo(f"\nServed over MCP  {plural(len(served.names), 'tool')}, {tokens}\nDigest  {served.digest}")


@click.command(epilog=examples("toolbelt loadout why developer git_push", "toolbelt loadout why minimal docker"))
@click.argument("name", shell_complete=complete_loadouts)
@click.argument("plugin_or_tool")
@source_options
def why(name: str, plugin_or_tool: str, options: ProjectOptions, as_json: bool) -> None:
    """Why PLUGIN_OR_TOOL is active, discoverable, disabled or hidden under loadout NAME: the chain, rule by rule."""
    project = options.open()
    decision = project.resolve(name).why(plugin_or_tool)
    if as_json:
        from toolbelt.loadouts.inspection_json import decision_data

        print_json({"loadout": name, "catalog": project.catalog.name, **decision_data(decision)})
        return
    from toolbelt.loadouts.loadout_views import decision_view  # tables, which `inspect` does without

    show_blocks(decision_view(decision))


def _print_inspection(inspection: Inspection, served: ServedList | None = None) -> None:
    from toolbelt.loadouts.inspection_json import inspection_data

    print_json({**inspection_data(inspection), **({} if served is None else served.data())})


def _is_typed(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def _list_served(project: Project, inspection: Inspection, search: str | None) -> ServedList:
    from toolbelt.mcp.gateway.served_list import list_served  # for what is served alone
    from toolbelt.mcp.gateway.surface import list_pinned, make_surface, served_names
    from toolbelt.search.pinned import find_pinned
    from toolbelt.search.presets import parse_search

    surface, settings = make_surface(inspection.resolution), None
    if surface.without_server:
        count = plural(len(surface.without_server), "active or discoverable tool")
        hint = "To take tools from the servers of toolbelt.yaml: toolbelt catalog sync"
        notify(f"not served, as no MCP server has them: {count}. {hint}", "warning")
    if search is not None:
        settings = parse_search(search, project.config.searches)
        pinned = find_pinned(settings, project.catalog, project.registry)
        surface = list_pinned(surface, settings, pinned, served_names(project.catalog))
    return list_served(surface, project.catalog, project.counter, search=settings)


def _show_no_choice(project: Project, inspection: Inspection, model: str, as_json: bool) -> None:
    if project.facts(model).context_window is None:
        _warn_of_unknown_window(project, model)
    if as_json:
        _print_inspection(inspection)
    elif inspection.auto is not None:
        from toolbelt.loadouts.reason_text import describe_choice

        reasons = describe_choice(inspection.auto)
        click.echo("\n  ".join(visible(line) for line in (f"{model}: no loadout chosen", *reasons)))


def _warn(project: Project, inspection: Inspection, models: tuple[str, ...]) -> None:
    if inspection.is_empty:
        name, catalog = inspection.resolution.loadout, project.catalog.name
        notify(f"loadout {name!r} matches nothing of catalog {catalog!r}; an agent would get no tools.", "warning")
        if project.catalog.categories:
            first = next(iter(project.catalog.categories))
            notify(f"the catalog has its own categories; try: toolbelt loadout create mine --category {first!r}")
    if not inspection.tokens.exact and project.tokenizer != inspection.tokens.tokenizer:
        notify(f"the vocabulary of {project.tokenizer} is not installed; counts are estimates.", "warning")
    for fit in inspection.models:
        if fit.model in models or fit.model in project.config.models:  # the others are known to be current
            if fit.context_window is None:
                _warn_of_unknown_window(project, fit.model)
            warn_of_ends([project.facts(fit.model)])


def _warn_of_unknown_window(project: Project, model: str) -> None:
    similar = project.models.find_similar(model)
    hint = f" Names like it: {', '.join(similar)}." if similar else ""
    notify(f"the context window of {model!r} is unknown.{hint}", "warning")
