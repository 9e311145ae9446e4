"""Writing a `toolbelt.yaml` that refers to the servers of clients' files (rule M3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.sources import format_yaml


@dataclass(frozen=True)
class ServerEntry:
    """A server to write.

    Attributes:
        name: As in the client's file.
        from_file: The client's file, relative to `toolbelt.yaml`, or from the user's folder (`~/…`).
        split: How its tools become several plugins; `None` for one plugin.
        overrules: Whether the server is on although the client's file switches it off.
    """

    name: str
    from_file: str
    split: Mapping[str, Any] | None = None
    overrules: bool = False


_COMMENT = """\
# Written by `toolbelt init`, to be edited. `toolbelt catalog sync` asks the servers again and updates the catalog.
# `from` refers to the entry of the same name in a client's file, which keeps its secrets.
"""


def format_project(catalog: str, servers: Iterable[ServerEntry]) -> str:
    """The text of a `toolbelt.yaml`; a short list stands on one line.

    Args:
        catalog: A file relative to it, or a shipped catalog.
        servers: In their order.
    """
    data: dict[str, Any] = {"catalog": catalog}
    if entries := {server.name: _entry_data(server) for server in servers}:
        data["servers"] = entries
    flow = None if entries else False  # a short list of a server stands on one line, what is all there is does not
    return (_COMMENT if entries else "") + format_yaml(data, default_flow_style=flow, width=110)


def _entry_data(server: ServerEntry) -> dict[str, Any]:
    overruled = {"disabled": False} if server.overrules else {}
    return {"from": server.from_file} | overruled | ({} if server.split is None else {"split": thaw(server.split)})
