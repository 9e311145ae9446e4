"""`toolbelt toolkit list` and `inspect`."""

from __future__ import annotations

from typing import Any

import click

from toolbelt.cli.groups import examples
from toolbelt.cli.options import workspace_options
from toolbelt.cli.toolkit_opening import open_toolkits
from toolbelt.console.screen import make_screen, print_json, show_view, tell
from toolbelt.console.toolkit_views import toolkit_view, toolkits_view
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.inspection import ToolkitInspection
from toolbelt.toolkits.toolkit import Toolkit


@click.command("list", epilog=examples("toolbelt toolkit list --catalog assistant"))
@workspace_options
def list_toolkits(catalog: str | None, config: str | None, tokenizer: str | None, as_json: bool) -> None:
    """All toolkits: members, the tools they make of the catalog, their tokens, and whether they are on by default."""
    workspace, inspection = open_toolkits(catalog, config, tokenizer)
    for toolkit in inspection.written:
        _warn_unmatched(inspection, toolkit)
    agents = {kit.key: [row["agent"] for row in _may_load(workspace.config.agents, kit)] for kit in inspection.written}
    data = inspection.list_data(agents)
    if as_json:
        print_json(data)
    else:
        screen = make_screen()
        show_view(toolkits_view(data, screen), screen)


@click.command(epilog=examples("toolbelt toolkit inspect research"))
@click.argument("name")
@workspace_options
def inspect(name: str, catalog: str | None, config: str | None, tokenizer: str | None, as_json: bool) -> None:
    """Toolkit NAME: the tools each member stands for, their tokens, its prompt text and rules, and who may load it."""
    workspace, inspection = open_toolkits(catalog, config, tokenizer)
    toolkit = inspection.get_toolkit(name)
    _warn_unmatched(inspection, toolkit)
    if named := inspection.named_in_policy(toolkit):
        tell(
            f"the policy names {', '.join(named)} also where that is not available; write {{tools}}, or put the line "
            "under the policy's `tools`.",
            "warning",
        )
    data = inspection.toolkit_data(toolkit, _may_load(workspace.config.agents, toolkit))
    if as_json:
        print_json(data)
    else:
        show_view(toolkit_view(data))


def _may_load(agents: tuple[AgentSpec, ...], toolkit: Toolkit) -> list[dict[str, Any]]:
    return [
        {"agent": agent.name, "initial": toolkit.key in agent.initial_toolkits}
        for agent in agents
        if toolkit.key in agent.allowed_toolkits
    ]


def _warn_unmatched(inspection: ToolkitInspection, toolkit: Toolkit) -> None:
    for missing in inspection.unmatched(toolkit):
        tell(f"toolkit {toolkit.key!r}: {missing.message}", "warning")
    if not toolkit.member_tools:
        tell(f"toolkit {toolkit.key!r} names no tools.", "warning")
