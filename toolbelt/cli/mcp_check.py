"""`toolbelt mcp check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from toolbelt.command.approval import approve
from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.command.servers import (
    ask_for_tools,
    exit_code_of,
    off_data,
    report_listing,
    report_switches,
    timeout_option,
    yes_option,
)
from toolbelt.errors import ToolbeltError
from toolbelt.importers.tool_lists import read_mcp_tool
from toolbelt.mcp.configs.client_limits import CLIENT_LIMITS, ClientFinding, find_refusals
from toolbelt.mcp.configs.project_servers import explain_broken_servers
from toolbelt.mcp.gateway.served_list import ServedList, list_served
from toolbelt.mcp.gateway.surface import NAME_LIMIT, Surface, make_surface
from toolbelt.mcp.gateway.verification import verify_tools
from toolbelt.mcp.sync.sync import Listing, ServerStatus
from toolbelt.models.violation_text import describe_problem
from toolbelt.project.opening import leave_out_switched_off
from toolbelt.render.screen import print_json
from toolbelt.text import plural, visible

CHANGED = 1
"""The exit code where a tool has changed, or a client refuses something (rule E9)."""


@click.command(epilog=examples("toolbelt mcp check developer", "toolbelt mcp check developer --client cursor --json"))
@click.argument("loadout", required=False, shell_complete=complete_loadouts)
@option("--client", type=Choice([*CLIENT_LIMITS]), help="Also what this client refuses: names, counts, schemas.")
@option("--name-limit", type=click.IntRange(16, 64), default=NAME_LIMIT, metavar="N", help="Characters of a name.")
@timeout_option
@yes_option
@project_options
def check(
    loadout: str | None,
    client: str | None,
    name_limit: int,
    timeout: float,
    yes: bool,
    options: ProjectOptions,
    as_json: bool,
) -> int:
    """Whether the servers still have the tools that were synced, and what a client refuses of LOADOUT.

    A tool that changed since the last sync is withheld by the gateway, until `toolbelt catalog sync` is run again.
    Without LOADOUT, all tools of the catalog are looked at.

    Exit code 0: nothing has changed; 1: a tool has changed, or the client refuses something; 3: a server failed.
    """
    project = leave_out_switched_off(options.open(), broken_too=True)
    surface = make_surface(project.resolve(loadout), name_limit=name_limit)
    served = list_served(surface, project.catalog, project.counter, name_limit=name_limit)
    specs = [spec for spec in project.servers if spec.name in surface.servers]
    if missing := {*surface.servers} - {spec.name for spec in specs}:
        raise ToolbeltError(
            f"toolbelt.yaml does not define these servers of the catalog: {', '.join(sorted(missing))}."
        )
    approve(specs, yes=yes)
    failed = [
        Listing(name, ServerStatus.FAILED, error=why) for name, why in explain_broken_servers(project.config).items()
    ]
    for listing in failed:
        report_listing(listing)
    report_switches(project.servers)
    listings = (*ask_for_tools(specs, timeout), *failed)
    withheld = find_withheld(surface, listings)
    refusals = () if client is None else find_refusals(client, [read_mcp_tool(each) for each in served.definitions])
    off = [each for each in project.catalog.switched_off if each.key]
    if as_json:
        print_json({**check_data(served, listings, withheld, refusals), "off": off_data(off)})
    else:
        _show(served, withheld, client, refusals)
        for each in off:
            click.echo(f"off  {visible(each.name)}: {visible(each.why)}")
    return exit_code_of(listings) or (CHANGED if withheld or refusals else 0)


def find_withheld(surface: Surface, listings: Sequence[Listing]) -> Mapping[str, str]:
    """Why the gateway withholds a tool, by the name that clients see."""
    withheld: dict[str, str] = {}
    for listing in listings:
        if listing.status is not ServerStatus.OK:
            continue
        tools = surface.tools_of(listing.server)
        changed = verify_tools(tools, listing.tools, listing.protocol).changed
        withheld |= {tool.wire_name: changed[tool.upstream_name] for tool in tools if tool.upstream_name in changed}
    return withheld


def check_data(
    served: ServedList, listings: Sequence[Listing], withheld: Mapping[str, str], refusals: Sequence[ClientFinding]
) -> dict[str, Any]:
    """For `--json`."""
    return {
        **served.data(),
        "servers": [{"name": each.server, "status": each.status.value, "error": each.error} for each in listings],
        "withheld": [{"tool": tool, "reason": reason} for tool, reason in withheld.items()],
        "refused": [
            {"kind": each.kind, "tool": each.tool, "value": each.value, "limit": each.limit}
            | ({} if each.violation is None else {"reason": describe_problem(each.violation)})
            for each in refusals
        ],
    }


def _show(
    served: ServedList, withheld: Mapping[str, str], client: str | None, refusals: Sequence[ClientFinding]
) -> None:
    click.echo(f"{plural(len(served.names), 'tool')}, {sum(served.tokens):,} tokens, digest {served.digest[:12]}")
    for tool, reason in withheld.items():
        click.echo(f"withheld  {visible(tool)}: {reason}")
    for refusal in refusals:
        if refusal.violation is not None:
            words = f"{visible(refusal.tool)}: {visible(describe_problem(refusal.violation))}"
        elif refusal.tool:
            words = f"{visible(refusal.tool)}: {refusal.value} characters with its prefix, {refusal.limit} are allowed"
        else:
            words = f"{plural(refusal.value, 'tool')}, of which {refusal.limit} are allowed"
        click.echo(f"refused by {client}  {words}")
    if withheld:
        click.echo("Accept the changes with: toolbelt catalog sync")
    elif not refusals:
        click.echo("Every tool is what was synced.")
