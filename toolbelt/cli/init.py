"""`toolbelt init`: a project from the MCP servers that a user has."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import click

from toolbelt.catalog import Catalog
from toolbelt.catalog.catalog import SwitchedOff
from toolbelt.catalog.gate.changes import find_changes
from toolbelt.catalog.tokens import count_named_tools
from toolbelt.command.approval import approve_some
from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option, tokenizer_option
from toolbelt.command.servers import (
    INCOMPLETE,
    ask_for_tools,
    catalog_digest,
    changes_data,
    count_by_id,
    count_served,
    exit_code_of,
    off_data,
    report_switches,
    servers_data,
    timeout_option,
    yes_option,
)
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Finding
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.inspection_json import inspection_data
from toolbelt.loadouts.inspection_view import inspection_view
from toolbelt.mcp.configs.client_configs import find_client_configs, read_client_config
from toolbelt.mcp.sync.starter import BUDGET, STARTER, choose_starter, format_starter
from toolbelt.mcp.sync.sync import Listing, server_tools, sync_catalog
from toolbelt.mcp.sync.sync_views import plugins_view, servers_view
from toolbelt.project.opening import open_project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_cached_counter
from toolbelt.render.screen import ConsoleReporter, notify, print_findings, print_json, show_blocks
from toolbelt.servers.spec import ServerSpec
from toolbelt.servers.splitting import SplitData, propose_split
from toolbelt.servers.writing import ServerEntry, format_project
from toolbelt.stores.catalogs import DEFAULT_CATALOG, find_shipped_catalog, shipped_catalogs, write_catalog
from toolbelt.stores.config import CONFIG_NAMES
from toolbelt.stores.files import LOADOUT_SUFFIXES, portable_path, shown_path, write_text
from toolbelt.text import plural, visible

CATALOG_FILE = "catalog.json"
STARTER_FILE = f"{STARTER}{LOADOUT_SUFFIXES[0]}"
Findings = tuple[Finding, ...]


@dataclass(frozen=True)
class FoundServer:
    """A server of a client's file.

    Attributes:
        spec: As the file describes it.
        from_file: The file as `toolbelt.yaml` refers to it.
        client: Whose file it is.
        overrules: Whether it is on although that file switches it off.
    """

    spec: ServerSpec
    from_file: str
    client: str
    overrules: bool = False

    def overruling(self) -> FoundServer:
        """The server as a user asks for it by name: on, whatever the client's file says of it as a whole."""
        switches = tuple(switch for switch in self.spec.switches if not switch.is_whole)
        return replace(self, spec=replace(self.spec, switches=switches), overrules=self.spec.disabled)


@click.command(
    epilog=examples(
        "toolbelt init",
        "toolbelt init agents/support --from .mcp.json --yes",
        "toolbelt init --start-with assistant",
    )
)
@click.argument("folder", default=".", metavar="[FOLDER]")
@option("--from", "files", multiple=True, metavar="FILE", help="A client's file, instead of all that are found.")
@option("--server", "names", multiple=True, metavar="NAME", help="Only this server; may be repeated.")
@option("--start-with", metavar="C", help="A shipped catalog to start with, instead of servers.")
@option("--split/--no-split", "split", default=True, help="Split servers with many tools.  [default: --split]")
@option(
    "--max-tokens",
    type=click.IntRange(1),
    default=BUDGET,
    metavar="N",
    help=f"Tokens of the starter loadout.  [default: {BUDGET:,}]",
)
@option("--force", is_flag=True, help="Replace files that exist.")
@timeout_option
@yes_option
@tokenizer_option
@json_option
def init(
    folder: str,
    files: tuple[str, ...],
    names: tuple[str, ...],
    start_with: str | None,
    split: bool,
    max_tokens: int,
    force: bool,
    timeout: float,
    yes: bool,
    tokenizer: str | None,
    as_json: bool,
) -> int:
    """Make a project in FOLDER from the MCP servers that you have: toolbelt.yaml, the catalog and a starter loadout.

    A FOLDER that is not there is made. Servers come from the files of MCP clients (Claude, Cursor, VS Code, Windsurf),
    of the project first. Each is shown and started only if you agree. Exit code 3: an entry cannot be read, or a server
    did not answer; the others are written.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ToolbeltError(f"{folder!r} is a file; name a folder, which is made if it is not there.")
    if start_with is not None:
        return _start_with(target, start_with, force=force, as_json=as_json)
    found, left_out = find_servers(target, files)
    servers = _choose(found, names, left_out)
    off = _list_off(found, servers)
    if not servers:
        return _offer_shipped(target, files, force=force, as_json=as_json)
    _make_way(target, (CONFIG_NAMES[0], CATALOG_FILE, STARTER_FILE), force=force)
    approved = approve_some([server.spec for server in servers], yes=yes)
    is_new = not target.exists()
    target.mkdir(parents=True, exist_ok=True)  # where the servers run
    listings = ask_for_tools(approved, timeout)
    splits = {each.server: propose_split(_usable(each), each.server) for each in listings} if split else {}
    old = Catalog(name=target.absolute().name or "catalog")
    synced = sync_catalog(old, listings, splits=splits, switches={spec.name: spec.switches for spec in approved})
    for note in synced.notes:
        notify(note, "warning")
    report_switches(approved, synced.catalog, listings)
    counter = make_cached_counter(tokenizer or DEFAULT_TOKENIZER)
    tokens = count_by_id(synced.catalog, counter)
    changes = find_changes(
        server_tools(old), server_tools(synced.catalog), lambda tools: count_named_tools(tools, counter)
    )
    data: dict[str, Any] = {
        "folder": str(target),
        "files": [],
        "servers": servers_data(listings, synced.catalog, tokens),
        "off": [*off_data(off), *off_data(synced.catalog.switched_off)],
        "changes": changes_data(changes),
        "tokens": sum(tokens.values()),
        "digest": catalog_digest(synced.catalog),
        "loadout": None,
        "models": [],
    }
    if not as_json:
        show_blocks(servers_view(listings, synced.catalog, tokens))
    if not synced.catalog.tools:
        notify("No server answered with tools, so nothing was written.", "warning")
        if is_new:
            with contextlib.suppress(OSError):  # a server may have written into it
                target.rmdir()
        if as_json:
            print_json(data)
        return INCOMPLETE
    approved_names = {spec.name for spec in approved}
    entries = [
        ServerEntry(server.spec.name, server.from_file, splits.get(server.spec.name), server.overrules)
        for server in servers
        if server.spec.name in approved_names
    ]
    starter = choose_starter(synced.catalog, tokens, max_tokens)
    _keep_copy(target / CATALOG_FILE)
    write_catalog(synced.catalog, str(target / CATALOG_FILE))
    _replace(target / STARTER_FILE, format_starter(starter))
    _replace(target / CONFIG_NAMES[0], format_project(CATALOG_FILE, entries))
    written = [shown_path(target / name) for name in (CONFIG_NAMES[0], CATALOG_FILE, STARTER_FILE)]
    inspection = _inspect(target, tokenizer)
    if as_json:
        of_inspection = inspection_data(inspection)
        loadout = {"name": STARTER, "plugins": list(starter.plugins), "tokens": starter.tokens}
        print_json({**data, "files": written, "loadout": loadout, "models": of_inspection["models"]})
    else:
        _show(synced.catalog, tokens, splits, inspection)
        where = "" if target.absolute() == Path.cwd() else f"cd {shlex.quote(str(target))} && "
        click.echo(f"\nwrote {visible(', '.join(written))}")
        click.echo(visible(f"next: {where}toolbelt loadout inspect {STARTER} --tools"))
    asked = [name for name in left_out if not names or name in names]
    return exit_code_of(listings, [*synced.notes, *asked])


def find_servers(folder: Path, files: Sequence[str] = ()) -> tuple[tuple[FoundServer, ...], Mapping[str, Findings]]:
    """The servers of clients' files, and what is wrong, by the entry; of two with one name, that of the first file.

    Args:
        folder: The project.
        files: The clients' files; those that are found, if there are none.

    Raises:
        NotFoundError: a file is not there.
        InvalidFileError: no entry of a file that was named can be read.
    """
    configs = [("", Path(file)) for file in files] or [
        (place.client, place.path) for place in find_client_configs(folder, environment=os.environ)
    ]
    servers: dict[str, FoundServer] = {}
    left_out: dict[str, Findings] = {}
    for client, path in configs:
        config = read_client_config(path, folder, may_have_none=not files)
        if files:
            config.refuse()
        print_findings(config.left_out)
        left_out |= config.mistakes or ({str(path): config.findings} if config.findings else {})
        for spec in config.servers:
            shown = portable_path(path, folder)
            if (first := servers.get(spec.name)) is None:
                servers[spec.name] = FoundServer(spec, shown, client)
            elif _without_origin(first.spec) != _without_origin(spec):
                notify(f"server {spec.name!r} of {shown} is another than that of {first.from_file}, which is used")
    return tuple(servers.values()), left_out


def _choose(
    servers: Sequence[FoundServer], names: Sequence[str], left_out: Mapping[str, Findings]
) -> tuple[FoundServer, ...]:
    by_name = {server.spec.name: server for server in servers}
    for name in names:
        if name not in by_name and name not in left_out:
            raise NotFoundError("server", name, by_name)
    if names:
        chosen = tuple(by_name[name].overruling() for name in dict.fromkeys(names) if name in by_name)
        if not chosen:
            raise InvalidFileError([finding for name in names for finding in left_out[name]])
        return chosen
    for server in servers:
        if server.spec.disabled:
            notify(f"server {server.spec.name!r} is switched off by {server.spec.off_by}; --server asks it anyway")
    return tuple(server for server in servers if not server.spec.disabled)


def _list_off(found: Sequence[FoundServer], chosen: Sequence[FoundServer]) -> list[SwitchedOff]:
    """The servers that are switched off, but for those that were asked for by name."""
    names = {server.spec.name for server in chosen}
    switched = ((each.spec.name, each.spec.off_by) for each in found if each.spec.name not in names)
    return [SwitchedOff(name, "", by.key, by.source) for name, by in switched if by is not None]


def _without_origin(spec: ServerSpec) -> ServerSpec:
    return replace(spec, source="", files=(), switches=())


def _usable(listing: Listing) -> list[Any]:
    return [tool for tool in listing.tools if isinstance(tool.get("name"), str)]


def _offer_shipped(target: Path, files: Sequence[str], *, force: bool, as_json: bool) -> int:
    where = f"in {', '.join(files)}" if files else "in the files of Claude, Cursor, VS Code and Windsurf"
    message = f"There are no MCP servers {where}."
    if _is_terminal() and not as_json:
        notify(message, "")
        if click.confirm(f"Start with the shipped catalog {DEFAULT_CATALOG!r}?", default=True, err=True):
            return _start_with(target, DEFAULT_CATALOG, force=force, as_json=as_json)
        raise click.Abort
    raise ToolbeltError(
        f"{message} Name a file with --from, or start with a shipped catalog: "
        f"toolbelt init --start-with {DEFAULT_CATALOG}"
    )


def _start_with(target: Path, catalog: str, *, force: bool, as_json: bool) -> int:
    if find_shipped_catalog(catalog) is None:
        raise NotFoundError("shipped catalog", catalog, shipped_catalogs())
    _make_way(target, CONFIG_NAMES[:1], force=force)
    target.mkdir(parents=True, exist_ok=True)
    _replace(target / CONFIG_NAMES[0], format_project(catalog, ()))
    written = shown_path(target / CONFIG_NAMES[0])
    if as_json:
        print_json({"folder": str(target), "files": [written], "servers": [], "changes": [], "catalog": catalog})
    notify(f"wrote {written}; next: toolbelt loadout inspect developer", "")
    return 0


def _make_way(target: Path, names: Sequence[str], *, force: bool) -> None:
    """Ask before files are replaced; without a terminal, refuse."""
    candidates = dict.fromkeys((*names, *CONFIG_NAMES))
    existing = [shown_path(target / name) for name in candidates if os.path.lexists(target / name)]
    if not existing or force:
        return
    listed = ", ".join(existing)
    are = "exists" if len(existing) == 1 else "exist"
    if not _is_terminal():
        raise ToolbeltError(
            f"{listed} {are} already; use --force to replace, or ask the servers of toolbelt.yaml again with: "
            "toolbelt catalog sync"
        )
    if not click.confirm(f"{listed} {are} already. Replace?", default=False, err=True):
        raise click.Abort


def _replace(path: Path, text: str) -> None:
    """Write a file; one that says something else keeps its content in a copy, as somebody may have edited it."""
    if not path.is_file() or path.read_bytes() != text.encode():
        _keep_copy(path)
        write_text(path, text)


def _keep_copy(path: Path) -> None:
    if path.is_file():
        names = (path.with_name(f"{path.name}.bak{number or ''}") for number in count())
        copy = next(name for name in names if not os.path.lexists(name))
        shutil.copy2(path, copy)
        notify(f"kept {shown_path(path)} as {shown_path(copy)}", "")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _inspect(target: Path, tokenizer: str | None) -> Inspection:
    project = open_project(target, tokenizer=tokenizer, reporter=ConsoleReporter())
    count_served(project)
    return project.inspect(STARTER, project.model_names(()))


def _show(
    catalog: Catalog, tokens: dict[str, int], splits: dict[str, SplitData | None], inspection: Inspection
) -> None:
    for server in (name for name, split in splits.items() if split is not None):
        plugins = [plugin for plugin in catalog.plugins if plugin.server == server]
        click.echo(f"\n{visible(server)} has many tools, so it is split into {plural(len(plugins), 'plugin')}:\n")
        show_blocks(plugins_view(plugins, tokens))
    click.echo()
    show_blocks(inspection_view(inspection, show_tools=False, show_all=False))
