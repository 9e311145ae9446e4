"""`toolbelt toolkit list` and `inspect`."""

from __future__ import annotations

import click

from toolbelt.cli.toolkit_opening import loading_agents, open_toolkits
from toolbelt.command.groups import examples
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.toolkits.inspection import ToolkitInspection
from toolbelt.toolkits.toolkit import Toolkit
from toolbelt.toolkits.toolkit_views import toolkit_view, toolkits_view


@click.command("list", epilog=examples("toolbelt toolkit list --catalog assistant"))
@project_options
def list_toolkits(options: ProjectOptions, as_json: bool) -> None:
    """All toolkits: members, the tools they make of the catalog, their tokens, and whether they are on by default."""
    project, inspection = open_toolkits(options, required=False)
    for toolkit in inspection.written:
        _warn_of_doubts(inspection, toolkit)
    data = inspection.list_data(loading_agents(project))
    if as_json:
        print_json(data)
    elif data["toolkits"]:
        show_blocks(toolkits_view(data))


@click.command(epilog=examples("toolbelt toolkit inspect research"))
@click.argument("name")
@project_options
def inspect(name: str, options: ProjectOptions, as_json: bool) -> None:
    """Toolkit NAME: the tools each member stands for, their tokens, its prompt text and rules, and who may load it."""
    project, inspection = open_toolkits(options)
    toolkit = inspection.get_toolkit(name)
    _warn_of_doubts(inspection, toolkit)
    if named := inspection.named_in_policy(toolkit):
        notify(
            f"the policy names {', '.join(named)} also where that is not available; write {{tools}}, or put the line "
            "under the policy's `tools`.",
            "warning",
        )
    agents = [
        {"agent": agent.name, "initial": toolkit.key in agent.initial_toolkits}
        for agent in project.config.agents
        if agent.name in loading_agents(project).get(toolkit.key, ())
    ]
    data = inspection.toolkit_data(toolkit, agents)
    if as_json:
        print_json(data)
    else:
        show_blocks(toolkit_view(data))


def _warn_of_doubts(inspection: ToolkitInspection, toolkit: Toolkit) -> None:
    for doubt in inspection.doubts(toolkit):
        notify(f"toolkit {toolkit.key!r}: {doubt}", "warning")
    if not toolkit.member_tools:
        notify(f"toolkit {toolkit.key!r} names no tools.", "warning")
