"""`toolbelt mcp config`: the gateway in a client's file (rule M9)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import click

from toolbelt.cli.session_opening import agent_option, get_agent
from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.command.servers import report_switches
from toolbelt.mcp.configs.approvals import Approvals, refuse_unsafe_files
from toolbelt.mcp.configs.client_configs import FoundConfig, list_client_places, read_client_config
from toolbelt.mcp.configs.client_editing import (
    ClientChange,
    find_moved,
    gateway_entry,
    plan_change,
    shared_entry,
    undo_change,
    write_change,
)
from toolbelt.mcp.configs.project_servers import explain_broken_servers
from toolbelt.mcp.configs.variables import needed_variables
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json
from toolbelt.stores.catalogs import find_shipped_catalog
from toolbelt.stores.config import examine_config
from toolbelt.stores.files import shown_path, state_folder
from toolbelt.text import json_text, plural


@dataclass(frozen=True)
class Client:
    """How a client has its servers.

    Attributes:
        label: Its name, as its users know it.
        key: Under which its file has the servers.
        with_type: Whether an entry has a `type`.
        has_folder: Whether it replaces `${workspaceFolder}` in arguments.
    """

    label: str
    key: str = "mcpServers"
    with_type: bool = False
    has_folder: bool = False


CLIENTS = MappingProxyType(
    {
        "claude-desktop": Client("Claude Desktop"),
        "claude-code": Client("Claude Code", with_type=True),
        "cursor": Client("Cursor", has_folder=True),
        "vscode": Client("VS Code", key="servers", with_type=True, has_folder=True),
        "windsurf": Client("Windsurf"),
    }
)


@click.command(
    epilog=examples(
        "toolbelt mcp config developer --client cursor",
        "toolbelt mcp config developer --client claude-desktop --write",
        "toolbelt mcp config --agent assistant --client cursor",
        "toolbelt mcp config --client claude-desktop --undo",
    )
)
@click.argument("loadout", required=False, shell_complete=complete_loadouts)
@agent_option()
@option("--client", type=Choice(tuple(CLIENTS)), required=True, help="Whose file.")
@option("--client-file", metavar="FILE", help="Its file, if it is none of the usual ones.")
@option("--entry", default="toolbelt", show_default=True, metavar="NAME", help="What the file calls the gateway.")
@option("--write", is_flag=True, help="Change the file; --undo restores the backup.")
@option("--undo", is_flag=True, help="Restore the file as it was before --write.")
@option("--keep-originals", is_flag=True, help="Keep the entries of the servers that the gateway replaces.")
@source_options
def config(
    loadout: str | None,
    agent: str | None,
    client: str,
    client_file: str | None,
    entry: str,
    write: bool,
    undo: bool,
    keep_originals: bool,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """Print what to write into a client's file, so that it starts the gateway with LOADOUT or agent A; or write it.

    The entries of the servers that the gateway replaces leave the file, or the client would show their tools twice.
    They move to a file that only you can read, where `from` in toolbelt.yaml finds them. Comments and layout stay.

    What is written into a client's file of the project works for whoever has the project: paths are relative, and
    toolbelt.servers.json beside toolbelt.yaml has the entries, too, with variables for secrets.
    """
    if undo:
        if write or loadout is not None or agent is not None or keep_originals:
            raise click.UsageError("--undo goes without a LOADOUT, --agent, --write and --keep-originals.")
        _undo(client, client_file, options.config, as_json=as_json)
        return
    if loadout is None and agent is None:
        raise click.UsageError("Missing argument 'LOADOUT', or --agent.")
    if loadout is not None and agent is not None:
        raise click.UsageError("An agent has its own tools: --agent goes without a LOADOUT.")
    project = options.open()
    project.resolve(loadout)  # a wrong name is noticed here, and not when the client starts the gateway
    if agent is not None:
        get_agent(project, agent)
    subject = ["--agent", agent] if agent is not None else [str(loadout)]
    servers = tuple(spec for spec in project.servers if not spec.disabled)
    folder = _project_folder(project.config.path)
    file = _choose_file(client, client_file, folder, [spec.name for spec in servers])
    with_type, is_shared = CLIENTS[client].with_type, _is_shared(file, folder)
    if is_shared:
        started = shared_entry(_shared_arguments(subject, project, options.catalog, client), with_type=with_type)
    else:
        started = gateway_entry(_arguments(subject, project, options.catalog), os.environ, with_type=with_type)
    change = plan_change(
        file,
        servers,
        started,
        name=entry,
        folder=folder,
        new_key=CLIENTS[client].key,
        keep_originals=keep_originals,
        is_shared=is_shared,
    )
    if write and change.removed:  # from then on, these entries are in a file that is safe
        refuse_unsafe_files([file])
    backup = write_change(change, state_folder(os.environ)) if write else None
    tokens = _count_tokens(project, change.kept)
    text = json_text({CLIENTS[client].key: {entry: started}})
    if as_json:
        print_json(
            {
                "client": client,
                "file": str(file),
                "loadout": loadout,
                "agent": agent,
                "entry": {"name": entry, **started},
                "text": text,
                "replaced": list(change.removed),
                "kept": [{"name": name, "tokens": tokens.get(name)} for name in change.kept],
                "written": write,
                "backup": str(backup) if backup is not None else None,
            }
        )
    elif not write:
        click.echo(text)
    _warn(project, change, tokens, file)
    _explain(change, file, client, entry, backup, write=write)


def _undo(client: str, client_file: str | None, config: str | None, *, as_json: bool) -> None:
    folder = _project_folder(examine_config(Path.cwd(), config).path)
    state = state_folder(os.environ)
    if client_file is not None:
        files = [Path(client_file).absolute()]
    else:
        files = [place.path for place in _places(client, folder)]
    changed = [file for file in files if find_moved(file, state)]
    done = undo_change(changed[0] if changed else files[0], state)
    if as_json:
        data = {"client": client, "file": str(done.file), "restored": list(done.restored), "deleted": done.deleted}
        print_json(data)
    shown = shown_path(done.file)
    if done.was_original:
        notify(f"{shown} is as it was before; the copy was removed", "")
    elif done.deleted:
        notify(f"deleted {shown}, which was not there before", "")
    else:
        notify(f"restored {shown}, with {_listed(done.restored)}", "")


def _project_folder(path: Path | None) -> Path:
    return path.absolute().parent if path is not None else Path.cwd()


def _arguments(subject: Sequence[str], project: Project, catalog: str | None) -> list[str]:
    """What follows `toolbelt serve`; a client starts it in a folder of its own."""
    arguments = [*subject]
    if project.config.path is not None:
        arguments += ["--config", str(project.config.path.absolute())]
    if catalog is not None:
        arguments += ["--catalog", catalog if find_shipped_catalog(catalog) else str(Path(catalog).absolute())]
    return arguments


def _is_shared(file: Path, folder: Path) -> bool:
    """Whether a client's file is the project's, which others have, too."""
    return file.is_relative_to(folder) and folder != Path.home()


def _shared_arguments(subject: Sequence[str], project: Project, catalog: str | None, client: str) -> list[str]:
    """The same for whoever has the project: its files are named from its folder, where Claude Code starts servers."""
    folder, root = _project_folder(project.config.path), "${workspaceFolder}/" if CLIENTS[client].has_folder else ""

    def written(path: Path) -> str:
        return f"{root}{path.relative_to(folder).as_posix()}" if path.is_relative_to(folder) else str(path)

    arguments = [*subject]
    if project.config.path is not None:
        arguments += ["--config", written(project.config.path.absolute())]
    if catalog is not None:
        arguments += ["--catalog", catalog if find_shipped_catalog(catalog) else written(Path(catalog).absolute())]
    return arguments


def _places(client: str, folder: Path) -> list[FoundConfig]:
    places = list_client_places(folder, environment=os.environ)
    return [place for place in places if place.client == CLIENTS[client].label]


def _choose_file(client: str, client_file: str | None, folder: Path, names: Sequence[str]) -> Path:
    """The file that has one of the servers; else the project's, else the user's."""
    if client_file is not None:
        return Path(client_file).absolute()
    places = _places(client, folder)
    for place in places:
        if place.path.is_file():
            client_config = read_client_config(place.path, folder)
            if client_config.gateways or {spec.name for spec in client_config.servers} & set(names):
                return place.path
    first = next((place for place in places if place.is_project or place.path.is_file()), places[0])
    return first.path


def _count_tokens(project: Project, names: Sequence[str]) -> dict[str, int]:
    """Tokens of the tools of servers, by server; those that are not in the catalog are left out."""
    if not names:
        return {}
    tokens = project.tokens()
    tokens_by_server: dict[str, int] = {}
    for plugin in project.catalog.plugins:
        if plugin.server in names:
            ids = [tool.id for tool in plugin.tools]
            tokens_by_server[plugin.server] = tokens_by_server.get(plugin.server, 0) + tokens.of(ids)
    return tokens_by_server


def _warn(project: Project, change: ClientChange, tokens: dict[str, int], file: Path) -> None:
    shown = shown_path(file)
    for name, why in explain_broken_servers(project.config).items():
        notify(f"server {name!r} is not served: {why}", "warning")
    on = [spec for spec in project.servers if not spec.disabled]
    report_switches(spec for spec in project.servers if spec.disabled)
    if not project.servers:
        notify("toolbelt.yaml has no `servers`, so the gateway has nothing to serve; run: toolbelt init", "warning")
    if change.kept:
        count = f"{sum(tokens.values()):,} tokens of definitions" if tokens else "their definitions"
        notify(f"{shown} keeps {_listed(change.kept)}: {count} are shown a second time in each request", "warning")
    if change.differing:
        notify(f"{shown} keeps {_listed(change.differing)}: toolbelt.yaml has another server of that name", "warning")
    if variables := dict.fromkeys(name for spec in on for name in needed_variables(spec)):
        notify(f"the client must have these variables in its environment: {', '.join(variables)}")
    missing = Approvals(state_folder(os.environ)).missing(on, os.environ)
    if missing:
        names = _listed([spec.name for spec in missing])
        notify(f"not approved yet, so the gateway will not start: {names}; run: toolbelt catalog sync", "warning")


def _explain(change: ClientChange, file: Path, client: str, entry: str, backup: Path | None, *, write: bool) -> None:
    shown, label = shown_path(file), CLIENTS[client].label
    if not write:
        removed = f", without {_listed(change.removed)}" if change.removed else ""
        notify(f"this belongs into {shown}{removed}; --write does it, and --undo restores the file")
    elif backup is None:
        notify(f"{shown} has {entry!r} as it should be", "")
    else:
        removed = f"; {plural(len(change.removed), 'entry', 'entries')} moved: {_listed(change.removed)}"
        notify(f"wrote {entry!r} into {shown}{removed if change.removed else ''}", "")
        if change.shared is not None:
            notify(
                f"they are in {shown_path(change.shared)} for whoever has the project; toolbelt must be on their PATH",
                "",
            )
        notify(f"restart {label} to use it; to go back: toolbelt mcp config --client {client} --undo", "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "no entries"
