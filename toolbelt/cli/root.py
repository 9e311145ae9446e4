"""The root command."""

from __future__ import annotations

import click

import toolbelt
from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "init": ("toolbelt.cli.init:init", "Make a project from the MCP servers that you have."),
        "loadout": ("toolbelt.cli.loadout:loadout", "Which tools an agent sees, why, and what they cost."),
        "toolkit": (
            "toolbelt.cli.toolkit:toolkit",
            "Bundles of tools: what they hold, and what switches them.",
        ),
        "session": ("toolbelt.cli.session:session", "What agents have loaded, by session: show, load, unload, reset."),
        "catalog": ("toolbelt.cli.catalog:catalog", "The tools of a project: list, search, import, sync, lint."),
        "serve": ("toolbelt.cli.serve:serve", "Offer a loadout's tools to an MCP client: the gateway."),
        "model": ("toolbelt.cli.model:model", "Facts about models: windows, limits, prices, and which toolsets fit."),
        "eval": ("toolbelt.evals.cli.eval:evaluate", "Run the same cases over several toolsets and models."),
        "view": ("toolbelt.evals.cli.view:view", "Open a page over all runs: over time, compared, any report."),
        "dataset": ("toolbelt.evals.cli.dataset:dataset", "Cases to try toolsets on: list, show, lint."),
        "mcp": ("toolbelt.cli.mcp:mcp", "MCP servers and clients: a client's file, logins."),
        "usage": ("toolbelt.cli.usage:usage", "What was called through the gateway, and what was never called."),
        "config": ("toolbelt.cli.config:config", "toolbelt.yaml: where it is, its JSON Schema."),
    },
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=examples("toolbelt loadout inspect developer", "toolbelt eval run --toolset full,loadout,tiered")
    + "\n\n\b\nNames completed by Tab (bash; zsh_source and fish_source, too):\n"
    + '  eval "$(_TOOLBELT_COMPLETE=bash_source toolbelt)"',
)
@click.version_option(toolbelt.__version__, "-V", "--version", prog_name="toolbelt")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Decide which tools an LLM agent sees, see what that costs, and prove that it is right."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
