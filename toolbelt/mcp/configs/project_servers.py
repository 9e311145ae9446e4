"""The servers of a project: those of `toolbelt.yaml`, with `from` followed into clients' files (rule M3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolbelt.errors import InvalidFileError, ToolbeltError, suggestion
from toolbelt.findings import Finding
from toolbelt.mcp.configs.client_configs import ClientConfig, ClientForm, read_client_config
from toolbelt.mcp.configs.client_editing import find_moved
from toolbelt.mcp.configs.client_switches import find_client_switches
from toolbelt.mcp.configs.shared_servers import SHARED
from toolbelt.servers.reader import WrittenServer
from toolbelt.servers.spec import ServerSpec
from toolbelt.sources import Document
from toolbelt.stores.config import Config
from toolbelt.stores.files import state_folder


def examine_servers(config: Config) -> tuple[tuple[ServerSpec, ...], Mapping[str, Sequence[Finding]]]:
    """The servers of a project, in the order of its `toolbelt.yaml`; and what is wrong with others, by name.

    `from` is followed here, and not when `toolbelt.yaml` is read: a project can be inspected and tested on a machine
    that has none of the clients' files. Of a client's file, only the entries that are named count. What the client
    switches off of one is off here, too, unless `disabled: false` overrules it for the server as a whole (rule V7).
    """
    if config.document is None or config.path is None:
        return (), {}
    document, file = config.document, config.path.absolute()
    files: dict[str, list[ClientConfig | ToolbeltError]] = {}
    followed: list[ServerSpec] = []
    broken: dict[str, Sequence[Finding]] = {}
    for server in config.servers:
        if server.spec is not None:
            followed.append(server.spec)
            continue
        if server.from_file not in files:
            client_file = file.parent / Path(server.from_file).expanduser()
            paths = (client_file, *find_moved(client_file, state_folder(os.environ)), file.parent / SHARED)
            files[server.from_file] = [_read(path, file.parent) for path in paths]
        entry = _find_entry(server, files[server.from_file], document)
        if isinstance(entry, ServerSpec):
            client_file = (file.parent / Path(server.from_file).expanduser()).absolute()
            if str(client_file) not in entry.files:  # moved out of it; what the client says elsewhere still counts
                first = files[server.from_file][0]
                around = first.around if isinstance(first, ClientConfig) else None
                around = around or find_client_switches(client_file, file.parent)
                entry = replace(entry, switches=(*entry.switches, *around.of(entry)))
            entry = replace(entry, files=(str(file), *entry.files))
            followed.append(server.applied_to(entry, str(file)))
        else:
            broken[server.name] = entry
    return tuple(followed), broken


def explain_broken_servers(config: Config) -> Mapping[str, str]:
    """Why servers of a project cannot be read, by name: their entries in clients' files are wrong or missing."""
    return {name: " ".join(map(str, findings)) for name, findings in examine_servers(config)[1].items()}


def find_unlisted(config: Config) -> Mapping[str, tuple[str, ...]]:
    """Servers that clients' files have and `toolbelt.yaml` does not, by the file as `from` writes it.

    Only files that `from` refers to are looked into; what is switched off there is left out.
    """
    if config.path is None:
        return {}
    folder, listed = config.path.absolute().parent, {server.name for server in config.servers}
    unlisted: dict[str, tuple[str, ...]] = {}
    for file in dict.fromkeys(server.from_file for server in config.servers if server.from_file):
        read = _read(folder / Path(file).expanduser(), folder)
        entries = read.servers if isinstance(read, ClientConfig) else ()
        if names := tuple(spec.name for spec in entries if spec.name not in listed and not spec.disabled):
            unlisted[file] = names
    return unlisted


def _read(path: Path, folder: Path) -> ClientConfig | ToolbeltError:
    try:
        return read_client_config(path, folder)
    except ToolbeltError as error:
        return error


def _find_entry(
    server: WrittenServer, configs: Sequence[ClientConfig | ToolbeltError], document: Document
) -> ServerSpec | list[Finding]:
    """The entry in a client's file, or among those that `toolbelt mcp config --write` took out of it."""
    for config in configs:
        entries = config.servers if isinstance(config, ClientConfig) else ()
        if (spec := next((spec for spec in entries if spec.name == server.name), None)) is not None:
            return spec
    return _explain_missing(server, configs[0], document)


def _explain_missing(server: WrittenServer, config: ClientConfig | ToolbeltError, document: Document) -> list[Finding]:
    place = (*server.path, "from")
    if isinstance(config, InvalidFileError):
        return list(config.findings)
    if isinstance(config, ToolbeltError):
        return [document.finding("unknown-file", f"`servers.{server.name}.from`: {config}", *place)]
    if server.name in config.gateways:
        message = f"`servers.{server.name}.from`: this entry starts `toolbelt serve`, which is no server to read."
        return [document.finding("own-gateway", message, *place)]
    if server.name in config.mistakes:
        return list(config.mistakes[server.name])
    if config.form is ClientForm.NONE and config.findings:
        return list(config.findings)
    hint = suggestion(server.name, [spec.name for spec in config.servers])
    message = f"`servers.{server.name}.from`: {server.from_file!r} has no server named {server.name!r}.{hint}"
    return [document.finding("unknown-server", message, *place)]
