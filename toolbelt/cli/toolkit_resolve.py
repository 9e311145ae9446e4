"""`toolbelt toolkit resolve`."""

from __future__ import annotations

import click

from toolbelt.cli.toolkit_opening import loading_agents, open_toolkits, read_tools_config
from toolbelt.command.groups import examples
from toolbelt.command.options import option, project_options
from toolbelt.console.screen import make_screen, print_findings, print_json, show_view
from toolbelt.console.toolkit_views import switches_view
from toolbelt.findings import Severity
from toolbelt.toolkits.inspection import SwitchInspection


@click.command(
    epilog=examples(
        "toolbelt toolkit resolve --tools-config agent.json",
        "echo 'research: true' | toolbelt toolkit resolve --tools-config - --message 'find me papers'",
    )
)
@option(
    "--tools-config",
    metavar="FILE",
    required=True,
    help="Keys of toolkits and tools, each true or false, in JSON or YAML; - is standard input.",
)
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
    tools_config: str,
    show_all: bool,
    message: str | None,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> None:
    """For each tool of the toolkits: is it on under this configuration, and which switch decided.

    A toolkit that is off beats all; else one that is on beats a tool that says nothing; else the tool's own switch
    counts; else its default. What an agent loads in a session it has, whatever is switched here.
    """
    project, inspection = open_toolkits(catalog, config, tokenizer)
    document = read_tools_config(tools_config)
    switched = SwitchInspection(inspection, document.data, show_all, message, loading_agents(project))
    print_findings(
        [document.finding(note.rule, note.message, str(note.key), severity=Severity.WARNING) for note in switched.notes]
    )
    data = switched.to_dict()
    if as_json:
        print_json({"tools_config": document.source, **data})
    else:
        screen = make_screen()
        show_view(switches_view(data, screen), screen)
