"""Asking the servers of a command for their tools, with consent and progress."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import click

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.catalog import SwitchedOff
from toolbelt.catalog.definitions import mcp_definition
from toolbelt.catalog.gate.changes import Change
from toolbelt.catalog.tokens import TokenCounter, count_named_tools
from toolbelt.command.approval import ask_input
from toolbelt.command.options import option
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.gateway.served_list import list_served
from toolbelt.mcp.gateway.surface import make_surface, serving_digest
from toolbelt.mcp.sync.sync import Listing, ServerStatus
from toolbelt.project.project import Project
from toolbelt.render.screen import notify
from toolbelt.servers.spec import ServerSpec
from toolbelt.text import plural

_MOST_NAMES = 10
INCOMPLETE = 3
"""The exit code where a server did not answer (rule E9)."""

timeout_option = option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    metavar="S",
    help="Seconds for each server, from its start to its last tool.  [default: 60]",
)
yes_option = option("--yes", is_flag=True, help="Start the servers of this command without asking, this once.")


def ask_for_tools(specs: Sequence[ServerSpec], timeout_seconds: float) -> tuple[Listing, ...]:
    """The answers of approved servers, in their order; each is reported on standard error when it is there."""
    if not specs:
        return ()
    from toolbelt.mcp.sync.asking import ask_servers  # which loads the MCP SDK, for over a second

    return ask_servers(specs, os.environ, timeout_seconds=timeout_seconds, ask_input=ask_input, answered=report_listing)


def report_listing(listing: Listing) -> None:
    """What came of asking a server, on standard error."""
    if listing.status is ServerStatus.OK:
        notify(f"{listing.server}: {plural(len(listing.tools), 'tool')} in {listing.seconds:.1f} s", "")
        return
    notify(f"{listing.server}: {listing.error}", "warning")
    for line in listing.log:
        notify(f"  {listing.server}: {line}", "")
    if listing.status is ServerStatus.NEEDS_LOGIN:
        notify(f"log in with: toolbelt mcp login {listing.server}")


def report_switches(
    specs: Iterable[ServerSpec], catalog: Catalog | None = None, listings: Iterable[Listing] = ()
) -> None:
    """What files of clients switch off, on standard error; and what of it cannot be honoured (rule V7).

    Args:
        specs: The servers; a whole one that is off was not asked.
        catalog: After a sync, with the names of tools that are off.
        listings: What the servers listed, by which a name that no tool has is known.
    """
    listed = {each.server: [str(tool.get("name")) for tool in each.tools] for each in listings if each.tools}
    for spec in specs:
        if spec.off_by is not None:
            notify(f"{spec.name}: switched off by {spec.off_by}, so it is neither asked nor served")
        for switch in (switch for switch in spec.switches if switch.problem):
            notify(f"{spec.name}: {switch} is not honoured: {switch.problem}", "warning")
        for switch in spec.switches if spec.name in listed else ():
            if idle := switch.find_idle(listed[spec.name]):
                notify(f"{spec.name}: {switch} names tools that the server does not list: {', '.join(idle)}", "warning")
        known = [] if catalog is None else [off for off in catalog.switched_off if off.server == spec.name and off.tool]
        for why in dict.fromkeys(off.why for off in known):
            names = [off.tool for off in known if off.why == why]
            shown = ", ".join(names[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)
            notify(f"{spec.name}: {plural(len(names), 'tool')} {why}: {shown}")


def off_data(off: Iterable[SwitchedOff]) -> list[dict[str, str]]:
    """What is switched off, for `--json`: `server` or `server/tool`, the key and its file."""
    return [{"name": each.name, "key": each.key, "file": each.file} for each in off]


def exit_code_of(listings: Iterable[Listing], left_out: Sized = ()) -> int:
    """3 if a server did not answer or something was left out because it cannot be read, else 0."""
    is_complete = not left_out and all(listing.status is ServerStatus.OK for listing in listings)
    return 0 if is_complete else INCOMPLETE


def servers_data(listings: Iterable[Listing], catalog: Catalog, tokens: Mapping[str, int]) -> list[dict[str, Any]]:
    """The servers that were asked, for `--json`; of one that failed, the tools that the catalog keeps.

    Args:
        listings: Their answers.
        catalog: After the sync.
        tokens: By tool id.
    """
    return [
        {
            "name": listing.server,
            "status": listing.status.value,
            "tools": len(tools := tools_of(catalog, listing.server)),
            "tokens": sum(tokens[tool.id] for tool in tools),
            "version": catalog.servers.get(listing.server, {}).get("version", ""),
            "protocol": catalog.servers.get(listing.server, {}).get("protocol", ""),
            "seconds": round(listing.seconds, 2),
            "error": listing.error,
        }
        for listing in listings
    ]


def changes_data(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """What changed, for `--json`."""
    return [
        {"kind": change.kind.value, "tool": change.tool, "tokens": change.tokens}
        | ({"was": change.was} if change.was else {})
        for change in changes
    ]


def catalog_digest(catalog: Catalog) -> str:
    """The digest of all tools of a catalog, as a gateway would list them (rule M5)."""
    return serving_digest(mcp_definition(tool, catalog.wire_names[tool.id]) for tool in catalog.tools)


def tools_of(catalog: Catalog, server: str) -> list[Tool]:
    """The tools of a server, of all its plugins."""
    return [tool for plugin in catalog.plugins if plugin.server == server for tool in plugin.tools]


def count_served(project: Project) -> None:
    """Count what the gateway serves with each loadout, for the cache: the gateway itself loads no tokenizer (M10)."""
    for loadout in project.loadouts:
        with contextlib.suppress(ToolbeltError):  # which `toolbelt serve` reports
            list_served(make_surface(project.resolve(loadout.name)), project.catalog, project.counter)


def count_by_id(catalog: Catalog, counter: TokenCounter) -> dict[str, int]:
    """Tokens of each tool, by id."""
    named = [(tool, catalog.wire_names[tool.id]) for tool in catalog.tools]
    return dict(zip((tool.id for tool, _ in named), count_named_tools(named, counter), strict=True))
