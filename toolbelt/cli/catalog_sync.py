"""`toolbelt catalog sync`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from toolbelt.catalog import Catalog
from toolbelt.catalog.files import format_catalog
from toolbelt.catalog.gate.changes import find_changes
from toolbelt.catalog.tokens import count_named_tools
from toolbelt.command.approval import approve
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.command.servers import (
    ask_for_tools,
    catalog_digest,
    changes_data,
    count_by_id,
    count_served,
    exit_code_of,
    off_data,
    report_listing,
    report_switches,
    servers_data,
    timeout_option,
    yes_option,
)
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Finding, Severity
from toolbelt.mcp.configs.project_servers import examine_servers, find_unlisted
from toolbelt.mcp.sync.sync import Listing, ServerStatus, server_tools, sync_catalog
from toolbelt.mcp.sync.sync_views import changes_view, servers_view
from toolbelt.project.opening import examine_project, open_project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_cached_counter
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.servers.spec import ServerSpec
from toolbelt.stores.catalogs import find_shipped_catalog, open_catalog
from toolbelt.stores.config import Config
from toolbelt.stores.files import state_folder, write_text
from toolbelt.stores.locks import locked

CHANGED = 1
"""The exit code of `--check` where tools have changed (rule E9)."""


@dataclass(frozen=True)
class SyncProject:
    """What a sync is about.

    Attributes:
        servers: Of `toolbelt.yaml`, those that are switched off among them.
        broken: Why the clients' entries of further ones cannot be read, by name.
        file: Of the catalog; it need not be there.
        catalog: What is in it; empty where there is none.
        text: As it is written; empty where there is none.
        tokenizer: What counts.
        unlisted: Servers of the clients' files that it names, which it has not, by file.
    """

    servers: tuple[ServerSpec, ...]
    broken: Mapping[str, str]
    file: str
    catalog: Catalog
    text: str
    tokenizer: str
    unlisted: Mapping[str, tuple[str, ...]]


@click.command(epilog=examples("toolbelt catalog sync", "toolbelt catalog sync --check --yes --json"))
@option("--check", is_flag=True, help="Write nothing; exit with 1 if a tool has changed, with 3 if a server failed.")
@option("--server", "names", multiple=True, metavar="NAME", help="Only this server; may be repeated.")
@timeout_option
@yes_option
@config_option
@tokenizer_option
@json_option
def sync(
    check: bool,
    names: tuple[str, ...],
    timeout: float,
    yes: bool,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> int:
    """Ask the servers of toolbelt.yaml for their tools again, and update the catalog.

    A server that fails keeps its last known tools, marked stale. Names of tools at the gateway never change.

    Exit code 0: all servers answered; 1: a tool has changed, with --check; 3: a server failed, or lists
    a tool that cannot be used.
    """
    project = read_project(config, tokenizer)
    specs = choose_servers(project, names)
    failed = [
        Listing(name, ServerStatus.FAILED, error=why)
        for name, why in project.broken.items()
        if not names or name in names
    ]
    for listing in failed:
        report_listing(listing)
    approve(specs, yes=yes)
    listings = (*ask_for_tools(specs, timeout), *failed)
    with locked(_lock_of(project.file), f"the catalog {project.file}"):
        # Again: somebody may have written to it while the servers were asked.
        project = read_project(config, tokenizer)
        splits = {spec.name: spec.split for spec in project.servers}
        switches = {spec.name: spec.switches for spec in project.servers}
        known = {*splits, *project.broken}
        synced = sync_catalog(project.catalog, listings, splits=splits, servers=known, switches=switches)
        text = format_catalog(synced.catalog, "json" if project.file.lower().endswith(".json") else "yaml")
        is_written = not check and text != project.text
        if is_written:
            write_text(project.file, text)
    counter = make_cached_counter(project.tokenizer)
    changes = find_changes(
        server_tools(project.catalog),
        server_tools(synced.catalog),
        lambda tools: count_named_tools(tools, counter),
    )
    tokens = count_by_id(synced.catalog, counter)
    for note in synced.notes:
        notify(note, "warning")
    report_switches(project.servers, synced.catalog, listings)
    for source, unlisted in project.unlisted.items():
        lines = "; ".join(f"{json.dumps(name)}: {{from: {json.dumps(source)}}}" for name in unlisted)
        notify(f"{source} has servers that toolbelt.yaml has not: to add them, write below its `servers`: {lines}")
    if not check and synced.catalog.tools:
        with contextlib.suppress(ToolbeltError):  # loadouts that are wrong are none of a sync's business
            count_served(open_project(config=config, tokenizer=tokenizer))
    if as_json:
        print_json(
            {
                "catalog": project.file,
                "servers": servers_data(listings, synced.catalog, tokens),
                "off": off_data(synced.catalog.switched_off),
                "unlisted": {file: list(names) for file, names in project.unlisted.items()},
                "changes": changes_data(changes),
                "tokens": sum(tokens.values()),
                "digest": catalog_digest(synced.catalog),
                "written": is_written,
            }
        )
    else:
        show_blocks([*servers_view(listings, synced.catalog, tokens), *changes_view(changes)])
        if is_written:
            notify(f"wrote {project.file}; look at it with: toolbelt catalog stats")
    return exit_code_of(listings, synced.notes) or (CHANGED if check and changes else 0)


def _lock_of(catalog: str) -> Path:
    """Where syncs of a catalog wait for each other: out of the project's folder, where it would be one more file."""
    name = hashlib.sha256(str(Path(catalog).resolve()).encode(errors="surrogateescape")).hexdigest()[:32]
    return state_folder(os.environ) / "locks" / f"{name}.lock"


def choose_servers(project: SyncProject, names: tuple[str, ...]) -> tuple[ServerSpec, ...]:
    """The servers to ask: those named, else all that are not switched off.

    Raises:
        NotFoundError: there is no server of that name.
        ToolbeltError: there is none at all, or one that was named is switched off.
    """
    known = [*(spec.name for spec in project.servers), *project.broken]
    for name in names:
        if name not in known:
            raise NotFoundError("server", name, known)
    if not known:
        raise ToolbeltError(
            "toolbelt.yaml has no servers to ask; write them under `servers`, or start with: toolbelt init"
        )
    chosen = tuple(spec for spec in project.servers if not names or spec.name in names)
    if names and (off := [spec for spec in chosen if spec.disabled]):
        raise ToolbeltError(
            f"{off[0].name!r} is switched off by {off[0].off_by}. To ask it all the same, switch it on there, or write "
            f"`disabled: false` under `servers.{off[0].name}` in toolbelt.yaml."
        )
    return tuple(spec for spec in chosen if not spec.disabled)


def read_project(config: str | None, tokenizer: str | None) -> SyncProject:
    """The servers and the catalog of the project of the working directory.

    Raises:
        InvalidFileError: every mistake in `toolbelt.yaml` or in the catalog, or no server can be read.
        ToolbeltError: there is no `toolbelt.yaml`, or its catalog is none that can be written.
    """
    examined, _ = examine_project(config=config)
    examined.refuse()
    if examined.path is None:
        raise ToolbeltError("There is no toolbelt.yaml here or above. Make one with: toolbelt init")
    servers, mistakes = examine_servers(examined)
    if mistakes and not servers:
        raise InvalidFileError([finding for findings in mistakes.values() for finding in findings])
    broken = {name: " ".join(map(str, findings)) for name, findings in mistakes.items()}
    file = _catalog_file(examined)
    name = tokenizer or examined.tokenizer or DEFAULT_TOKENIZER
    unlisted = find_unlisted(examined)
    if not Path(file).exists():
        catalog = Catalog(name=examined.path.absolute().parent.name or "catalog")
        return SyncProject(servers, broken, file, catalog, "", name, unlisted)
    opened = open_catalog(file)
    if opened.notes:  # it is of another format, which cannot be written
        message = "This is no catalog of toolbelt's own form, so it cannot be updated; name another file as `catalog`."
        raise InvalidFileError([Finding("not-a-catalog", Severity.ERROR, message, file)])
    return SyncProject(servers, broken, file, opened.catalog, Path(file).read_text(encoding="utf-8"), name, unlisted)


def _catalog_file(config: Config) -> str:
    if config.catalog is None or find_shipped_catalog(config.catalog) is not None:
        what = "names no catalog" if config.catalog is None else f"names the shipped catalog {config.catalog!r}"
        raise ToolbeltError(f"{config.path} {what}; write `catalog: catalog.json` for the tools of its servers.")
    if not config.catalog.lower().endswith((".json", ".yaml", ".yml")):
        raise ToolbeltError(f"The catalog {config.catalog!r} must end in .json, .yaml or .yml to be updated.")
    return config.catalog
