"""The `servers:` section of `toolbelt.yaml` (rule M3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.frozen import freeze
from toolbelt.servers.entries import PROJECT_KEYS, EntryOrigin, read_entry
from toolbelt.servers.spec import ServerSpec
from toolbelt.servers.splitting import read_split
from toolbelt.servers.switches import Switch
from toolbelt.sources import Document, Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section

SERVER_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "from": KeySpec(
            Kind.TEXT,
            "A client's file, relative to this one, which has the entry of this name: the file keeps its secrets.",
            ("file", "config", "extends"),
        ),
        "command": KeySpec(Kind.TEXT, "The program to start, which speaks MCP on its standard input and output."),
        "args": KeySpec(Kind.ARGUMENTS, "Its arguments.", ("arguments",)),
        "cwd": KeySpec(Kind.TEXT, "The folder in which it runs; by default that of this file.", ("working_directory",)),
        "env": KeySpec(Kind.VALUES, "Variables of its environment; write secrets as ${NAME}.", ("environment",)),
        "env_file": KeySpec(Kind.TEXT, "A file with further variables, a NAME=value a line.", ("envFile", "dotenv")),
        "url": KeySpec(Kind.TEXT, "The address of a server that runs already.", ("serverUrl", "httpUrl", "endpoint")),
        "headers": KeySpec(Kind.VALUES, "HTTP headers to send; write secrets as ${NAME}."),
        "transport": KeySpec(
            Kind.TEXT, "stdio, http (streamable HTTP) or sse; by default what command and url imply.", ("type",)
        ),
        "disabled": KeySpec(
            Kind.SWITCH, "Whether the server is neither asked nor served; false overrules the client's file."
        ),
        "split": KeySpec(Kind.SPLIT, "How the tools of a large server become several plugins."),
    }
)
KEYS_WITH_FROM = ("from", "split", "disabled")
"""The keys of an entry with `from`; the client's file has the others."""


@dataclass(frozen=True)
class WrittenServer:
    """A server of `toolbelt.yaml`, before `from` is followed.

    Attributes:
        name: As it is written.
        from_file: The client's file as it is written; empty where the entry describes the server itself.
        spec: What the entry describes; `None` with `from`.
        disabled: Whether the entry switches the server off; `False` also overrules the client's file, `None` does not.
        split: How its tools become several plugins; `None` for one plugin.
        path: Keys from the top of the document.
    """

    name: str
    from_file: str
    spec: ServerSpec | None
    disabled: bool | None
    split: Mapping[str, Any] | None
    path: tuple[Key, ...]

    def applied_to(self, spec: ServerSpec, source: str) -> ServerSpec:
        """A server with what this entry says of it.

        Args:
            spec: As the entry, or a client's file, describes it.
            source: The `toolbelt.yaml`.
        """
        switches = spec.switches
        if self.disabled is not None:  # which has the last word on the server; its tools are the client's matter
            switches = tuple(switch for switch in switches if not switch.is_whole)
        if self.disabled:
            switches = (Switch("disabled", Path(source).name), *switches)
        return replace(spec, switches=switches, split=self.split)


def read_servers(section: Section, document: Document, file: Path) -> tuple[WrittenServer, ...]:
    """The servers of a mapping from names to entries; mistakes are in the section.

    Args:
        section: The mapping.
        document: The `toolbelt.yaml`.
        file: Its absolute path.
    """
    origin = EntryOrigin(document.source, (str(file),), str(file.parent))
    servers = (_read_server(name, entry, origin) for name, entry in section.read_members("server"))
    return tuple(server for server in servers if server is not None)


def _read_server(name: str, entry: Section, origin: EntryOrigin) -> WrittenServer | None:
    before = len(entry.findings)
    if entry.value is None or entry.read_mapping() is None:
        if entry.value is None:
            entry.add_error("missing-key", f"{entry.label} needs a `from`, a `command` or a `url`.")
        return None
    entry.check_keys(SERVER_KEYS, "server")
    split = read_split(entry.child("split"))
    from_file = entry.read_text("from") or ""
    if "\0" in from_file:
        entry.child("from").add_error("bad-character", f"{entry.child('from').label}: no file has a NUL character.")
    spec = None
    if entry.child("from").value is None:
        spec = read_entry(entry, name, origin, PROJECT_KEYS)
    else:
        for key in (key for key in entry.value if key in SERVER_KEYS and key not in KEYS_WITH_FROM):
            entry.child(key).add_error(
                "contradiction", f"{entry.child(key).label}: with `from`, the client's file has the `{key}`."
            )
    disabled = entry.read_bool("disabled")
    if len(entry.findings) > before:
        return None
    frozen = None if split is None else freeze(split)
    written = WrittenServer(name, from_file, None, disabled, frozen, entry.path)
    return written if spec is None else replace(written, spec=written.applied_to(spec, origin.source))
