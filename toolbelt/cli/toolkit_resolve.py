"""`toolbelt toolkit resolve`."""

from __future__ import annotations

from dataclasses import replace

import click

from toolbelt.agents.over_catalog import decide_at_start, toolkits_over
from toolbelt.cli.session_opening import agent_option
from toolbelt.cli.toolkit_opening import find_switches, loading_agents, open_toolkits
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Severity
from toolbelt.render.screen import print_findings, print_json, show_blocks
from toolbelt.toolkits.inspection import SwitchInspection
from toolbelt.toolkits.lint import lint_toolkits
from toolbelt.toolkits.toolkit_views import switches_view


@click.command(
    epilog=examples(
        "toolbelt toolkit resolve --tools-config agent.json",
        "toolbelt toolkit resolve --agent assistant",
        "echo 'research: true' | toolbelt toolkit resolve --tools-config - --message 'find me papers'",
    )
)
@option(
    "--tools-config",
    metavar="FILE",
    help="Keys of toolkits and tools, each true or false, in JSON or YAML; - is standard input.",
)
@agent_option()
@option(
    "--all",
    "show_all",
    is_flag=True,
    envvar="TOOLBELT_RESOLVE_ALL",  # TOOLBELT_ALL is about how much of the same is drawn, on a screen alone
    help="The tools that are in no toolkit, too.",
)
@option("--message", metavar="TEXT", help="Show what the toolkits' directives make of this message of a user.")
@project_options
def resolve(
    tools_config: str | None,
    agent: str | None,
    show_all: bool,
    message: str | None,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """For each tool of the toolkits: is it on under this configuration, and which switch decided.

    The first that applies decides: a toolkit that is off; a toolkit that is on, unless the tool has a switch of its
    own; the tool's own switch; its default. The configuration is FILE, or with --agent the `tools_config` of that
    agent, with what it has at the start of a session: its own `tools` too, and no toolkit that it loads itself.
    """
    project, inspection = open_toolkits(options)
    switches = find_switches(project, tools_config, agent)
    if project.config.document is not None:
        findings = lint_toolkits(project.config.document, project.toolkits, project.catalog, [switches])
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise InvalidFileError(findings)
        print_findings(findings)
    switched = SwitchInspection(inspection, switches.switches, show_all, message, loading_agents(project))
    if agent is not None:
        start = toolkits_over(project.agents[agent], project.toolkits, project.catalog)
        started = (*start.granted, *start.initial)
        switched = replace(switched, decide=decide_at_start(start), started=started)
    data = switched.to_dict()
    if as_json:
        print_json({"tools_config": switches.document.source, **data})
    else:
        show_blocks(switches_view(data))
