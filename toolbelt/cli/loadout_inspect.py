"""`toolbelt loadout inspect` and `why`."""

from __future__ import annotations

import click

from toolbelt.cli.options import option, workspace_options
from toolbelt.cli.workspace import Workspace, open_workspace
from toolbelt.console.inspection_view import inspection_view
from toolbelt.console.screen import make_screen, print_json, show_view, tell
from toolbelt.console.text import visible
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts.inspection import Inspection, decision_data
from toolbelt.loadouts.loadout import AUTO

MANY_TOOLS = 250
"""Above this many active tools their names are shown only when asked for."""


@click.command(
    epilog="Examples: toolbelt loadout inspect developer --model gpt-4o --model ollama/llama3; "
    "toolbelt loadout inspect auto --model gpt-4"
)
@click.argument("name")
@option("--model", "-m", "models", multiple=True, metavar="M", help="A litellm model name; may be repeated.")
@option("--tools/--no-tools", "show_tools", default=None, help="Name the active tools, or only count them.")
@option("--all", "show_all", is_flag=True, help="Name every plugin, however many.")
@workspace_options
def inspect(
    name: str,
    models: tuple[str, ...],
    show_tools: bool | None,
    show_all: bool,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> None:
    """What an agent with loadout NAME gets from the catalog, why, what it costs in tokens, and where it fits.

    NAME may be `auto`: the largest loadout that takes at most half of a --model's context window.
    """
    workspace = open_workspace(catalog, config, tokenizer)
    if name.casefold() == AUTO:
        inspection = _inspect_auto(workspace, models, as_json)
        if inspection is None:
            return
    else:
        inspection = workspace.inspect(name, workspace.model_names(models))
    _warn(workspace, inspection, models)
    if as_json:
        print_json(inspection.to_dict())
        return
    screen = make_screen()
    named = len(inspection.resolution.active_tools) <= MANY_TOOLS if show_tools is None else show_tools
    show_view(inspection_view(inspection, screen, show_tools=named, show_all=show_all), screen)


@click.command(epilog="Examples: toolbelt loadout why developer git_push; toolbelt loadout why minimal docker")
@click.argument("name")
@click.argument("plugin_or_tool")
@workspace_options
def why(
    name: str, plugin_or_tool: str, catalog: str | None, config: str | None, tokenizer: str | None, as_json: bool
) -> None:
    """Why PLUGIN_OR_TOOL is active, discoverable, disabled or hidden under loadout NAME: the chain, rule by rule."""
    workspace = open_workspace(catalog, config, tokenizer)
    decision = workspace.resolve(name).why(plugin_or_tool)
    from toolbelt.console.loadout_views import decision_view  # tables, which `inspect` does without

    if as_json:
        print_json({"loadout": name, "catalog": workspace.catalog.name, **decision_data(decision)})
    else:
        show_view(decision_view(decision))


def _inspect_auto(workspace: Workspace, models: tuple[str, ...], as_json: bool) -> Inspection | None:
    if len(set(models)) != 1:
        raise ToolbeltError("'auto' chooses by one model's context window; give one --model.")
    inspection, choice = workspace.inspect_auto(models[0])
    if choice.loadout is not None:
        return inspection
    if choice.window is None:
        _tell_unknown(workspace, models[0])
    if as_json:
        print_json({**inspection.to_dict(), "loadout": None})
    else:
        click.echo("\n  ".join(visible(line) for line in (f"{models[0]}: no loadout chosen", *choice.reasons)))
    return None


def _warn(workspace: Workspace, inspection: Inspection, asked: tuple[str, ...]) -> None:
    if inspection.is_empty:
        name, catalog = inspection.resolution.loadout, workspace.catalog.name
        tell(f"loadout {name!r} matches nothing of catalog {catalog!r}; an agent would get no tools.", "warning")
        if workspace.catalog.categories:
            first = next(iter(workspace.catalog.categories))
            tell(f"the catalog has its own categories; try: toolbelt loadout create mine --category {first!r}")
    if not inspection.tokens.exact and workspace.tokenizer != inspection.tokens.tokenizer:
        tell(f"the vocabulary of {workspace.tokenizer} is not installed; counts are estimates.", "warning")
    for fit in inspection.models:
        if fit.context_window is None and (fit.model in asked or fit.model in workspace.config.models):
            _tell_unknown(workspace, fit.model)


def _tell_unknown(workspace: Workspace, model: str) -> None:
    similar = workspace.models.find_similar(model)
    hint = f" Names like it: {', '.join(similar)}." if similar else ""
    tell(f"the context window of {model!r} is unknown.{hint}", "warning")
